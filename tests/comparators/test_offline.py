"""The offline optimum against brute force: every subset of thresholds on small streams."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from curator.mechanism import rho
from curator.mechanism.comparators.events import Asked, Event
from curator.mechanism.comparators.offline import MAX_REPEATED, NOT_SCALAR, TOO_LARGE, Thresholds, most_met
from curator.mechanism.comparators.replay import replay
from curator.mechanism.comparators.table import ALLOCATORS
from tests.comparators import streams
from tests.comparators.streams import asks


def brute_force(groups: list[list[int]], pool: int) -> tuple[int, int]:
    """(most met, least spend) over all subsets: a subset costs, per descriptor, the largest threshold it contains."""
    thresholds = [(key, need) for key, group in enumerate(groups) for need in group]
    for size in range(len(thresholds), -1, -1):
        affordable = [price for subset in combinations(thresholds, size) if (price := cost(subset)) <= pool]
        if affordable:
            return size, min(affordable)
    raise AssertionError("the empty subset costs nothing")


def cost(subset: tuple[tuple[int, int], ...]) -> int:
    highest: dict[int, int] = {}
    for key, need in subset:
        highest[key] = max(highest.get(key, 0), need)
    return sum(highest.values())


small = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3), max_size=4)
far_apart = st.lists(st.lists(st.integers(0, rho.MAX_UNITS), min_size=1, max_size=3), max_size=3)


@settings(max_examples=500)
@given(small, st.integers(0, 40))
def test_the_knapsack_optimum_equals_brute_force_on_small_streams(groups: list[list[int]], pool: int) -> None:
    assert most_met(groups, pool) == brute_force(groups, pool)


@given(far_apart, st.one_of(st.integers(0, rho.MAX_UNITS), st.just(rho.MAX_UNITS)))
def test_no_amount_is_too_large_for_it(groups: list[list[int]], pool: int) -> None:
    assert most_met(groups, pool) == brute_force(groups, pool)


@given(streams.scalar_questions(), st.integers(0, 10**13))
def test_a_stream_s_optimum_is_the_knapsack_s_and_all_of_it_where_the_pool_suffices(asked: list[Asked], pool: int) -> None:
    groups: dict[str, list[int]] = {}
    thresholds = Thresholds()
    for question in asked:
        thresholds.add(question)
        groups.setdefault(question.bins[0].key, []).append(question.bins[0].rho_min)
    found = thresholds.optimum(pool)
    assert found.least_spend == sum(max(group) for group in groups.values())
    assert (found.met, found.spent) == most_met(groups.values(), pool)


@given(streams.streams(bins=1), st.sampled_from(sorted(ALLOCATORS)))
def test_nobody_meets_more_than_the_optimum(stream: list[Event], name: str) -> None:
    report = replay(stream)
    assert report.optimum.met is not None
    assert report.accounts[name].total.met <= report.optimum.met


def test_histograms_have_no_optimum_and_the_reason_is_given() -> None:
    thresholds = Thresholds()
    thresholds.add(asks("alice", {"women": 1}))
    assert thresholds.optimum(5).reason is None
    thresholds.add(asks("alice", {"women": 1, "rich": 2}))
    found = thresholds.optimum(5)
    assert (found.met, found.spent, found.least_spend, found.reason) == (None, None, None, NOT_SCALAR)


def test_past_its_stated_size_the_optimum_is_none_but_a_feasible_stream_of_any_size_is_solved() -> None:
    thresholds = Thresholds()
    for i in range(MAX_REPEATED // 2 + 1):
        thresholds.add(asks("alice", {f"q{i}": 2}))
        thresholds.add(asks("bob", {f"q{i}": 2}))
    least = thresholds.least_spend
    assert least is not None
    assert thresholds.optimum(least - 1).reason == TOO_LARGE
    assert thresholds.optimum(least).met == thresholds.asked


def test_single_thresholds_do_not_count_towards_the_size() -> None:
    singles = [[i] for i in range(1, 3 * MAX_REPEATED)]
    assert most_met(singles, 10) == (4, 10)  # 1 + 2 + 3 + 4


def test_thresholds_that_the_pool_cannot_pay_do_not_count_towards_the_size() -> None:
    groups = [[2, 1000]] * (MAX_REPEATED - 1)
    assert most_met(groups, 10) == (5, 10)


def test_it_prefers_two_cheap_thresholds_to_one_dear_one_and_then_the_lesser_spend() -> None:
    assert most_met([[10], [4, 5], [6]], pool=10) == (2, 5)
    assert most_met([], pool=3) == (0, 0)
