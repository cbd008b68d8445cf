"""Included by a worker under test: one region is poison to its engine. RDP_POISON says how, RDP_POISON_REGION which (hex)."""

import os
import resource
import signal
from collections.abc import Sequence

from curator.engine.opened import Opened
from curator.mechanism.region import Region

POISON = bytes.fromhex(os.environ.get("RDP_POISON_REGION", ""))
_count = Opened.count


def hang() -> None:
    """A scan that never ends."""
    while True:
        signal.pause()


def memory() -> None:
    """Ask for more memory than the process may have, for as long as this takes."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
    try:
        _kept.append(bytearray(1 << 40))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def abort() -> None:
    """What a library of another language does when it runs out of memory."""
    os.abort()


_kept: list[bytearray] = []
WAYS = {"hang": hang, "memory": memory, "abort": abort}


def _poisoned(self: Opened, regions: Sequence[Region]) -> list[int]:
    if POISON in [region.to_bytes() for region in regions]:
        WAYS[os.environ["RDP_POISON"]]()
    return _count(self, regions)


setattr(Opened, "count", _poisoned)  # noqa: B010  # the type checker takes a method for a constant
