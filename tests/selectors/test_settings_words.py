"""Carol reads what her settings mean before she opens a contract: figures that follow from the mechanism."""

from dataclasses import replace
from decimal import Decimal

from curator.mechanism import qif
from curator.selectors.settings_words import Weighing, meaning

USUAL = Weighing(114 * 10**9, 6 * 10**9, 60 * 10**6, Decimal("0.05"), Decimal(1), Decimal(1))


def test_the_figures_are_those_of_the_mechanism() -> None:
    diagnostics, price, weights = meaning(USUAL)
    assert "100 diagnostics" in diagnostics and "±179 people" in diagnostics  # 1.96 / sqrt(2 * 0.00006) = 178.9
    assert "0.00285\N{NO-BREAK SPACE}ρ" in price  # 0.05 * 0.114 / 2
    assert "weighs 10 times" in weights


def test_nothing_for_diagnostics_no_price_no_weights_are_said_so() -> None:
    assert "relative targets are refused" in meaning(replace(USUAL, rho_est=0))[0]
    assert "whoever comes first" in meaning(replace(USUAL, kappa=Decimal(0)))[1]
    assert meaning(replace(USUAL, alpha=Decimal(0)))[2:] == ("All questions weigh the same; no diagnostic is taken for weights.",)


def test_weights_that_would_rise_with_size_are_warned_of() -> None:
    risky = replace(USUAL, beta=Decimal("0.001"))
    assert not qif.falls_with_size(rho_d=risky.rho_d, beta=risky.beta)
    assert "Careful" in meaning(risky)[-1]
    assert "Careful" not in meaning(USUAL)[-1]
