"""The doorbell travels: from this process through the broker to a real prefork worker, by ids alone."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from kombu.exceptions import OperationalError

from rdp_site.celery import app
from rdp_site.connections import broker_conninfo
from rdp_site.environment import ROOT
from rdp_site.places import free_port
from tests.fixtures.worker import Worker

BELLS = "tests.site.doorbell"
StartWorker = Callable[..., Worker]


def ring_all(numbers: range) -> None:
    for number in numbers:
        app.send_task("tests.ring", args=[number])


def test_tasks_travel_through_the_same_database(start_worker: StartWorker) -> None:
    worker = start_worker(include=BELLS)
    ring_all(range(20))
    for number in range(20):
        worker.wait_for(f"rung {number} ")
    processes = set(re.findall(r"rung \d+ in (\d+)", worker.log))
    assert str(worker.process.pid) not in processes, "tasks run in forked children"
    assert worker.stop() == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT queue_length FROM pgmq.metrics('celery')")
        assert cursor.fetchone() == (0,), "acknowledged, every one"


def test_a_message_carries_the_task_and_its_ids_only(db: None) -> None:
    app.send_task("tests.ring", args=[7])
    with connection.cursor() as cursor:
        cursor.execute("SELECT message->'headers' FROM pgmq.q_celery")
        ((headers,),) = cursor.fetchall()
    assert '"tests.ring"' in headers
    assert '"argsrepr": "[7]"' in headers
    assert os.uname().nodename not in headers.replace(f'"origin": "gen{os.getpid()}@{os.uname().nodename}"', "")


def test_bells_rung_before_the_worker_wakes_are_heard(db: None, start_worker: StartWorker) -> None:
    ring_all(range(3))
    worker = start_worker(include=BELLS)
    for number in range(3):
        worker.wait_for(f"rung {number} ")


def test_a_worker_survives_the_loss_of_all_its_connections(
    start_worker: StartWorker, application_connection: psycopg.Connection[Any]
) -> None:
    worker = start_worker(include=BELLS)
    ring_all(range(1))
    worker.wait_for("rung 0 ")
    application_connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
    )
    connection.close()
    from tests.databases import close_everything

    close_everything()  # ours were among them
    ring_all(range(1, 2))
    worker.wait_for("rung 1 ")


def test_a_bell_that_cannot_be_rung_is_an_error_soon(db: None) -> None:
    nowhere = dict(settings.DATABASES["default"], HOST="127.0.0.1", PORT=str(free_port()), OPTIONS={})
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS | {"conn_string": broker_conninfo(nowhere)}
    with app.connection_for_write(transport_options=options) as broken, pytest.raises((OperationalError, psycopg.Error)):
        app.send_task("tests.ring", args=[1], connection=broken)


@pytest.fixture
def redis_url() -> Iterator[str]:
    """A Redis server of this test's own."""
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("RDP_REQUIRE_REDIS"):
            pytest.fail("no redis-server found")
        pytest.skip("no redis-server found")
    with tempfile.TemporaryDirectory() as folder:
        port = str(free_port())
        words = [program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        assert any("Ready to accept" in line for line in server.stdout)
        drain = threading.Thread(target=server.stdout.read)
        drain.start()
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()
        server.wait()
        drain.join()


def test_tasks_travel_through_redis_where_one_is_named(
    redis_url: str, start_worker: StartWorker, database_env: dict[str, str]
) -> None:
    worker = start_worker(include=BELLS, CELERY_BROKER_URL=redis_url)
    code = "from rdp_site.celery import app; print(app.send_task('tests.ring', args=[5]).id)"
    env = database_env | {"CELERY_BROKER_URL": redis_url}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)
    worker.wait_for("rung 5 ")


@pytest.mark.parametrize("value", ["plain", "with space", "qu'ote", "back\\slash", "' host='elsewhere", "a=b c=d", "ü"])
def test_any_password_and_folder_reach_the_broker_as_they_are(value: str) -> None:
    """The queue's client takes the text apart and joins it again without quotes; what arrives must be what was meant."""
    from pgmq.base import PGMQConfig
    from psycopg.conninfo import conninfo_to_dict

    database = {"HOST": f"/tmp/{value}", "PORT": "5432", "NAME": value, "USER": value, "PASSWORD": value}
    config = PGMQConfig(conn_string=broker_conninfo(database), init_extension=False)
    assert conninfo_to_dict(config.dsn) == {
        "host": f"/tmp/{value}", "port": "5432", "dbname": value, "user": value, "password": value,
    }  # fmt: skip


def test_the_transport_is_found_by_the_default_settings() -> None:
    assert app.connection_for_write().transport_cls == "rdp_site.broker:Transport"
    assert Path(ROOT / "rdp_site" / "broker.py").exists()
