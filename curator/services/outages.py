"""Telling a database that is busy or lost from a question that cannot be served: only the latter costs it an attempt.

A question on which the database is lost may still be the reason (its own backend crashes, or the whole server): it is counted
apart, see `claiming`.
"""

from collections.abc import Callable
from time import sleep

import psycopg
from django.db import InterfaceError, OperationalError, connection
from psycopg import errors

BUSY = (errors.LockNotAvailable, errors.DeadlockDetected)
GOING = (
    errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleSessionTimeout,
    errors.IdleInTransactionSessionTimeout,
)  # fmt: skip
LOCK_SECONDS = 5.0
PATIENCE = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between looks whether the database is back


def bound_lock_waits() -> None:
    """Wait at most some seconds for each lock of this transaction; a worker has other contracts to serve."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{int(LOCK_SECONDS * 1000)}ms"])


def is_busy(error: Exception) -> bool:
    """Say whether a lock was not granted: somebody else's doing, so that nothing is to be counted."""
    return isinstance(error, OperationalError) and isinstance(error.__cause__, BUSY)


def is_outage(error: Exception) -> bool:
    """Say whether the database was lost on the way: going down, not to be reached, or this session ended by it.

    What the server says carries a state; what has none is the client telling that the connection is gone. (To ask the connection
    itself is too late: Django has opened another by the time a transaction's error is caught.)
    """
    cause = error.__cause__
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return isinstance(cause, GOING) or (isinstance(cause, psycopg.Error) and cause.sqlstate is None)


def outlast(action: Callable[[], None]) -> None:
    """Do `action`, on a new connection where the old one is lost, as soon as the database lets us; give up after a while."""
    for pause in PATIENCE:
        sleep(pause)
        try:
            connection.close_if_unusable_or_obsolete()
            action()
            return
        except (OperationalError, InterfaceError):
            connection.close()
