"""Accounts and epsilon: parts that add up, and a conversion that never understates."""

from decimal import Decimal
from itertools import pairwise
from math import inf, log, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.mechanism.accounting import TIGHT_UP_TO, epsilon, rho_for, short, split
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import MAX_UNITS, UNITS_PER_RHO

D6 = Decimal("0.000001")
deltas = st.sampled_from([Decimal("1e-3"), D6, Decimal("1e-9"), Decimal("1e-12"), Decimal("1e-19")])


@given(st.integers(0, MAX_UNITS), st.decimals(0, "0.999999", places=6))
def test_the_two_accounts_add_up_and_the_diagnostic_one_is_rounded_down(rho_total: int, xi: Decimal) -> None:
    rho_est, rho_ans = split(rho_total, xi)
    assert rho_est + rho_ans == rho_total
    assert rho_est >= 0 and rho_est * 10**6 <= int(xi * 10**6) * rho_total < (rho_est + 1) * 10**6


def test_the_default_split() -> None:
    assert split(UNITS_PER_RHO, Decimal("0.05")) == (5 * 10**10, 95 * 10**10)
    assert split(UNITS_PER_RHO, Decimal(0)) == (0, UNITS_PER_RHO)
    assert split(19, Decimal("0.05")) == (0, 19)


def by_search(rho: float, delta: float) -> float:
    """The tight conversion (Canonne, Kamath, Steinke 2020, corollary 13), minimised here over a fine grid of orders alpha."""
    best = inf
    for step in range(-6000, 9000):
        order = 10 ** (step / 1000)  # alpha - 1
        best = min(best, (1 + order) * rho + (-log(delta) - log1p(order)) / order + log(order / (1 + order)))
    return max(0.0, best)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
@pytest.mark.parametrize("rho", ["0.0001", "0.01", "1", "10", "300"])
def test_epsilon_is_the_tight_one_and_never_less(rho: str, delta: str) -> None:
    units = int(Decimal(rho) * UNITS_PER_RHO)
    expected = by_search(float(rho), float(delta))
    found = float(epsilon(units, Decimal(delta)))
    assert expected * (1 - 1e-6) <= found <= expected * (1 + 3e-5)


def test_known_figures() -> None:
    assert epsilon(UNITS_PER_RHO, D6) == Decimal("7.76622")
    assert epsilon(0, D6) == 0
    assert epsilon(1, D6) == 0  # 1e-12 rho changes no probability by more than 7.1e-7 < delta


@given(st.lists(st.integers(0, MAX_UNITS) | st.integers(0, 10**13), min_size=2, max_size=2, unique=True).map(sorted), deltas)
@settings(max_examples=60, deadline=None)
def test_more_rho_never_has_a_smaller_epsilon(amounts: list[int], delta: Decimal) -> None:
    assert epsilon(amounts[0], delta) <= epsilon(amounts[1], delta)


def test_epsilon_rises_across_the_end_of_the_tight_conversion() -> None:
    around = [epsilon(TIGHT_UP_TO + step * UNITS_PER_RHO, D6) for step in (-1, 0, 1)]
    assert all(less < more for less, more in pairwise(around))
    assert around[-1] < around[0] * Decimal("1.01")


def test_a_smaller_delta_has_a_larger_epsilon() -> None:
    found = [epsilon(UNITS_PER_RHO, delta) for delta in (Decimal("1e-3"), D6, Decimal("1e-9"), Decimal("1e-19"))]
    assert all(less < more for less, more in pairwise(found))


@pytest.mark.parametrize("asked", ["0.01", "0.1", "1", "3", "10", "250", "2500"])
def test_carol_gets_the_largest_rho_that_keeps_her_epsilon(asked: str) -> None:
    rho = rho_for(Decimal(asked), D6)
    assert epsilon(rho, D6) <= Decimal(asked) < epsilon(rho + rho // 10**4 + 1, D6)


def test_rho_of_no_epsilon_and_of_any_epsilon() -> None:
    assert rho_for(Decimal(0), Decimal("1e-12")) == 0
    assert rho_for(Decimal(10**9), D6) == MAX_UNITS


@pytest.mark.parametrize("delta", [Decimal(0), Decimal(1), Decimal("-1e-6"), Decimal("NaN"), Decimal("Infinity")])
def test_a_delta_lies_between_0_and_1(delta: Decimal) -> None:
    with pytest.raises(BadInput) as refusal:
        epsilon(UNITS_PER_RHO, delta)
    assert (refusal.value.code, refusal.value.field) == ("bad_number", "delta")


@pytest.mark.parametrize("asked", [Decimal(-1), Decimal("NaN"), Decimal("Infinity")])
def test_an_epsilon_is_a_finite_number_of_0_or_more(asked: Decimal) -> None:
    with pytest.raises(BadInput) as refusal:
        rho_for(asked, D6)
    assert (refusal.value.code, refusal.value.field) == ("bad_number", "epsilon")


@pytest.mark.parametrize(
    ("exact", "shown"), [("7.76622", "7.77"), ("1.00000", "1.00"), ("0.0123401", "0.0124"), ("9224.01", "9230"), ("0", "0")]
)
def test_an_epsilon_is_shown_rounded_up(exact: str, shown: str) -> None:
    assert short(Decimal(exact)) == shown
