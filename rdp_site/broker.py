"""The queue's transport with a shorter breath, and connections to it that are tried again sooner.

Celery's blocking loop acknowledges finished tasks only between two waits for messages, and waits up to two seconds: with every
process's place taken, the next doorbell would be picked up that late (seen: a burst of 30 took 5 s; with this, well under one).
And a worker whose broker was away tries again after 2, 4, 6, … 30 seconds: a database that comes back in one would be missed for
half a minute. No setting changes either.
"""

from typing import Any

from celery.app.amqp import AMQP
from kombu.connection import Connection
from kombu.transport import pgmq

LONGEST_WAIT = 0.05  # seconds; a NOTIFY still ends the wait at once
RETRY = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2.0}  # seconds


class Transport(pgmq.Transport):
    """kombu's `pgmq` transport, waiting at most `LONGEST_WAIT` at a time."""

    def drain_events(self, connection: Any, timeout: float | None = None, **options: Any) -> None:
        """Deliver the next messages, or raise `socket.timeout` after `timeout` seconds and `LONGEST_WAIT` at most."""
        super().drain_events(connection, timeout=timeout if timeout is None else min(timeout, LONGEST_WAIT), **options)


class EagerConnection(Connection):
    """A connection that is tried again every two seconds at the latest."""

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        """Connect, trying again until it succeeds or `max_retries` are used up."""
        return super().ensure_connection(*args, **{**options, **RETRY})


class Amqp(AMQP):  # type: ignore[misc]  # Celery brings no types
    """Celery's view of the broker, with these connections."""

    Connection = EagerConnection
