"""Sharing what is left: the closed form, the shares of bins, and the free lift where only the dearest bin is charged."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.scarcity import allocate, optimum, shares

ONE = Decimal(1)


def test_a_share_counts_the_bins_that_are_charged() -> None:
    assert shares([100, 100, 100], [50, 60, 70], k=1) == (100, 100, 100)
    assert shares([100, 100, 100], [50, 60, 70], k=2) == (50, 50, 50)
    assert shares([100, 100, 100], [50, 60, 70], k=9) == (33, 33, 33)
    assert shares([100, 100, 100], [50, 0, 0], k=9) == (100, 100, 100)  # two bins miss nothing
    assert shares([100, 40], [90, 90], k=2) == (50, 20)  # each bin reads its own limit


@pytest.mark.parametrize(
    ("residual", "share", "weight", "mu", "expected"),
    [
        (100, 80, "1", 0, 80),  # no price: all there is
        (100, 80, "1", 60, 70),  # interior: 100 - 60 / 2
        (100, 80, "2", 60, 80),  # a heavier weight: 100 - 15, but only 80 are there
        (100, 80, "0.5", 60, 40),
        (100, 80, "0.001", 60, 0),  # the price is more than it is worth
        (100, 80, "1", 200, 0),
        (100, 0, "1", 0, 0),
    ],
)
def test_the_closed_form(residual: int, share: int, weight: str, mu: int, expected: int) -> None:
    assert optimum(residual, share, weight=Decimal(weight), mu=Fraction(mu)) == expected


def test_an_amount_between_two_units_is_rounded_down() -> None:
    assert optimum(100, 80, weight=Decimal(3), mu=Fraction(200)) == 66  # 100 - 33.33


def test_a_bin_that_fits_its_share_gets_all_of_it_whatever_the_price() -> None:
    amounts = allocate([90, 10], [40, 40], weights=[ONE, ONE], k=2, mu=Fraction(10**9))
    assert amounts == (0, 10)


def test_with_one_record_per_person_every_bin_is_lifted_to_the_dearest() -> None:
    weights = [Decimal(4), ONE, ONE]
    amounts = allocate([100, 100, 30], [80, 80, 80], weights=weights, k=1, mu=Fraction(200))
    assert amounts == (75, 75, 30)  # 100 - 25; 100 - 100 = 0, lifted; 30 in full


def test_with_more_records_per_person_nothing_is_free() -> None:
    weights = [Decimal(4), ONE, ONE]
    amounts = allocate([100, 100, 30], [80, 80, 80], weights=weights, k=2, mu=Fraction(200))
    assert amounts == (40, 0, 30)


def test_a_lift_keeps_within_the_limit_of_its_own_bin() -> None:
    assert allocate([100, 100], [80, 30], weights=[ONE, ONE], k=1, mu=Fraction(0)) == (80, 30)


cases = st.integers(1, 8).flatmap(
    lambda bins: st.tuples(
        st.lists(st.integers(0, 10**12), min_size=bins, max_size=bins),
        st.lists(st.decimals("0.001", 1000, places=6), min_size=bins, max_size=bins),
    )
)


@given(cases, st.integers(0, 10**12), st.integers(1, 8), st.fractions(0, 10**12, max_denominator=10**6))
def test_amounts_never_exceed_residuals_and_their_cost_never_the_limit(
    case: tuple[list[int], list[Decimal]], limit: int, k: int, mu: Fraction
) -> None:
    residuals, weights = case
    amounts = allocate(residuals, [limit] * len(residuals), weights=weights, k=k, mu=mu)
    assert all(0 <= amount <= residual for amount, residual in zip(amounts, residuals, strict=True))
    assert sum(sorted(amounts)[-k:]) <= limit


@given(cases, st.integers(0, 10**12), st.integers(1, 8), st.fractions(0, 10**12, max_denominator=10**6), st.data())
def test_a_heavier_bin_never_gets_less(
    case: tuple[list[int], list[Decimal]], limit: int, k: int, mu: Fraction, data: st.DataObject
) -> None:
    residuals, weights = case
    place = data.draw(st.integers(0, len(residuals) - 1))
    heavier = [weight + 1 if other == place else weight for other, weight in enumerate(weights)]
    before = allocate(residuals, [limit] * len(residuals), weights=weights, k=k, mu=mu)
    after = allocate(residuals, [limit] * len(residuals), weights=heavier, k=k, mu=mu)
    assert after[place] >= before[place]
