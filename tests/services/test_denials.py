"""What was denied: counted at once, told once a minute, and never in the way of those who write the chain."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from curator.models import AuditEvent, Denial
from curator.services import audit, denials
from curator.services.audit import SITE, Event
from curator.tasks import sweep
from tests.worker.scene import until


def later(minutes: int = 1) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


def told() -> list[dict[str, Any]]:
    events = AuditEvent.objects.filter(chain=SITE).order_by("seq")
    return [json.loads(bytes(event.body)) for event in events]


def test_a_denial_is_told_when_its_minute_is_over_and_once(db: None) -> None:
    denials.count(denials.ACCESS, actor="eve", what="GET /audit/")
    begun = Denial.objects.get().since
    assert denials.tell(begun) == 0
    assert denials.tell(later()) == 1
    assert denials.tell(later(5)) == 0
    denials.count(denials.ACCESS, actor="eve", what="GET /other/")
    assert denials.tell(later(5)) == 1
    assert [(event["kind"], event["data"]["count"], event["data"]["people"][0]["first"]) for event in told()] == [
        ("access.denied", 1, "GET /audit/"), ("access.denied", 1, "GET /other/"),
    ]  # fmt: skip


def test_the_sweep_tells(db: None, owner_connection: psycopg.Connection[Any]) -> None:
    denials.count(denials.ACCESS, actor="eve")
    Denial.objects.update(since=later(-2))
    sweep()
    assert [event["kind"] for event in told()] == ["access.denied"]


def test_a_flood_fills_no_chain_and_nothing_of_it_is_lost(db: None) -> None:
    """Eight writers deny 800 times while two sweeps tell again and again: the sums agree, with few events and few rows."""
    start, telling = threading.Barrier(10), threading.Event()

    def deny(number: int) -> None:
        try:
            start.wait()
            for _ in range(100):
                denials.count(denials.ACCESS if number % 2 else denials.SIGN_IN, actor=("eve", "")[number % 4 // 2])
        finally:
            connection.close()

    def tell(_: int) -> int:
        try:
            start.wait()
            sent = 0
            while not telling.is_set():
                sent += denials.tell(later())
            return sent
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        tellers = [pool.submit(tell, number) for number in range(2)]
        for denied in [pool.submit(deny, number) for number in range(8)]:
            denied.result()
        telling.set()
        sent = sum(teller.result() for teller in tellers)
    sent += denials.tell(later())
    assert sum(event["data"]["count"] for event in told()) == 800
    assert len(told()) == sent
    assert Denial.objects.count() == 4


def test_denials_wait_for_no_writer_of_the_chain(db: None) -> None:
    """Somebody holds the head of the site's chain; a thousand denials are counted all the same, and told afterwards."""

    def deny() -> int:
        try:
            for number in range(1_000):
                denials.count(denials.ACCESS, actor=f"eve{number % 3}")
            return Denial.objects.count()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            audit.hold(SITE)
            assert pool.submit(deny).result(60) == 3
        assert denials.tell(later()) == 1
    assert told()[0]["data"]["count"] == 1_000


def test_a_denial_outlives_the_process_that_counted_it(db: None) -> None:
    denials.count(denials.ACCESS, actor="eve")
    connection.close()
    child = os.fork()
    if child == 0:
        denials.count(denials.ACCESS, actor="eve")
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    denials.tell(later())
    assert [event["data"]["count"] for event in told()] == [2]


def test_a_teller_that_dies_in_between_has_told_nothing(db: None, owner_connection: psycopg.Connection[Any]) -> None:
    """Its event is committed together with the count that says so."""
    denials.count(denials.ACCESS, actor="eve")
    connection.close()
    owner_connection.execute("BEGIN")
    owner_connection.execute("SELECT 1 FROM curator_denial FOR UPDATE")
    child = os.fork()
    if child == 0:
        denials.tell(later())
        os._exit(0)
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    until(lambda: owner_connection.execute(waiting).fetchone() == (1,))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    owner_connection.execute("ROLLBACK")
    until(lambda: denials.tell(later()) == 1 or bool(told()))
    assert [event["data"]["count"] for event in told()] == [1]


def test_a_crowd_is_named_up_to_a_limit(db: None) -> None:
    for number in range(denials.NAMED + 5):
        denials.count(denials.SIGN_IN, actor=f"person {number}")
    denials.count(denials.SIGN_IN, actor="person 7")
    denials.tell(later())
    data = told()[0]["data"]
    assert (data["count"], len(data["people"]), data["others"]) == (denials.NAMED + 6, denials.NAMED, 5)
    assert data["people"][0] == {"count": 2, "first": "", "who": "person 7"}


def test_counts_never_fall_and_are_never_deleted(db: None, owner_connection: psycopg.Connection[Any]) -> None:
    denials.count(denials.ACCESS, actor="eve")
    for statement in (
        "UPDATE curator_denial SET count = 0", "DELETE FROM curator_denial", "TRUNCATE curator_denial",
        "UPDATE curator_denial SET actor = 'bob'",
    ):  # fmt: skip
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner_connection.execute(statement)
    with pytest.raises(psycopg.errors.CheckViolation):
        owner_connection.execute("UPDATE curator_denial SET told = 2")


def test_an_ordinary_event_is_written_while_a_flood_goes_on(db: None) -> None:
    denials.count(denials.ACCESS, actor="eve")
    audit.append_alone(SITE, Event("sign_in", "alice", {}))
    denials.tell(later())
    assert [event["kind"] for event in told()] == ["sign_in", "access.denied"]
