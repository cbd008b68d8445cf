"""Questions that cannot be counted fail, uncharged, after two attempts; the others are served; nothing private is told."""

import logging
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from psycopg import sql

from curator import queue
from curator.engine.opened import Opened
from curator.mechanism.region import Region
from curator.models import AuditEvent, Contract, Descriptor, LedgerEntry, Query, QueryBin
from curator.services import claiming, execution, failpoints, recording
from rdp_site.environment import VAR, is_embedded
from rdp_site.postgres import Cluster, load
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.fixtures.figures import Figure
from tests.worker.scene import WOMEN, ask, check_books, once, places, state

pytestmark = pytest.mark.django_db

CANARY = 918_273_645
TINY = "0.00000000001"  # noise of 220,000 people: no released value is the canary by chance


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


def break_on(monkeypatch: pytest.MonkeyPatch, poison: Sequence[Query]) -> None:
    """The engine breaks, with a private value in its words, on the regions of these questions."""
    digests = QueryBin.objects.filter(query__in=poison).values("descriptor")
    regions = {bytes(each) for each in Descriptor.objects.filter(pk__in=digests).values_list("region", flat=True)}
    count = Opened.count

    def breaking(self: Opened, asked: Sequence[Region]) -> list[int]:
        if regions & {region.to_bytes() for region in asked}:
            raise ValueError(f"cannot count SECRET42 among {CANARY}")
        return count(self, asked)

    monkeypatch.setattr(Opened, "count", breaking)


@pytest.mark.parametrize("bad", [{0}, {3, 4}, {9}, set(range(10))], ids=str)
def test_what_cannot_be_counted_fails_after_two_attempts_and_the_rest_is_served(
    people: Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, bad: set[int]
) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(10), strict=False)]
    break_on(monkeypatch, [asked[number] for number in bad])
    with caplog.at_level(logging.DEBUG):
        execution.run(contract.pk)
    assert {n for n, query in enumerate(asked) if state(query) == "failed"} == bad
    assert {state(query) for n, query in enumerate(asked) if n not in bad} <= {"answered"}
    assert max(Query.objects.values_list("attempts", flat=True)) == claiming.MAX_ATTEMPTS
    assert LedgerEntry.objects.count() == 10 - len(bad)
    assert "SECRET42" not in caplog.text and str(CANARY) not in caplog.text
    check_books(contract)


@pytest.mark.trust
def test_without_a_limit_of_attempts_one_question_would_stop_all_others(
    people: Cast, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    claiming_limit = claiming.MAX_ATTEMPTS
    monkeypatch.setattr(claiming, "MAX_ATTEMPTS", 10**6)
    monkeypatch.setattr(execution, "TURN_SECONDS", 2.0)
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(10), strict=False)]
    break_on(monkeypatch, asked[:1])
    while Query.objects.get(pk=asked[0].pk).attempts <= claiming_limit:
        execution.run(contract.pk)
    assert {state(query) for query in asked} == {"waiting"}
    figure(row=17, n=10, mutant="without a limit of attempts: tried again for ever, 0 of 9 others served, caught")


def test_a_failure_is_told_on_the_chain_by_its_code_alone(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    break_on(monkeypatch, [query])
    execution.run(contract.pk)
    event = AuditEvent.objects.get(kind="query.failed")
    assert event.query == query.uid and b'"data":{"code":"failed_twice"}' in bytes(event.body)


def test_a_fault_of_ours_while_settling_rings_again_and_ends_after_two(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what no engine seals: the run ends with the error, a bell brings the next, and the question at fault fails."""
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(5), strict=False)]
    rung: list[int] = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: rung.append(row_id))
    event = recording._event

    def faulty(each: Any) -> Any:
        if each.verdict.pending.id == asked[2].pk:
            raise ZeroDivisionError
        return event(each)

    monkeypatch.setattr(recording, "_event", faulty)
    rung.append(contract.pk)
    while rung:
        try:
            execution.run(rung.pop())
        except ZeroDivisionError:
            assert rung == [contract.pk]
    assert [state(query) for query in asked] == ["answered", "answered", "failed", "answered", "answered"]
    check_books(contract)


def test_an_exact_count_reaches_no_table_no_log_and_no_error(
    people: Cast,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    application_connection: psycopg.Connection[Any],
) -> None:
    """A canary of nine digits through every way a question can go, failures on the way included."""
    monkeypatch.setattr(Opened, "count", lambda self, asked: [CANARY] * len(asked))
    told: list[str] = []
    with caplog.at_level(logging.DEBUG), CaptureQueriesContext(connection) as statements:
        for contract in _every_way(people):
            for place in ("after_read", "after_draw", "before_commit", ""):
                monkeypatch.setattr(failpoints, "reach", once(place, _break))
                told += _run_and_hear(contract)
            check_books(contract)
    assert {"answered", "partial", "declined"} <= set(Query.objects.values_list("state", flat=True))
    said = [statement["sql"] for statement in statements.captured_queries]
    words = "\n".join([*told, caplog.text, *said, *_all_rows(application_connection)])
    assert "INSERT INTO" in words and words.count("ZeroDivisionError('a fault") >= 6
    assert str(CANARY) not in words
    if is_embedded():
        assert not _write_ahead_log_has(load(VAR))


def _every_way(people: Cast) -> list[Contract]:
    ample = make_contract(people, rows=ROWS, xi="0.2", rho_d=units(TINY))
    ask(people.alice, ample, WOMEN, rho=TINY)
    ask(people.bob, ample, WOMEN, rho=TINY)
    ask(people.bob, ample, group_by=[{"column": "sex"}], rho=TINY)
    ask(people.bob, ample, WOMEN, relative="0.1")
    scarce = make_contract(people, ample.version, rho_total="0.0000000002", xi="0.2", rho_d=units(TINY), kappa="0.001")
    ask(people.alice, scarce, WOMEN, within=1)
    ask(people.bob, scarce, within=1, under_scarcity="all_or_nothing")
    return [ample, scarce]


def _break() -> None:
    raise ZeroDivisionError("a fault on the way")


def _run_and_hear(contract: Contract) -> list[str]:
    claiming.give_back(Query.objects.filter(contract=contract).values_list("pk", flat=True))
    try:
        execution.run(contract.pk)
    except ZeroDivisionError as error:
        return [repr(error), *(str(frame) for frame in _frames(error))]
    return []


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """The local variables of every frame, as an error reporter would send them."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append(dict(trace.tb_frame.f_locals))
        trace = trace.tb_next
    return found


def _all_rows(application: psycopg.Connection[Any]) -> list[str]:
    """Every value of every table, those of the message queue included."""
    names = application.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'pgmq')").fetchall()
    tables = [application.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*name))).fetchall() for name in names]
    return [_text(value) for table in tables for row in table for value in row]


def _text(value: object) -> str:
    return bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | memoryview) else str(value)


def _write_ahead_log_has(cluster: Cluster) -> bool:
    signs = (str(CANARY).encode(), CANARY.to_bytes(8, "little"), CANARY.to_bytes(8, "big"))
    logs = [each.read_bytes() for each in (cluster.data / "pg_wal").iterdir() if each.is_file()]
    assert any(b"query.decided" in log for log in logs)
    return any(sign in log for log in logs for sign in signs)
