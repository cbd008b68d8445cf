"""The comparison is the replay of the record, taken on event by event, at the same cost however long the history."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curator.mechanism.comparators.events import Frame
from curator.mechanism.comparators.replay import Replay
from curator.models import Contract, Decision
from curator.selectors import comparison as reads
from curator.selectors.answers import query_page
from curator.selectors.stream import head_seq, stream
from curator.services import budget_requests, contracts, execution
from rdp_site import serving, supervisor
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.web.scene import ask, make_scene, within

Step = Callable[[], None]

pytestmark = pytest.mark.usefixtures("db")


def whole(contract: Contract) -> Replay:
    """The stream replayed from its beginning in one go."""
    replay = Replay(Frame(capped=True))
    replay.advance(placed.event for placed in stream(contract, upto=head_seq(contract)))
    return replay


def test_a_repeat_costs_nothing_here_and_its_full_price_under_partition() -> None:
    scene = make_scene()
    told = reads.beside(scene.contract, scene.repeat.uid, "bob")
    assert told
    assert (told.kind, told.charge) == ("met", 0)
    assert (told.partition_kind, told.partition_charge) == ("met", 3_073_167_057)


def test_the_replayed_residual_is_what_was_decided() -> None:
    scene = make_scene()
    for decision in Decision.objects.select_related("query__analyst"):
        told = reads.beside(scene.contract, decision.query.uid, decision.query.analyst.username)
        assert told
        assert told.charge == decision.load


def test_taking_on_what_is_new_gives_what_a_fresh_replay_gives() -> None:
    people = cast()
    contract = make_contract(people, rho_total="0.1", rows=ROWS, allotments={"alice": "0.5", "bob": "0.02"})
    for number, step in enumerate(steps(people, contract)):
        step()
        contract.refresh_from_db()
        found = reads.comparison(contract)
        assert found
        fresh = whole(contract)
        assert found.residual.spent == contract.spent_bound, number
        for rule in found.rules[:-1]:
            tally = fresh.tally(rule.name)
            assert (rule.spent, rule.met, rule.partial, rule.declined) == (
                tally.spent,
                tally.met,
                tally.partial,
                tally.declined,
            ), number
        assert found.curves == {name: curve.thinned(reads.POINTS) for name, curve in fresh.curves().items()}


def steps(people: Cast, contract: Contract) -> list[Step]:
    """Things that happen to a contract, in order."""

    def asks(who: str, bound: int, age: int) -> Step:
        def do() -> None:
            ask(people, contract, who, within(bound, {"column": "age", "at_least": str(age)}), key=f"{who}{bound}{age}")
            execution.run(contract.pk)

        return do

    def grants() -> None:
        asked = budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.05") or 0, reason="More")
        budget_requests.approve(curator=people.carol, request=asked, granted=units("0.03") or 0)

    def raises() -> None:
        contracts.raise_total(curator=people.carol, contract=contract, rho_total=units("0.5") or 0, reason="Second wave")

    return [
        lambda: None, asks("alice", 25, 40), asks("bob", 25, 40), asks("bob", 5, 40), grants, asks("bob", 10, 30), raises,
        asks("alice", 4, 20), asks("alice", 10, 30),
    ]  # fmt: skip


def test_a_shorter_record_starts_the_replay_afresh() -> None:
    scene = make_scene()
    before = reads.comparison(scene.contract)
    reads._kept[scene.contract.uid].seq += 1_000  # as after restoring an older backup
    after = reads.comparison(scene.contract)
    assert before == after


def test_a_process_that_was_warmed_up_replays_nothing_when_somebody_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = make_scene()
    reads._kept.clear()
    assert reads.warm() == 1
    monkeypatch.setattr(reads, "stream", None)  # calling it again would raise
    assert reads.comparison(scene.contract)


def test_the_web_server_warms_each_new_process_up() -> None:
    scene = make_scene()
    reads._kept.clear()
    serving.post_worker_init(None)
    for thread in [each for each in threading.enumerate() if each.name == "warm-up"]:
        thread.join()
    assert scene.contract.uid in reads._kept
    assert "python:rdp_site.serving" in supervisor.web("127.0.0.1:1").command


def test_only_one_analysts_questions_are_in_their_comparison() -> None:
    scene = make_scene()
    mine = reads.comparison(scene.contract, "alice")
    assert mine
    assert (mine.asked, mine.by_analyst) == (3, ())
    assert len(mine.curves["residual"].positions) == 3


def test_no_page_asks_the_database_more_as_the_history_grows() -> None:
    people = cast()
    contract = make_contract(people, rows=ROWS)

    def counted() -> tuple[int, int]:
        row = ask(people, contract, "alice", within(25, {"column": "sex", "equals": "F"}), key=f"k{Decision.objects.count()}")
        execution.run(contract.pk)
        row.refresh_from_db()
        with CaptureQueriesContext(connection) as answer:
            query_page(row)
        with CaptureQueriesContext(connection) as compare:
            reads.comparison(contract)
        return len(answer), len(compare)

    first = counted()
    for age in range(12):
        ask(people, contract, "bob", within(20, {"column": "age", "equals": str(age)}), key=f"bob{age}")
    assert counted() == first
