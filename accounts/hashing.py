"""Turns at hashing a password: more at once serve nobody sooner, and could flood the site.

One takes a turn before any row is locked, and never a second one within it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import make_password

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


def hashed(password: str) -> str:
    """The hash of a password as a row keeps it, made in a turn; TooMany."""
    with turn():
        return make_password(password)
