"""Carol's control room: what waits, whether the worker works, how the budget goes, how often it was too little."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curator.mechanism import rho
from curator.models import Contract, LedgerEntry
from curator.selectors import formatting
from curator.selectors.control_room import POINTS, SHOWN, control_room
from curator.services import execution
from rdp_site import heartbeat
from tests.web.scene import Scene, accuracy, ask, browser_of, make_scene
from tests.web.test_asking import html, text


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


def test_carol_sees_queue_worker_burn_down_and_scarcity(scene: Scene) -> None:
    heartbeat.end()
    page = html(browser_of(scene.people.carol).get(f"/contracts/{scene.contract.uid}/control/"))
    plain = text(browser_of(scene.people.carol).get(f"/contracts/{scene.contract.uid}/control/"))
    assert re.search(r"Questions waiting 1 The oldest waits for \d+ s Worker working its last sign of life \d+ s ago", plain)
    assert "decided 5 free, from history 1 paid in full 3 answered in part 1 declined 0 met too little budget 1" in plain
    chart = json.loads(re.findall(r'id="burn-data"[^>]*>(.*?)</script>', page)[0])["lines"][0]
    entries = LedgerEntry.objects.filter(contract=scene.contract, account="ans").order_by("id")
    assert chart["x"] == list(range(len(entries) + 1))
    left = [scene.contract.rho_ans - entry.balance_after for entry in entries]
    assert chart["y"][1:] == pytest.approx([units / rho.UNITS_PER_RHO for units in left], rel=1e-5)


def test_a_silent_worker_and_one_never_seen_are_told_apart(scene: Scene) -> None:
    now = datetime.now(UTC)
    states = [control_room(scene.contract, now, silence=silence, patience=60).worker for silence in (None, 59.0, 61.0)]
    assert [(worker.state, worker.silence) for worker in states] == [("not seen", None), ("working", 59), ("silent", 61)]
    late = control_room(scene.contract, now + timedelta(hours=2), silence=None, patience=60)
    assert (late.waiting.oldest or 0) >= 7_200 - 5


def test_the_room_is_the_same_over_json_and_carols_alone(scene: Scene) -> None:
    address = f"/api/v1/contracts/{scene.contract.uid}/control/"
    found = browser_of(scene.people.carol).get(address).json()
    contract = Contract.objects.get(pk=scene.contract.pk)
    assert found["gauge"]["spent"] == rho.text(contract.spent_bound) == found["burned"][-1]["spent"]
    assert (found["waiting"]["count"], found["scarcity"]["decided"]) == (1, 5)
    assert [browser_of(user).get(address).status_code for user in (scene.people.alice, scene.people.dora)] == [404, 404]


def test_a_long_history_costs_no_more_queries_and_few_points(scene: Scene) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            browser_of(scene.people.carol).get(f"/contracts/{scene.contract.uid}/control/")
        return len(queries)

    before = cost()
    for number in range(3 * SHOWN):
        ask(
            scene.people,
            scene.contract,
            "alice",
            {"where": {"column": "age", "equals": number}, **accuracy(500)},
            key=f"n{number}",
        )
    execution.run(scene.contract.pk)
    assert cost() == before
    entries = LedgerEntry.objects.filter(account="ans").count()
    room = control_room(scene.contract, datetime.now(UTC), silence=None, patience=60)
    assert len(room.burned) == entries < POINTS
    assert len(room.shown) <= SHOWN
    assert room.shown[-1] == room.burned[-1]


def test_lengths_of_time_are_short() -> None:
    shown = [formatting.seconds(length).replace("\N{NO-BREAK SPACE}", " ") for length in (0, 59, 60, 3_599, 3_600, 200_000)]
    assert shown == ["0 s", "59 s", "1 min", "59 min", "1 h", "2 d"]
