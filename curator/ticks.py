"""The publishing tick: when something was finished says hardly anything about how long the records took to count.

What reads records runs inside `paced`, which ends a whole slot after it began, on the next beat of the clock: a slot is one tick,
or two, four, … for what takes longer, up to the largest slot that fits PARTS times into a task's longest time; beyond it, a
whole number of those. So while counting is quicker than a tick, the moment of an answer depends on the moment it was begun
alone, wherever in a tick that was; counts of any length have few possible moments; and none is held much longer than it takes,
whereas doubling for ever would hold one that takes half of the limit until the limit ends it. Published times (`now`) are those
beats. RDP_TICK_MS = 0 switches both off.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import ceil, floor, log2

from django.conf import settings

PARTS = 32  # of a task's longest time: what the largest slot is one of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """The latest beat: what is written down as the time of anything that others are shown."""
    at = datetime.now(UTC)
    tick = timedelta(milliseconds=settings.TICK_MS)
    return at - (at - _EPOCH) % tick if tick else at


@contextmanager
def paced() -> Iterator[None]:
    """Do what may take as long as the records make it take; it ends, well or badly, on a beat."""
    tick = settings.TICK_MS / 1000
    began, wall = time.monotonic(), time.time()
    try:
        yield
    finally:
        if tick:
            # Measured by a clock that nobody sets; the wall clock, read before anything was counted, only gives the beat.
            time.sleep(max(0.0, began + length(time.monotonic() - began, wall, tick) - time.monotonic()))


def length(taken: float, wall: float, tick: float) -> float:
    """Seconds that a stretch lasts in all which began at `wall` and was busy for `taken`: its slot, then up to the next beat."""
    slot = tick * 2 ** max(0, ceil(log2(taken / tick))) if taken > 0 else tick
    largest = tick * 2 ** max(0, floor(log2(settings.TASK_SECONDS / PARTS / tick)))
    if slot > largest:
        slot = largest * ceil(taken / largest)
    return slot + -(wall + slot) % tick
