"""Telling a database that is busy or away from a question that cannot be served: only the latter should cost it an attempt."""

from collections.abc import Callable
from time import sleep

import psycopg.errors
from django.db import InterfaceError, OperationalError, connection

BUSY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
LOCK_SECONDS = 5
PATIENCE = (0.0, 0.5, 1.0, 2.0, 4.0)  # seconds between looks whether the database is back


def bound_lock_waits() -> None:
    """Wait at most some seconds for each lock of this transaction; a worker has other contracts to serve."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")


def is_outage(error: OperationalError | InterfaceError) -> bool:
    """Say whether the database was busy (a lock not granted) or the connection to it is lost."""
    return isinstance(error.__cause__, BUSY) or not connection.is_usable()


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
