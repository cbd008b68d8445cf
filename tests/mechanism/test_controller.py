"""Decisions on the cast's questions: history first, exactly the residual where it fits, otherwise the analyst's choice."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism import rho
from curator.mechanism.accuracy import Within, rho_min
from curator.mechanism.controller import (
    Decline,
    Limit,
    Measure,
    Need,
    Partial,
    Reuse,
    Terms,
    UnderScarcity,
    available,
    cost,
    decide,
    unweighed,
)

ALONE = Terms(1, Fraction(0), UnderScarcity.PARTIAL)
ALL_OR_NOTHING = Terms(1, Fraction(0), UnderScarcity.ALL_OR_NOTHING)
P95 = Decimal("0.95")
U = rho.UNITS_PER_RHO


def contract(units: int, bins: int = 1) -> tuple[Limit, ...]:
    return (Limit(units, "contract"),) * bins


def missing(*residuals: int) -> list[Need]:
    return [Need(f"bin {place}", residual, 0) for place, residual in enumerate(residuals)]


def test_alice_asks_at_0_7_and_bob_then_pays_0_3_for_1_0() -> None:
    first = decide([Need("q", 7 * U // 10, 0)], contract(U), ALONE)
    assert isinstance(first, Measure) and first.charge == 7 * U // 10
    second = decide([Need("q", U, first.amounts[0])], contract(U - first.charge), ALONE)
    assert isinstance(second, Measure) and second.charge == 3 * U // 10


@pytest.mark.parametrize("order", list(permutations([20, 10, 15, 5])))
def test_thresholds_in_any_order_cost_what_the_tightest_costs(order: tuple[int, ...]) -> None:
    held = 0
    for bound in order:
        held += decide([Need("q", rho_min(Within(bound, P95)), held)], contract(U), ALONE).charge
    assert held == rho_min(Within(5, P95))
    assert f"{Decimal(rho.text(held)):.8f}" == "0.07682918"


def test_history_answers_free_even_when_the_pool_is_empty() -> None:
    decision = decide([Need("q", 5, 5), Need("r", 3, 9)], contract(0, 2), ALL_OR_NOTHING)
    assert isinstance(decision, Reuse)
    assert (decision.amounts, decision.charge, decision.regime, decision.all_met) == ((0, 0), 0, "history", True)


def test_what_fits_exactly_is_measured() -> None:
    decision = decide(missing(100), contract(100), ALL_OR_NOTHING)
    assert isinstance(decision, Measure)
    assert (decision.amounts, decision.charge, decision.regime, decision.reason) == ((100,), 100, "feasible", "")


def test_one_unit_short_is_partial_or_nothing_as_alice_chose() -> None:
    partial = decide(missing(100), contract(99), ALONE)
    assert isinstance(partial, Partial)
    assert (partial.amounts, partial.charge, partial.met) == ((99,), 99, (False,))
    assert partial.reason == "contract_exceeded"
    nothing = decide(missing(100), contract(99), ALL_OR_NOTHING)
    assert isinstance(nothing, Decline)
    assert (nothing.amounts, nothing.charge, nothing.reason, nothing.regime) == ((0,), 0, "contract_exceeded", "scarce")


def test_a_price_that_is_too_high_declines_and_says_so() -> None:
    decision = decide(missing(100), contract(99), Terms(1, Fraction(200), UnderScarcity.PARTIAL))
    assert isinstance(decision, Decline) and decision.reason == "price_too_high"


def test_an_empty_pool_is_blamed_on_the_pool_not_on_the_price() -> None:
    dear = Terms(1, Fraction(10**9), UnderScarcity.PARTIAL)
    for limit in (0, 2):  # 2 units for 3 bins of one unit's share each: nothing can be given either
        decision = decide(missing(100, 100, 100), contract(limit, 3), Terms(3, dear.mu, dear.under_scarcity))
        assert isinstance(decision, Decline) and decision.reason == "contract_exceeded"


def test_a_histogram_of_people_with_one_record_costs_its_dearest_bin() -> None:
    decision = decide(missing(30, 50, 20), contract(50, 3), ALONE)
    assert isinstance(decision, Measure) and decision.charge == 50


def test_a_histogram_of_people_with_two_records_costs_its_two_dearest_bins() -> None:
    two = Terms(2, Fraction(0), UnderScarcity.PARTIAL)
    assert decide(missing(30, 50, 20), contract(80, 3), two).charge == 80
    scarce = decide(missing(30, 50, 20), contract(79, 3), two)
    assert isinstance(scarce, Partial)
    assert (scarce.amounts, scarce.met) == ((30, 39, 20), (True, False, True))
    assert not scarce.all_met


def test_a_question_is_met_only_if_every_bin_is() -> None:
    decision = decide([Need("a", 10, 10), Need("b", 100, 0)], contract(60, 2), ALONE)
    assert decision.met == (True, False) and not decision.all_met


def test_a_declined_histogram_still_meets_the_bins_that_history_meets() -> None:
    decision = decide([Need("a", 10, 10), Need("b", 100, 0)], contract(60, 2), ALL_OR_NOTHING)
    assert isinstance(decision, Decline) and decision.met == (True, False)


def test_a_heavier_bin_falls_less_short() -> None:
    needs = [Need("rare", 1000, 0, Decimal(4)), Need("common", 1000, 0, Decimal(1))]
    decision = decide(needs, contract(1800, 2), Terms(2, Fraction(400), UnderScarcity.PARTIAL))
    assert decision.amounts == (900, 800)
    assert decision.charge == 1700


def test_a_bin_that_misses_nothing_sets_no_limit() -> None:
    limits = (Limit(0, "allotment"), Limit(100, "contract"))
    decision = decide([Need("a", 5, 5), Need("b", 100, 0)], limits, ALONE)
    assert isinstance(decision, Measure) and decision.limit.reason == "contract"


def test_each_bin_keeps_within_its_own_limit() -> None:
    limits = (Limit(10, "contract"), Limit(100, "contract"))
    assert decide(missing(50, 50), limits, ALONE).amounts == (10, 50)


def test_a_decision_needs_a_bin() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        decide([], [], ALONE)


def test_load_and_quota_are_the_charge_today() -> None:
    decision = decide(missing(5), contract(9), ALONE)
    assert decision.load == decision.quota == decision.charge == 5


@pytest.mark.parametrize(
    ("pool", "allotment", "spent", "cap", "units", "reason"),
    [
        (100, None, 0, None, 100, "contract"),
        (100, 50, 20, None, 30, "allotment"),
        (100, 50, 20, 10, 10, "cap"),
        (5, 50, 20, 10, 5, "contract"),
        (100, 0, 0, None, 0, "allotment"),  # 0 is a number: nothing may be spent
        (100, 10, 20, None, 0, "allotment"),  # an allotment set below what was spent
        (-3, None, 0, None, 0, "contract"),
        (100, None, 90, 0, 0, "cap"),
        (30, 50, 20, 30, 30, "contract"),  # equal: the contract's is named
    ],
)
def test_the_tightest_limit_counts_and_is_named(
    pool: int, allotment: int | None, spent: int, cap: int | None, units: int, reason: str
) -> None:
    assert available(pool=pool, allotment=allotment, spent=spent, cap=cap, bins=2) == (Limit(units, reason),) * 2


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6), st.integers(1, 8), st.data())
def test_cost_covers_whoever_has_k_records_in_the_worst_bins(amounts: list[int], k: int, data: st.DataObject) -> None:
    touched = data.draw(st.sets(st.integers(0, len(amounts) - 1), max_size=k))
    assert sum(amounts[place] for place in touched) <= cost(amounts, k)
    assert cost(amounts, 1) == max(amounts)
    assert cost(amounts, len(amounts)) == sum(amounts)


PRICED = Terms(1, Fraction(50), UnderScarcity.PARTIAL)


def test_a_weight_is_wanted_only_where_the_decision_hangs_on_it() -> None:
    needs, limits = missing(100, 20, 0, 70), contract(60, 4)
    assert unweighed(needs, limits, PRICED, alpha=Decimal(1)) == (0, 3)
    assert unweighed(needs, limits, PRICED, alpha=Decimal(0)) == ()
    assert unweighed(needs, limits, Terms(1, Fraction(0), UnderScarcity.PARTIAL), alpha=Decimal(1)) == ()
    assert unweighed(needs, limits, Terms(1, Fraction(50), UnderScarcity.ALL_OR_NOTHING), alpha=Decimal(1)) == ()
    assert unweighed(needs, contract(0, 4), PRICED, alpha=Decimal(1)) == ()
    assert unweighed(needs, contract(100, 4), PRICED, alpha=Decimal(1)) == ()
    assert unweighed([Need("a", 5, 5)], contract(0), PRICED, alpha=Decimal(1)) == ()


sizes = st.integers(0, 200)


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=5), sizes, st.integers(1, 6), st.integers(0, 400), st.data())
def test_a_weight_that_is_not_wanted_changes_no_decision(
    bins: list[tuple[int, int]], limit: int, k: int, mu: int, data: st.DataObject
) -> None:
    terms = Terms(k, Fraction(mu), UnderScarcity.PARTIAL)
    needs = [Need(str(place), want, have) for place, (want, have) in enumerate(bins)]
    limits = contract(limit, len(needs))
    wanted = unweighed(needs, limits, terms, alpha=Decimal(1))
    weights = st.decimals("0.001", 1000, places=3)
    other = [
        need if place in wanted else Need(need.descriptor, need.rho_min, need.rho_hist, data.draw(weights))
        for place, need in enumerate(needs)
    ]
    assert decide(other, limits, terms) == decide(needs, limits, terms)
