"""Amounts: exact, rounded in favour of privacy, and strict about what counts as a number."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism import rho
from curator.mechanism.errors import BadInput

amounts = st.integers(0, rho.MAX_UNITS)
fractions = st.fractions(0, 1000, max_denominator=10**18)


@given(fractions)
def test_a_charge_covers_its_amount_and_exceeds_it_by_less_than_a_unit(amount: Fraction) -> None:
    charged = Fraction(rho.charge_units(amount), rho.UNITS_PER_RHO)
    assert charged >= amount
    assert charged - amount < Fraction(1, rho.UNITS_PER_RHO) or charged == Fraction(1, rho.UNITS_PER_RHO)


@given(fractions)
def test_an_allowance_never_exceeds_its_amount(amount: Fraction) -> None:
    allowed = Fraction(rho.allowance_units(amount), rho.UNITS_PER_RHO)
    assert 0 <= amount - allowed < Fraction(1, rho.UNITS_PER_RHO)


def test_dust_is_never_free() -> None:
    assert rho.charge_units(Fraction(1, 10**30)) == 1
    assert rho.charge_units(Fraction(0)) == 1
    assert rho.allowance_units(Fraction(1, 10**30)) == 0
    assert rho.allowance_units(Fraction(-1)) == 0


@given(amounts)
def test_what_is_written_reads_back_exactly(units: int) -> None:
    assert rho.parse(rho.text(units), field="rho") == units


@given(amounts)
def test_alice_can_spend_the_figure_she_is_shown_and_pays_no_more_than_the_price_shown(units: int) -> None:
    assert rho.parse(rho.short(units), field="rho") <= units
    assert Fraction(rho.short_up(units)) * rho.UNITS_PER_RHO >= units


@given(st.integers(1000, rho.MAX_UNITS))
def test_three_digits_are_within_one_percent(units: int) -> None:
    down, up = Fraction(rho.short(units)), Fraction(rho.short_up(units))
    assert 0 <= up - down <= Fraction(units, 100 * rho.UNITS_PER_RHO)


@pytest.mark.parametrize(
    ("units", "exact", "down", "up"),
    [
        (0, "0", "0", "0"),
        (1, "0.000000000001", "0.000000000001", "0.000000000001"),
        (300_000_000_000, "0.3", "0.300", "0.300"),
        (4_801_823_526, "0.004801823526", "0.00480", "0.00481"),
        (999_900_000_000, "0.9999", "0.999", "1.00"),
        (10**12, "1", "1.00", "1.00"),
        (12_345 * 10**12, "12345", "12300", "12400"),
        (-300_000_000_000, "-0.3", None, None),
    ],
)
def test_amounts_as_text(units: int, exact: str, down: str | None, up: str | None) -> None:
    assert rho.text(units) == exact
    if down is not None:
        assert (rho.short(units), rho.short_up(units)) == (down, up)


@pytest.mark.parametrize(
    ("written", "units"),
    [
        ("0.7", 700_000_000_000),
        (Decimal("0.7"), 700_000_000_000),
        (1, 10**12),
        ("1e-3", 10**9),
        (".5", 5 * 10**11),
        ("0", 0),
        ("0.0000000000019", 1),
        ("0.0000000000009", 0),
        (0.1, 10**11),
    ],
)
def test_numbers_as_people_write_them(written: str, units: int) -> None:
    assert rho.parse(written, field="rho") == units


BAD = [
    "-5", "-0", "-0.0", "NaN", "nan", "sNaN", "Infinity", "-inf", "1e309", "1e400", "1e99999999999", "1e-99999", "abc", "", " 1",
    "1_000", "0x10", "1,5", "１", "9" * 70, True, False, None, [], {}, -1, 10**5000, float("nan"), float("inf"), b"1", 1j,
    "9223373", Decimal("NaN"), Decimal("Infinity"), Decimal("1e400"), Decimal("1e999999"),
]  # fmt: skip


@pytest.mark.parametrize("written", BAD, ids=lambda value: type(value).__name__)
def test_what_is_no_amount_is_refused_with_its_field(written: object) -> None:
    with pytest.raises(BadInput) as refusal:
        rho.parse(written, field="rho_total")  # type: ignore[arg-type]  # the point of the test
    assert (refusal.value.code, refusal.value.field) == ("bad_number", "rho_total")
