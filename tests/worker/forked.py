"""Children to kill: a server process imports everything once, each child is forked from it in some milliseconds.

The server never counts, draws or connects, so a child inherits no thread, no noise and no connection. (Forking the test's own
process would: Polars' threads do not survive a fork.)
"""

import multiprocessing
import os
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

import django

if __name__ != "__main__":
    django.setup()

from curator import tasks
from curator.services import failpoints
from tests.databases import point_at

KILLED = -9


def context() -> ForkServerContext:
    """Where children come from; the server starts with the first child."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.worker.forked"])
    return made


def start(database: str, contract_id: int, *, die_at: str = "") -> ForkServerProcess:
    """A child that runs the controller of a contract once, and dies at a failpoint where one is named."""
    child = context().Process(target=_run, args=(database, contract_id, die_at))
    child.start()
    return child


def wait(*children: Any) -> list[int | None]:
    """The exit codes of children."""
    for child in children:
        child.join(60)
    return [child.exitcode for child in children]


def _run(database: str, contract_id: int, die_at: str) -> None:
    os.environ[failpoints.VARIABLE] = die_at
    point_at(database)
    tasks.run_controller(contract_id)
