"""Exact counts of distinct persons in many regions at once: the one thing that the engine offers.

They leave wrapped so that only the draw of noise can unwrap them. What is opened or kept in memory belongs to the process that
opened it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from curator.engine import files
from curator.engine.backends import OPENERS
from curator.engine.opened import Opened
from curator.engine.sealing import sealed
from curator.mechanism.noise import ExactCount
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

KEPT_VERSIONS = 8


@dataclass(frozen=True, slots=True)
class VersionFile:
    """A frozen version: `person` says whether it tells persons apart, `k` how many records one may have."""

    uid: str
    schema: Schema
    person: bool
    k: int


_opened: dict[tuple[int, str], Opened] = {}


@sealed("count_failed")
def count(version: VersionFile, regions: Sequence[Region]) -> list[ExactCount]:
    """Distinct persons with a record in each region, in the order of `regions`; any failure is EngineFailed, without a value."""
    return [ExactCount(number) for number in _open(version).count(regions)]


def _open(version: VersionFile) -> Opened:
    key = (os.getpid(), version.uid)
    if (known := _opened.get(key)) is not None:
        return known
    for stale in [other for other in _opened if other[0] != key[0]]:  # our parent's: of no use after a fork
        del _opened[stale]
    while len(_opened) >= KEPT_VERSIONS:
        del _opened[next(iter(_opened))]
    source = OPENERS[settings.ENGINE](files.checked(version.uid))
    made = _opened[key] = Opened(source, version.schema, several=version.person and version.k > 1)
    return made
