"""The publishing tick: what is done inside a slot cannot be told from outside, and every published time is a beat."""

import time
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.db import connection

from curator import queue, ticks
from curator.engine import counts
from curator.engine.sealing import EngineFailed
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract
from tests.worker.scene import MEN, WOMEN, ask, state

TICK = 40  # milliseconds
BEAT = TICK / 1000


@pytest.fixture
def people(db: None, monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(settings, "TICK_MS", TICK)
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


@pytest.mark.parametrize("phase", [0, 0.001, 0.013, 0.039])
def test_what_takes_less_than_a_tick_ends_at_the_same_moment_however_long_it_took(phase: float) -> None:
    wall = 1_000_000 * BEAT + phase
    ends = {round(wall + ticks.length(taken, wall, BEAT), 6) for taken in (0, 1e-6, 0.001, 0.02, 0.0399)}
    assert len(ends) == 1
    (end,) = ends
    assert abs(end / BEAT - round(end / BEAT)) < 1e-6


def test_what_takes_longer_has_few_possible_moments() -> None:
    ends = {round(ticks.length(taken / 1000, 0.0, BEAT) / BEAT) for taken in range(1, 10_000)}
    assert ends == {1, 2, 4, 8, 16, 32, 64, 128, 192, 256}


@pytest.mark.parametrize("tick", [0.01, 0.25, 1.0])
@pytest.mark.parametrize("reads", [(129.0,), (65.0, 65.0), (33.0, 33.0, 33.0, 33.0)])
def test_what_ends_well_within_a_tasks_limit_is_not_held_beyond_it(tick: float, reads: tuple[float, ...]) -> None:
    assert sum(ticks.length(taken, 12.345, tick) for taken in reads) < settings.TASK_SECONDS == 150


@pytest.mark.parametrize("taken", [0.0, 0.03, 0.05, 1.0, 7.7])
@pytest.mark.parametrize("wall", [0.0, 12.345, 1_796_000_000.123])
def test_a_slot_is_never_shorter_than_what_was_done_in_it(taken: float, wall: float) -> None:
    assert taken <= ticks.length(taken, wall, BEAT) <= 2 * max(taken, BEAT) + BEAT


def test_a_beat_is_the_same_everywhere_and_none_when_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TICK_MS", 250)
    at = ticks.now()
    assert at.microsecond % 250_000 == 0 and at <= datetime.now(UTC)
    monkeypatch.setattr(settings, "TICK_MS", 0)
    before = datetime.now(UTC)
    assert before <= ticks.now() <= datetime.now(UTC)


TIMES = """
    SELECT c.table_name, c.column_name FROM information_schema.columns AS c
    WHERE c.table_schema = 'public' AND c.table_name LIKE 'curator_%' AND c.data_type LIKE 'timestamp%'
"""


def test_every_time_in_the_record_is_a_beat(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.02", xi="0.5")
    asked = [ask(people.alice, contract, each, within=10) for each in (WOMEN, MEN, WOMEN)]
    execution.run(contract.pk)
    assert {state(query) for query in asked} <= {"answered", "partial", "declined"}
    seen = 0
    with connection.cursor() as cursor:
        cursor.execute(TIMES)
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')  # names from the schema
            found = [row[0] for row in cursor.fetchall()]
            seen += len(found)
            assert [at for at in found if at.microsecond % (TICK * 1000)] == [], f"{table}.{column}"
        cursor.execute("SELECT body FROM curator_auditevent")
        assert all(int(bytes(body).split(b'"at":"')[1][20:26]) % (TICK * 1000) == 0 for (body,) in cursor.fetchall())
    assert seen > 20


def test_counting_ends_on_a_beat_also_where_it_fails(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EngineFailed("count_failed")

    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN)
    slept: list[float] = []
    monkeypatch.setattr(counts, "count", fail)
    monkeypatch.setattr(time, "sleep", slept.append)
    execution.run(contract.pk)
    assert len(slept) == 2  # two attempts, and each of them failed on a beat
    assert all(pause > 0 for pause in slept)


def test_what_history_knows_need_not_wait(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether records are read is public: it follows from what was released before."""
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN)
    execution.run(contract.pk)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waited"))
    again = ask(people.bob, contract, WOMEN)
    execution.run(contract.pk)
    assert state(again) == "answered"
