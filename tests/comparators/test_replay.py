"""Replays: whole or event by event the same, previews that change nothing, and the very decisions of the controller."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.comparators.events import AllotmentSet, Asked, Bin, Event, Frame, Settings, frame_of
from curator.mechanism.comparators.protocol import Kind
from curator.mechanism.comparators.replay import Replay, replay
from curator.mechanism.comparators.table import ALLOCATORS
from curator.mechanism.controller import Decision, Need, Terms, available, decide
from tests.comparators import streams
from tests.comparators.streams import asks, outcomes, settings, without_shortcut


def controlled(stream: list[Event]) -> Iterator[Decision]:
    """What the controller itself decides on a contract's transcript, kept in the plainest books."""
    opening, allotted, held, spent = settings(0), dict[str, int | None](), dict[str, int](), dict[str, int]()
    for event in stream:
        if isinstance(event, Settings):
            opening = event
        elif isinstance(event, AllotmentSet):
            allotted[event.analyst] = event.rho
        else:
            needs = [Need(b.key, b.rho_min, held.get(b.key, 0), b.weight) for b in event.bins]
            limits = available(
                pool=opening.rho_ans - sum(spent.values()),
                allotment=allotted.get(event.analyst, 0),
                spent=spent.get(event.analyst, 0),
                cap=opening.cap,
                bins=len(needs),
            )
            price = Fraction(opening.kappa) * opening.rho_ans
            decision = decide(needs, limits, Terms(k=event.k or opening.k, mu=price, under_scarcity=event.under_scarcity))
            for need, amount in zip(needs, decision.amounts, strict=True):
                held[need.descriptor] = need.rho_hist + amount
            spent[event.analyst] = spent.get(event.analyst, 0) + decision.charge
            yield decision


@given(streams.streams(capped=True))
def test_residual_replayed_on_a_transcript_spends_what_the_controller_charged(stream: list[Event]) -> None:
    residual = ALLOCATORS["residual"](Frame(capped=True))
    replayed = [outcome for event in stream if (outcome := residual.observe(event)) is not None]
    decided = list(controlled(stream))
    assert [outcome.charge for outcome in replayed] == [decision.charge for decision in decided]
    assert [outcome.amounts for outcome in replayed] == [decision.amounts for decision in decided]
    assert [outcome.kind is Kind.MET for outcome in replayed] == [decision.all_met for decision in decided]
    assert [outcome.kind is Kind.DECLINED for outcome in replayed] == [decision.kind == "decline" for decision in decided]


@given(streams.streams(), st.sampled_from(sorted(ALLOCATORS)))
def test_the_shortcut_for_single_counts_gives_what_the_controller_decides(stream: list[Event], name: str) -> None:
    plain = without_shortcut(name, stream)
    assert outcomes(name, stream) == [outcome for event in stream if (outcome := plain.observe(event)) is not None]


@given(streams.streams(), st.integers(0, 12))
def test_a_replay_taken_on_event_by_event_equals_one_of_the_whole_stream(stream: list[Event], cut: int) -> None:
    under_way = Replay(frame_of(stream))
    under_way.advance(stream[: cut + 1])
    under_way.report()
    under_way.advance(stream[cut + 1 :])
    assert under_way.report() == replay(stream)


@given(streams.streams(), streams.questions(bins=3))
def test_a_preview_says_what_asking_would_give_and_changes_nothing(stream: list[Event], question: Asked) -> None:
    frame = frame_of([*stream, question])
    previewed, plain = Replay(frame), Replay(frame)
    previewed.advance(stream)
    plain.advance(stream)
    said = previewed.preview(question)
    assert previewed.report() == plain.report()
    previewed.advance([question])
    given_to_it = previewed.outcome(question.query)
    assert given_to_it == {name: (outcome.kind, outcome.charge) for name, outcome in said.items()}


def story() -> list[Event]:
    """Alice asks, Bob repeats and tightens, then both run into what is left."""
    return [
        settings(20, rho_est=5, kappa="0"),
        AllotmentSet("alice", 12),
        AllotmentSet("bob", 8),
        asks("alice", {"women": 6}),
        asks("bob", {"women": 6}),
        asks("bob", {"women": 8}),
        asks("alice", {"children": 10}),
        asks("alice", {"rich": 1}),
    ]


def test_a_report_says_who_spent_what_and_what_was_saved() -> None:
    report = replay(story())
    ours, theirs = report.accounts["residual"], report.accounts["budget_partition"]
    assert (ours.total.spent, ours.total.met, ours.total.partial, ours.total.declined) == (14, 3, 1, 1)
    assert (theirs.total.spent, theirs.total.met, theirs.total.partial, theirs.total.declined) == (20, 2, 2, 1)
    assert {who: tally.spent for who, tally in ours.by_analyst.items()} == {"alice": 12, "bob": 2}
    assert {who: tally.spent for who, tally in theirs.by_analyst.items()} == {"alice": 12, "bob": 8}
    assert (ours.saved, ours.saved_by_analyst) == (6, {"alice": 0, "bob": 6})
    assert ours.ratio_to_optimum == Fraction(14, 19)  # the optimum may spend past allotments: 8 + 10 + 1
    assert (report.optimum.met, report.optimum.spent) == (5, 19)
    assert report.overhead == 1 + Fraction(5, 19)
    assert report.break_even_share is None  # pricing from scratch met scarcity


def test_break_even_is_the_diagnostic_account_over_all_needs_from_scratch() -> None:
    stream: list[Event] = [settings(20, rho_est=4), asks("alice", {"q": 6}), asks("bob", {"q": 6}), asks("bob", {"r": 8})]
    assert replay(stream).break_even_share == Fraction(4, 20)
    assert replay([settings(20, rho_est=4)]).break_even_share is None
    assert replay([settings(20, rho_est=4)]).overhead is None


def test_a_break_even_needs_pricing_from_scratch_to_have_met_everything() -> None:
    stream: list[Event] = [settings(19, rho_est=4), asks("alice", {"q": 6}), asks("bob", {"q": 6}), asks("bob", {"r": 8})]
    report = replay(stream)
    assert report.break_even_share is None
    assert report.accounts["residual"].total.met == 3


def test_ratio_and_overhead_are_stated_only_where_the_pool_can_pay_the_optimum() -> None:
    for pool, ratio in ((6, 1), (5, None)):
        report = replay([settings(pool, rho_est=3, kappa="0"), asks("alice", {"q": 6})])
        assert report.accounts["residual"].ratio_to_optimum == ratio
        assert report.overhead == (Fraction(3, 2) if ratio else None)
        assert report.optimum.least_spend == 6


def test_curves_run_over_everybody_or_over_one_analyst() -> None:
    under_way = Replay(frame_of(story()))
    under_way.advance(story())
    everybody, bob = under_way.curves()["residual"], under_way.curves("bob")["residual"]
    assert (everybody.spent, everybody.met) == ((6, 6, 8, 14, 14), (1, 2, 3, 3, 3))
    assert (bob.positions, bob.spent, bob.met) == ((1, 2), (0, 2), (1, 2))
    assert under_way.least_spends == [6, 6, 8, 18, 19]
    assert under_way.tally("residual", "bob").spent == 2
    assert under_way.tally("residual").met == 3
    assert under_way.tally("residual", "dora").asked == 0


@given(st.integers(1, 60), st.integers(2, 20))
def test_a_thinned_curve_keeps_its_ends_and_never_exceeds_its_points(questions: int, points: int) -> None:
    stream: list[Event] = [settings(1000), *(asks("alice", {f"q{i}": 1}) for i in range(questions))]
    under_way = Replay(frame_of(stream), {"residual": ALLOCATORS["residual"]})
    under_way.advance(stream)
    whole = under_way.curves()["residual"]
    thin = whole.thinned(points)
    assert len(thin.positions) == min(points, questions)
    assert (thin.positions[0], thin.positions[-1]) == (0, questions - 1)
    assert all(whole.spent[position] == cost for position, cost in zip(thin.positions, thin.spent, strict=True))


def test_missed_bins_are_kept_with_their_difficulty() -> None:
    question = Asked("alice", "h", (Bin("women", 9, Decimal(3)), Bin("rich", 2, Decimal(5))))
    missed = replay([settings(5, kappa="0"), question]).accounts["residual"].missed
    assert [(miss.position, miss.analyst, miss.weight, miss.missing) for miss in missed] == [(0, "alice", Decimal(3), 4)]


def test_the_last_question_of_an_id_is_the_one_looked_up() -> None:
    under_way = Replay(Frame(capped=False, analysts=frozenset({"alice"})))
    under_way.advance([settings(9), asks("alice", {"q": 5}), asks("alice", {"q": 5})])
    found = under_way.outcome("q")
    assert found is not None
    assert found["residual"] == (Kind.MET, 0)
    assert under_way.outcome("r") is None


def test_a_replay_without_settings_has_nothing_to_report() -> None:
    with pytest.raises(ValueError, match="settings"):
        Replay(Frame(capped=True)).report()


def test_a_question_without_need_is_met_by_everybody_for_nothing() -> None:
    """An empty region answers 0 and needs no support, even where nothing is left."""
    for account in replay([settings(0), asks("alice", {"empty": 0})]).accounts.values():
        assert (account.total.met, account.total.spent) == (1, 0)
