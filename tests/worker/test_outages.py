"""A database lost on the way: no answer changes, nothing is doubled, and a question that loses it every time ends."""

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from django.db import connection

from curator import queue
from curator.mechanism.noise import ExactCount
from curator.models import Contract, LedgerEntry, Query, Release
from curator.services import claiming, execution, failpoints, reading
from curator.services.pending import Batch
from tests.cast import ROWS, Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.worker.scene import WOMEN, ask, check_books, once, places, state, until
from tests.worker.severing import wire

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    monkeypatch.setattr(claiming, "PAUSE", timedelta(0))
    return cast()


def sever() -> None:
    failpoints.happen("sever")


def test_a_connection_lost_on_the_way_costs_the_question_no_attempt(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    for number, place in enumerate(("after_look", "after_read", "after_draw", "before_commit"), start=1):
        with monkeypatch.context() as patch:
            patch.setattr(failpoints, "reach", once(place, sever))
            execution.run(contract.pk)
        row = Query.objects.get(pk=query.pk)
        assert (row.state, row.attempts, row.outages) == ("waiting", 0, number), place
    execution.run(contract.pk)
    assert state(query) == "answered"
    check_books(contract)


def run_all(contract: Contract) -> None:
    while claiming.is_waiting(contract.pk):
        execution.run(contract.pk)


def losing(monkeypatch: pytest.MonkeyPatch, poison: Query) -> list[int]:
    """Whoever counts this question loses the database session; returns the list that grows with each try."""
    digest, read, tries = poison.bins.get().descriptor_id, reading.read, []

    def lose(batch: Batch, digests: Iterable[tuple[int, str]]) -> dict[str, ExactCount]:
        wanted = list(digests)
        if digest in [each for _, each in wanted]:
            tries.append(len(batch.questions))
            sever()
        return read(batch, wanted)

    monkeypatch.setattr(reading, "read", lose)
    return tries


@pytest.mark.trust
def test_a_question_that_loses_its_database_every_time_ends_and_the_others_are_served(
    people: Cast, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(20), strict=False)]
    tries = losing(monkeypatch, asked[7])
    run_all(contract)
    assert tries == [20] + [1] * (claiming.MAX_OUTAGES - 1)  # once in the batch, then alone
    assert [state(query) for query in asked] == ["failed" if n == 7 else "answered" for n in range(20)]
    asked[7].refresh_from_db()
    assert asked[7].failure == "loses_database"
    assert not LedgerEntry.objects.filter(query=asked[7]).exists()
    check_books(contract)
    figure(
        row=17,
        n=20,
        seen=f"a question that ends its own database session: {len(tries)} tries, then failed; 19 of 19 others served",
    )


def test_a_question_rests_longer_after_each_outage_and_the_others_pass_it(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "PAUSE", timedelta(hours=1))
    contract = make_contract(people, rows=ROWS)
    poison, other = ask(people.alice, contract, WOMEN), ask(people.bob, contract, next(places()))
    tries = losing(monkeypatch, poison)
    for outages, hours in ((1, 1), (2, 2), (3, 4)):
        run_all(contract)
        assert len(tries) == outages
        _wind_back(contract, hours=hours - 0.5)
        assert not claiming.is_waiting(contract.pk)
        _wind_back(contract, hours=0.5)
    assert state(other) == "answered" and state(poison) == "waiting"


def _wind_back(contract: Contract, *, hours: float) -> None:
    for query in Query.objects.filter(contract=contract, state="waiting", claimed_at__isnull=False):
        Query.objects.filter(pk=query.pk).update(claimed_at=query.claimed_at - timedelta(hours=hours))  # type: ignore[operator]  # set


def is_free(contract: Contract) -> bool:
    """Whether the server has noticed that a session was cut off, and has let go of its claim; a run would leave until then."""
    with claiming.exclusive(contract.pk) as mine:
        return mine


@pytest.mark.trust
@pytest.mark.parametrize("how", ["before", "after"])
def test_a_connection_lost_at_commit_doubles_nothing_whether_it_was_committed_or_not(
    people: Cast, how: str, figure: Figure
) -> None:
    """The client cannot know which it was; the rows can."""
    contract, times = make_contract(people, rows=ROWS, rho_total="100"), 10
    where = places()
    with TemporaryDirectory() as folder, wire(Path(folder)) as line:
        for number in range(times):
            query = ask(people.alice, contract, next(where), rho="0.01")
            reach = once("before_commit", partial(setattr, line, "cut_at", how))
            until(partial(is_free, contract))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(failpoints, "reach", reach)
                execution.run(contract.pk)
            assert line.cuts == number + 1
            assert state(query) == ("waiting" if how == "before" else "answered")
            until(partial(is_free, contract))
            execution.run(contract.pk)
            assert state(query) == "answered"
    assert Release.objects.count() == LedgerEntry.objects.count() == times
    check_books(contract)
    figure(row=2, n=times, seen=f"connection lost at COMMIT, {how} the server heard of it: doubled 0, lost 0")


def test_a_session_that_falls_silent_is_ended_by_the_database_with_its_locks(
    people: Cast, application_connection: psycopg.Connection[Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = make_contract(people, rows=ROWS)
    settings.TASK_SECONDS = 0.05
    monkeypatch.setattr(claiming, "SILENCE", 0)
    with claiming.exclusive(contract.pk) as mine:
        assert mine
        application_connection.execute("SELECT pg_advisory_lock(%s)", [claiming._LOCK_SPACE + contract.pk])  # waits for its end
    assert not connection.is_usable()
    connection.close()
    settings.TASK_SECONDS = 150.0
    application_connection.execute("SELECT pg_advisory_unlock_all()")
    with claiming.exclusive(contract.pk) as mine, connection.cursor() as cursor:
        cursor.execute("SHOW idle_session_timeout")
        assert mine and cursor.fetchone() == ("150s",)
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_session_timeout")
        assert cursor.fetchone() == ("0",)
