"""The queue's transport with a shorter breath.

Celery's blocking loop acknowledges finished tasks only between two waits for messages, and waits up to two seconds: with every
process's place taken, the next doorbell would be picked up that late (seen: a burst of 30 took 5 s; with this, well under one).
"""

from typing import Any

from kombu.transport import pgmq

LONGEST_WAIT = 0.05  # seconds; a NOTIFY still ends the wait at once


class Transport(pgmq.Transport):
    """kombu's `pgmq` transport, waiting at most `LONGEST_WAIT` at a time."""

    def drain_events(self, connection: Any, timeout: float | None = None, **options: Any) -> None:
        """Deliver the next messages, or raise `socket.timeout` after `timeout` seconds and `LONGEST_WAIT` at most."""
        super().drain_events(connection, timeout=timeout if timeout is None else min(timeout, LONGEST_WAIT), **options)
