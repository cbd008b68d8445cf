"""The weight of difficulty: monotone, bounded, never heavier for a larger group, and who may cause how many diagnostics."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curator.mechanism import accounting
from curator.mechanism.qif import Diagnostic, est_share, falls_with_size, qif, quotient, weight
from curator.mechanism.rho import UNITS_PER_RHO

ONE = Decimal(1)
RHO_EST, _ = accounting.split(UNITS_PER_RHO, Decimal("0.05"))
RHO_D = RHO_EST // 100  # default: sigma_d = 31.6 people at rho_total = 1

signals = st.floats(0, 1e9)
more = st.floats(0, 1e6)
alphas = st.decimals("0.0001", 4, places=4)


def test_a_diagnostic_and_its_lower_bound() -> None:
    diagnostic = Diagnostic(100, RHO_D)
    assert diagnostic.sigma == pytest.approx(31.6227766)
    assert diagnostic.lower_bound() == pytest.approx(100 - 1.6448536 * 31.6227766)
    assert diagnostic.lower_bound(1.96) == pytest.approx(100 - 1.96 * 31.6227766)
    assert Diagnostic(-40, RHO_D).lower_bound() == 0


def test_the_factor_by_hand() -> None:
    group, everybody = Diagnostic(1000, RHO_D), Diagnostic(4000, RHO_D)
    lower = 1000 - 1.6448536269514722 * 31.622776601683793
    expected = (lower * 0.75 + 2 * 31.622776601683793) / (1 + lower)
    assert qif(group, everybody, beta=Decimal(2)) == pytest.approx(expected)


def test_a_group_that_seems_larger_than_everybody_or_negative_is_no_error() -> None:
    assert qif(Diagnostic(500, RHO_D), Diagnostic(-20, RHO_D), beta=ONE) == pytest.approx(
        31.6227766 / (1 + 500 - 52.0148), rel=1e-4
    )
    assert qif(Diagnostic(-500, RHO_D), Diagnostic(0, RHO_D), beta=ONE) == pytest.approx(31.6227766)


@given(signals, signals, signals, st.decimals(0, 100, places=2), more)
def test_promise_6_qif_rises_with_variability_and_instability_and_falls_with_the_lower_bound(
    v: float, b: float, lower: float, beta: Decimal, step: float
) -> None:
    here = quotient(v, b, lower, beta=beta)
    assert quotient(v + step, b, lower, beta=beta) >= here
    assert quotient(v, b + step, lower, beta=beta) >= here
    assert quotient(v, b, lower + step, beta=beta) <= here


@given(st.floats(0, 1e12), st.floats(0, 1e12), alphas)
def test_promise_6_the_weight_rises_with_qif_and_keeps_its_bounds(one: float, other: float, alpha: Decimal) -> None:
    low, high = sorted([one, other])
    assert Decimal("0.001") <= weight(low, alpha) <= weight(high, alpha) <= 1000


@given(st.integers(-500, 10**7), st.integers(0, 10**7), st.integers(-100, 10**7), st.integers(1, 10**13), st.data())
def test_promise_6_a_larger_group_never_weighs_more(m: int, step: int, n: int, rho_d: int, data: st.DataObject) -> None:
    beta, alpha = data.draw(st.decimals("0.01", 100, places=2)), data.draw(alphas)
    assume(falls_with_size(rho_d=rho_d, beta=beta))
    everybody = Diagnostic(n, rho_d)
    smaller = weight(qif(Diagnostic(m, rho_d), everybody, beta=beta), alpha)
    larger = weight(qif(Diagnostic(m + step, rho_d), everybody, beta=beta), alpha)
    assert larger <= smaller


def test_past_its_condition_the_weight_rises_with_the_size_of_tiny_groups() -> None:
    dear = 2 * UNITS_PER_RHO  # sigma_d = 1/2 < 1
    assert not falls_with_size(rho_d=dear, beta=ONE)
    everybody = Diagnostic(1000, dear)
    assert qif(Diagnostic(3, dear), everybody, beta=ONE) > qif(Diagnostic(0, dear), everybody, beta=ONE)


def test_default_settings_keep_the_condition_up_to_a_thousand_rho() -> None:
    assert falls_with_size(rho_d=1000 * RHO_D, beta=ONE)
    assert not falls_with_size(rho_d=1000 * RHO_D + 1, beta=ONE)
    assert not falls_with_size(rho_d=RHO_D, beta=Decimal(0))


@pytest.mark.parametrize(
    ("factor", "alpha", "expected"),
    [
        (2.5, "1", "2.500000"),
        (2.0, "2", "4.000000"),
        (4.0, "0.5", "2.000000"),
        (1 / 3, "1", "0.333333"),
        (7.0, "0", "1.000000"),
        (0.0, "0", "1.000000"),
        (0.0, "1", "0.001000"),
        (1e-9, "1", "0.001000"),
        (1e300, "100", "1000.000000"),
        (1e-300, "100", "0.001000"),
        (1000.0, "1", "1000.000000"),
    ],
)
def test_a_weight_is_a_fixed_decimal_within_bounds(factor: float, alpha: str, expected: str) -> None:
    assert str(weight(factor, Decimal(alpha))) == expected


def exceeded(rare: int, common: int, *, people: int = 10_000, runs: int = 1000) -> int:
    """In how many seeded simulations the rare group's QIF exceeds the common one's, at default settings and rho_total = 1."""
    generator = np.random.default_rng(20261129)  # a simulation of diagnostics; released noise is never seeded
    noise = np.rint(generator.normal(0, Diagnostic(0, RHO_D).sigma, (runs, 3))).astype(int)
    wins = 0
    for of_rare, of_common, of_all in noise:
        everybody = Diagnostic(people + int(of_all), RHO_D)
        factors = [qif(Diagnostic(size, RHO_D), everybody, beta=ONE) for size in (rare + int(of_rare), common + int(of_common))]
        wins += factors[0] > factors[1]
    return wins


@pytest.mark.parametrize(("rare", "common"), [(0, 140), (20, 150), (50, 170), (100, 220), (500, 620), (1000, 5000), (8000, 9000)])
def test_promise_6_a_rare_group_weighs_more_than_a_common_one_in_99_of_100_simulations(rare: int, common: int) -> None:
    assert exceeded(rare, common) >= 990


@pytest.mark.parametrize(("rare", "common"), [(0, 110), (20, 110), (50, 130), (450, 520), (4930, 5000)])
def test_groups_too_small_or_too_alike_for_the_diagnostic_are_not_told_apart(rare: int, common: int) -> None:
    """With sigma_d = 31.6 the common group must have 133 people (4.2 sigma_d), and 105 to 128 (3.3 to 4) more than the rare one.

    Below 52 people (1.645 sigma_d) the lower bound of both is mostly 0 and the two weigh the same.
    """
    assert exceeded(rare, common) < 990


@given(
    st.dictionaries(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 10**12)), min_size=1), st.integers(0, 10**12)
)
def test_shares_of_the_diagnostic_account_never_add_up_to_more_than_it(allotments: dict[str, int | None], rho_est: int) -> None:
    shares = {analyst: est_share(rho_est, allotments, analyst) for analyst in allotments}
    assert sum(shares.values()) <= rho_est
    assert all(shares[analyst] == 0 for analyst, allotment in allotments.items() if allotment == 0)


def test_shares_are_in_proportion_to_allotments_and_equal_without() -> None:
    assert est_share(1000, {"alice": 300, "bob": 100}, "alice") == 750
    assert est_share(1000, {"alice": None, "bob": None, "eve": None}, "bob") == 333
    assert est_share(1000, {"alice": 300, "bob": None}, "alice") == 500  # no proportion to an unlimited one
    assert est_share(1000, {"alice": 300, "bob": None, "eve": 0}, "bob") == 500
    assert est_share(1000, {"alice": 300, "bob": None, "eve": 0}, "eve") == 0
    assert est_share(1000, {"alice": 0}, "alice") == 0
    assert est_share(1000, {"alice": 300}, "mallory") == 0


def test_the_condition_is_decided_exactly() -> None:
    """beta * sigma_d = 1 at rho_d = 1/2 and beta = 1; one unit of rho more breaks it."""
    assert falls_with_size(rho_d=UNITS_PER_RHO // 2, beta=ONE)
    assert not falls_with_size(rho_d=UNITS_PER_RHO // 2 + 1, beta=ONE)
    assert Fraction(1, 2) * UNITS_PER_RHO == UNITS_PER_RHO // 2
