"""Whose history counts and who may spend what: the credit and ledger rules of the allocators."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.comparators.events import AllotmentSet, Asked, Bin, Event, Frame, Settings, frame_of
from curator.mechanism.comparators.protocol import Kind
from curator.mechanism.comparators.rules import Allotments, caps, partition
from curator.mechanism.comparators.table import ALLOCATORS
from tests.comparators import streams
from tests.comparators.streams import ALL_OR_NOTHING, CAST, asks, outcomes, settings, spent


def test_without_allotments_alice_may_spend_all_of_a_shared_pool_but_half_of_a_partition() -> None:
    stream: list[Event] = [settings(10), asks("alice", {"q": 8}, ALL_OR_NOTHING), asks("bob", {"r": 2}, ALL_OR_NOTHING)]
    assert [outcome.charge for outcome in outcomes("residual", stream)] == [8, 2]
    assert [outcome.charge for outcome in outcomes("budget_partition", stream)] == [0, 2]


def test_partition_splits_among_everybody_who_asks_anywhere_in_the_stream() -> None:
    stream: list[Event] = [settings(10), asks("alice", {"q": 4}, ALL_OR_NOTHING)]
    assert outcomes("budget_partition", stream)[0].charge == 4
    later = [*stream, asks("bob", {"r": 1}), asks("chi", {"s": 1})]
    assert outcomes("budget_partition", later)[0].charge == 0  # a third of 10 is 3


@pytest.mark.parametrize("name", sorted(ALLOCATORS))
def test_in_a_stream_with_allotments_bob_without_one_has_nothing_even_before_the_first(name: str) -> None:
    stream: list[Event] = [settings(10), asks("bob", {"q": 1}), AllotmentSet("alice", 10), asks("bob", {"r": 1})]
    assert [outcome.kind for outcome in outcomes(name, stream)] == [Kind.DECLINED, Kind.DECLINED]


def test_an_allotment_event_replaces_the_one_before() -> None:
    stream: list[Event] = [settings(100), AllotmentSet("alice", 5), AllotmentSet("alice", 9), asks("alice", {"q": 9})]
    for name in ALLOCATORS:
        assert outcomes(name, stream)[0].charge == 9


def test_partition_scales_allotments_down_where_they_exceed_the_pool_as_of_each_event() -> None:
    stream: list[Event] = [
        settings(30),
        AllotmentSet("alice", 30),
        AllotmentSet("bob", 60),  # together 90: a third of each
        asks("alice", {"q": 10}, ALL_OR_NOTHING),
        asks("bob", {"r": 20}, ALL_OR_NOTHING),
        settings(90),  # a raise: nothing is scaled any more
        asks("alice", {"s": 20}, ALL_OR_NOTHING),
        asks("bob", {"t": 40}, ALL_OR_NOTHING),
    ]
    assert [outcome.charge for outcome in outcomes("budget_partition", stream)] == [10, 20, 20, 40]


def test_a_replaced_allotment_no_longer_counts_towards_the_scaling() -> None:
    stream: list[Event] = [
        settings(30),
        *(AllotmentSet("alice", 20), AllotmentSet("bob", 20), AllotmentSet("chi", None)),
        *(AllotmentSet("alice", 10), AllotmentSet("chi", 0)),  # 30 together again
        asks("bob", {"q": 20}, ALL_OR_NOTHING),
        asks("alice", {"r": 10}, ALL_OR_NOTHING),
    ]
    assert [outcome.charge for outcome in outcomes("budget_partition", stream)] == [20, 10]


def test_partition_never_gives_more_than_the_pool_has_left() -> None:
    stream: list[Event] = [
        settings(10),
        AllotmentSet("alice", 10),
        asks("alice", {"q": 10}),
        AllotmentSet("alice", 0),
        AllotmentSet("bob", 10),  # an allotment of its own, but alice has spent the pool
        asks("bob", {"r": 1}),
    ]
    assert [outcome.charge for outcome in outcomes("budget_partition", stream)] == [10, 0]


def test_an_analyst_explicitly_without_limit_gets_an_equal_part_of_what_the_numbers_leave() -> None:
    stream: list[Event] = [
        settings(10),
        AllotmentSet("alice", 4),
        AllotmentSet("bob", None),
        AllotmentSet("chi", None),
        asks("bob", {"q": 4}, ALL_OR_NOTHING),
        asks("bob", {"r": 3}, ALL_OR_NOTHING),
    ]
    assert [outcome.charge for outcome in outcomes("budget_partition", stream)] == [0, 3]
    assert [outcome.charge for outcome in outcomes("residual", stream)] == [4, 3]


@given(st.lists(streams.allotments, min_size=1), streams.needs)
def test_budgets_of_one_s_own_never_add_up_to_more_than_the_pool(events: list[AllotmentSet], pool: int) -> None:
    allotments = Allotments(Frame(capped=True))
    for event in events:
        allotments.set(event)
    shares = [partition(allotments, settings(pool), analyst) for analyst in CAST]
    assert sum(share or 0 for share in shares) <= pool
    for analyst, share in zip(CAST, shares, strict=True):
        own = caps(allotments, settings(pool), analyst)
        assert share is not None
        assert own is None or share <= own


def test_a_cap_on_one_question_holds_for_every_allocator() -> None:
    for name in ALLOCATORS:
        found = outcomes(name, [settings(100, cap=3), asks("alice", {"q": 4}, ALL_OR_NOTHING), asks("alice", {"r": 3})])
        assert [outcome.charge for outcome in found] == [0, 3]


def test_bins_and_counts_credit_each_other_and_a_histogram_is_charged_its_dearest_bin() -> None:
    stream: list[Event] = [
        settings(100),
        asks("alice", {"women": 5}),
        asks("bob", {"women": 8, "children": 4}),
        asks("chi", {"children": 4}),
    ]
    found = outcomes("residual", stream)
    assert [outcome.charge for outcome in found] == [5, 4, 0]
    assert found[1].amounts == (3, 4)
    assert [outcome.charge for outcome in outcomes("state_agnostic", stream)] == [5, 8, 4]


def test_with_k_records_per_person_the_k_dearest_bins_are_charged_and_a_question_s_own_k_overrides() -> None:
    histogram = {"women": 5, "children": 4, "rich": 3}
    stream: list[Event] = [settings(100, k=2), asks("alice", histogram)]
    assert spent(outcomes("state_agnostic", stream)) == 9
    assert spent(outcomes("state_agnostic", [settings(100, k=2), asks("alice", histogram, k=3)])) == 12
    assert spent(outcomes("state_agnostic", [settings(100, k=2), asks("alice", histogram, k=1)])) == 5


def test_only_the_weight_separates_residual_from_reuse_only() -> None:
    """In scarcity a heavier question is left shorter of less: mu / (2 w), here 10 / (2 * 5) = 1 instead of 5."""
    heavy = Asked("alice", "q", (Bin("q", 20, weight=Decimal(5)),))
    stream: list[Event] = [settings(19, kappa="0.5263157895"), heavy]  # mu is 10 of 19
    ours, unweighed = outcomes("residual", stream)[0], outcomes("reuse_only", stream)[0]
    assert (ours.charge, ours.shortfall) == (18, (2,))  # 20 - 1.00…, rounded down
    assert (unweighed.charge, unweighed.shortfall) == (14, (6,))
    assert outcomes("accuracy_aware", stream)[0].charge == 18
    assert outcomes("state_agnostic", stream)[0].charge == 14


def test_each_bin_of_a_histogram_is_weighed_by_itself() -> None:
    """Two bins that need 20 share 20: at most 10 each, and 20 - 30 / (2 w), which is 17 for w = 5 and 5 for w = 1."""
    bins = (Bin("women", 20, weight=Decimal(5)), Bin("rich", 20, weight=Decimal(1)))
    stream: list[Event] = [settings(20, kappa="1.5", k=2), Asked("alice", "h", bins)]
    assert outcomes("residual", stream)[0].amounts == outcomes("accuracy_aware", stream)[0].amounts == (10, 5)
    assert outcomes("budget_partition", stream)[0].amounts == (10, 5)
    assert outcomes("reuse_only", stream)[0].amounts == outcomes("state_agnostic", stream)[0].amounts == (5, 5)


def test_all_or_nothing_declines_where_partial_would_spend() -> None:
    for choice, kind in ((streams.PARTIAL, Kind.PARTIAL), (ALL_OR_NOTHING, Kind.DECLINED)):
        assert outcomes("residual", [settings(5, kappa="0"), asks("alice", {"q": 9}, choice)])[0].kind is kind


def test_a_stream_must_start_with_its_settings_and_keep_to_its_frame() -> None:
    with pytest.raises(ValueError, match="settings"):
        outcomes("residual", [asks("alice", {"q": 1})])
    uncapped = ALLOCATORS["residual"](Frame(capped=False, analysts=frozenset({"alice"})))
    with pytest.raises(ValueError, match="allotment"):
        uncapped.observe(AllotmentSet("alice", 1))
    split = ALLOCATORS["budget_partition"](Frame(capped=False, analysts=frozenset({"alice"})))
    split.observe(settings(1))
    with pytest.raises(ValueError, match="frame"):
        split.observe(asks("bob", {"q": 1}))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Settings(rho_total=10, rho_est=1, rho_ans=10, kappa=Decimal(0)),
        lambda: Settings(rho_total=10, rho_est=-1, rho_ans=11, kappa=Decimal(0)),
        lambda: settings(10, kappa="-1"),
        lambda: settings(10, kappa="NaN"),
        lambda: settings(10, k=0),
        lambda: Bin("q", -1),
        lambda: Bin("q", 1, weight=Decimal(0)),
        lambda: Bin("q", 1, weight=Decimal("NaN")),
        lambda: Asked("alice", "q", ()),
        lambda: Asked("alice", "q", (Bin("q", 1), Bin("q", 2))),
    ],
)
def test_events_that_make_no_sense_cannot_be_built(wrong: object) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        wrong()  # type: ignore[operator]


def test_the_frame_of_a_stream_names_who_asks_and_whether_there_are_allotments() -> None:
    asked: list[Event] = [settings(1), asks("alice", {"q": 1}), asks("bob", {"q": 1})]
    assert frame_of(asked) == Frame(capped=False, analysts=frozenset({"alice", "bob"}))
    assert frame_of([*asked, AllotmentSet("chi", 0)]).capped
