"""Charts: the points of a replay, thinned, in rho."""

from decimal import Decimal

from curator.laboratory.charts import charts
from curator.mechanism.comparators.events import Asked, Bin, Event, frame_of
from curator.mechanism.comparators.replay import Replay
from curator.mechanism.rho import UNITS_PER_RHO
from tests.comparators.streams import asks, settings


def replayed(*events: Event) -> Replay:
    under_way = Replay(frame_of(events))
    under_way.advance(events)
    return under_way


def story() -> Replay:
    """Alice asks, Bob repeats, and a difficult question of Alice's meets scarcity: the pool is 2 rho, the last need 1.5."""
    rho = UNITS_PER_RHO
    difficult = Asked("alice", "rich", (Bin("rich", 3 * rho // 2, weight=Decimal(4)),))
    return replayed(settings(2 * rho, kappa="0"), asks("alice", {"q": rho}), asks("bob", {"q": rho}), difficult)


def test_spend_and_thresholds_met_run_over_the_questions() -> None:
    found = charts(story())
    assert found["spend"]["residual"] == {"x": [1, 2, 3], "y": [1, 1, 2]}
    assert found["met"]["residual"] == {"x": [1, 2, 3], "y": [1, 2, 2]}
    assert found["spend"]["state_agnostic"]["y"] == [1, 2, 2]


def test_the_ratio_to_the_optimum_stops_where_the_pool_cannot_pay_it() -> None:
    ratio = charts(story())["ratio"]
    assert ratio["residual"] == {"x": [1, 2], "y": [1, 1]}
    assert ratio["state_agnostic"] == {"x": [1, 2], "y": [1, 2]}


def test_the_ratio_ends_with_the_first_histogram() -> None:
    under_way = replayed(settings(100), asks("alice", {"q": 1}), asks("alice", {"q": 1, "r": 1}), asks("alice", {"s": 1}))
    assert charts(under_way)["ratio"]["residual"] == {"x": [1], "y": [1]}


def test_shortfalls_are_shown_by_difficulty() -> None:
    assert charts(story())["shortfall"]["residual"] == {"x": [4], "y": [0.5]}


def test_bob_s_charts_hold_his_questions_only() -> None:
    found = charts(story(), analyst="bob")
    assert found["spend"]["residual"] == {"x": [2], "y": [0]}
    assert found["shortfall"]["residual"] == {"x": [], "y": []}
    assert found["ratio"]["residual"]["x"] == [1, 2]


def test_long_replays_are_thinned() -> None:
    many = [asks("alice", {f"q{i}": 9}) for i in range(1000)]
    found = charts(replayed(settings(100, kappa="0"), *many), points=50)
    assert len(found["spend"]["residual"]["x"]) == 50
    assert len(found["shortfall"]["residual"]["x"]) <= 50
