"""Children to kill: a server process imports everything once, each child is forked from it in some milliseconds.

The server never counts, draws or connects, so a child inherits no thread, no noise and no connection. (Forking the test's own
process would: Polars' threads do not survive a fork.)
"""

import multiprocessing
import os
import signal
from collections.abc import Iterable, Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess

import django

if multiprocessing.parent_process() is not None or multiprocessing.current_process().name == "MainProcess":
    django.setup()

from django.conf import settings
from django.db import connection

from curator import tasks
from curator.mechanism.noise import ExactCount
from curator.services import claiming, failpoints, reading, recording
from curator.services.drawing import Settled
from curator.services.pending import Batch
from curator.services.standing import Standing
from tests.databases import point_at

KILLED = -signal.SIGKILL


def context() -> ForkServerContext:
    """Where children come from; the server starts with the first child."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["__main__", "tests.worker.forked", "pandas"])  # Ibis imports pandas at the first count
    return made


def start(
    database: str, contract_id: int, *, die_at: str = "", poison: str = "", silence: float | None = None, in_two: bool = False
) -> ForkServerProcess:
    """A child that runs the controller of a contract once.

    `die_at`: a failpoint, see there for what may happen at it; `poison`: it dies where it counts this descriptor; `silence`:
    seconds after which the database ends its session if nothing is heard of it; `in_two`: what it settles is committed in two
    parts, as nobody should.
    """
    child = context().Process(target=_run, args=(database, contract_id, die_at, poison, silence, in_two))
    child.start()
    return child


def wait(*children: ForkServerProcess) -> list[int | None]:
    """The exit codes of children."""
    for child in children:
        child.join(60)
    return [child.exitcode for child in children]


def _run(database: str, contract_id: int, die_at: str, poison: str, silence: float | None, in_two: bool) -> None:
    os.environ[failpoints.VARIABLE] = die_at
    if silence is not None:
        settings.TASK_SECONDS, claiming.SILENCE = silence, 0
    if in_two:
        _commit_in_two()
    read = reading.read

    def die_of(batch: Batch, digests: Iterable[tuple[int, str]]) -> dict[str, ExactCount]:
        wanted = list(digests)
        if poison in [digest for _, digest in wanted]:
            failpoints.happen("")
        return read(batch, wanted)

    reading.read = die_of
    point_at(database)
    tasks.run_controller(contract_id)


def _commit_in_two() -> None:
    totals = recording._totals

    def committed(now: Standing, settled: Sequence[Settled]) -> None:
        totals(now, settled)
        with connection.cursor() as cursor:
            cursor.execute("COMMIT; BEGIN")

    recording._totals = committed
