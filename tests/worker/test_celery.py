"""The whole way through a real worker: a bell, a process, a row; and what happens when bells are lost or doubled."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import psycopg
import pytest
from django.conf import settings

from curator import queue, tasks
from curator.mechanism import rho
from curator.models import Contract, LedgerEntry, Query, Release
from rdp_site.celery import app
from tests.cast import ROWS, Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.fixtures.worker import Worker
from tests.worker.scene import MEN, WOMEN, answer, ask, check_books, is_final, places, state, until

pytestmark = pytest.mark.django_db

Start = Callable[..., Worker]


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


def test_the_papers_example_goes_through_the_worker(people: Cast, contract: Contract, worker: Worker) -> None:
    first = ask(people.alice, contract, WOMEN, rho="0.7")
    until(lambda: is_final(first), what=lambda: worker.log)
    second = ask(people.bob, contract, WOMEN, rho="1")
    until(lambda: is_final(second), what=lambda: worker.log)
    assert [rho.text(entry.load) for entry in LedgerEntry.objects.order_by("id")] == ["0.7", "0.3"]
    assert answer(second).rho_eff == rho.parse("1", field="rho")
    check_books(contract)


def test_a_lost_bell_costs_a_delay_until_the_sweep(
    people: Cast, contract: Contract, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(queue, "_send", lambda task, row_id: None)
        lost = ask(people.alice, contract, WOMEN)
    assert state(lost) == "waiting"
    app.send_task(queue.SWEEP)
    until(lambda: is_final(lost), what=lambda: worker.log)


def test_doubled_bells_make_one_answer(people: Cast, contract: Contract, start_worker: Start) -> None:
    worker = start_worker(concurrency=2)
    asked = [ask(people.alice, contract, where, rho="0.01") for where, _ in zip(places(), range(5), strict=False)]
    for _ in range(5):
        tasks.run_controller.delay(contract.pk)
    until(lambda: is_final(*asked), what=lambda: worker.log)
    assert Release.objects.count() == LedgerEntry.objects.count() == 5
    check_books(contract)


@pytest.mark.trust
def test_a_broker_emptied_while_it_is_busy_delays_and_doubles_nothing(
    people: Cast, contract: Contract, start_worker: Start, application_connection: psycopg.Connection[Any], figure: Figure
) -> None:
    """Every message is thrown away again and again while questions arrive, others come five times; then one sweep."""
    worker = start_worker(concurrency=2)
    asked = []
    for number, where in zip(range(60), places(), strict=False):
        asked.append(ask(people.alice, contract, where, rho="0.001"))
        if number % 3 == 0:
            application_connection.execute("SELECT pgmq.purge_queue(queue_name) FROM pgmq.meta")
        if number % 10 == 0:
            for _ in range(5):
                tasks.run_controller.delay(contract.pk)
    application_connection.execute("SELECT pgmq.purge_queue(queue_name) FROM pgmq.meta")
    app.send_task(queue.SWEEP)
    until(lambda: is_final(*asked), what=lambda: worker.log)
    assert Release.objects.count() == LedgerEntry.objects.count() == 60
    check_books(contract)
    figure(row=17, n=60, seen="broker emptied 21 times in mid-load, 30 doubled messages: stuck 0, doubled 0")


def test_several_contracts_side_by_side(people: Cast, contract: Contract, start_worker: Start) -> None:
    other = make_contract(people, contract.version)
    worker = start_worker(concurrency=2)
    some = list(zip(places(), range(20), strict=False))
    asked = [ask(people.alice, each, where, rho="0.001") for where, _ in some for each in (contract, other)]
    until(lambda: is_final(*asked), what=lambda: worker.log)
    for each in (contract, other):
        check_books(each)


@pytest.mark.parametrize("place", ["after_claim", "before_commit", "before_ack"])
def test_a_whole_worker_killed_on_the_way_is_made_good_by_the_next(
    people: Cast, contract: Contract, start_worker: Start, place: str
) -> None:
    """Its child dies at the failpoint, then the rest of it is killed, as a machine that goes down."""
    doomed = start_worker(concurrency=1, RDP_FAILPOINT=place)
    query = ask(people.alice, contract, WOMEN)
    until(lambda: Query.objects.get(pk=query.pk).attempts == 1, what=lambda: doomed.log)
    until(lambda: "WorkerLost" in doomed.log or "exited" in doomed.log, what=lambda: doomed.log)
    doomed.kill()
    check_books(contract)
    seen = list(Release.objects.values_list("value", flat=True))
    worker = start_worker(concurrency=1)
    app.send_task(queue.SWEEP)
    until(lambda: is_final(query), what=lambda: worker.log)
    assert list(Release.objects.values_list("value", flat=True))[: len(seen)] == seen
    assert Release.objects.count() == LedgerEntry.objects.count() == 1
    check_books(contract)


@pytest.fixture
def redis_url() -> Iterator[str]:
    """A Redis of this test's own."""
    program = shutil.which("redis-server")
    if program is None or find_spec("redis") is None:
        pytest.skip("no redis-server, or no Python client for it, on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until(lambda: _listens(port))
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_redis_serves_as_the_broker_too(
    people: Cast, contract: Contract, start_worker: Start, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = start_worker(concurrency=1, CELERY_BROKER_URL=redis_url)
    monkeypatch.setattr(queue, "_send", lambda task, row_id: _send_by(redis_url, task, row_id))
    asked = [ask(people.alice, contract, WOMEN), ask(people.bob, contract, MEN)]
    until(lambda: is_final(*asked), what=lambda: worker.log)
    check_books(contract)


def _send_by(url: str, task: str, row_id: int) -> None:
    from celery import Celery

    Celery(broker=url, set_as_current=False).send_task(task, args=[row_id])


def test_tasks_carry_one_id_and_keep_no_result() -> None:
    assert settings.CELERY_TASK_IGNORE_RESULT
    assert tasks.run_controller.acks_late and tasks.freeze_upload.acks_late
