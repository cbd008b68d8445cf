"""Turns at hashing a password for somebody who is nobody yet: more at once serve nobody sooner, and could flood the site."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from curator.mechanism.errors import TooMany

HASHING = threading.BoundedSemaphore(2)  # each takes 100 MB and a core
PATIENCE = 2.0  # seconds that somebody waits for a turn


@contextmanager
def turn() -> Iterator[None]:
    """A turn for the block, or TooMany; `wait` is in how many seconds to come back."""
    if not HASHING.acquire(timeout=PATIENCE):
        raise TooMany("too_many_requests", "Many people sign in at this moment: try again in a few seconds.", wait=5)
    try:
        yield
    finally:
        HASHING.release()
