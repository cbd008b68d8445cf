"""Step 2 of a run: exact counts from the frozen versions, outside any transaction.

However long that takes, and whether it succeeds: it ends on a publishing tick, before anything that others can see happens.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from curator import ticks
from curator.engine import counts
from curator.mechanism.noise import ExactCount
from curator.mechanism.region import Region
from curator.services.pending import Batch
from curator.services.versions import Version


def read(batch: Batch, digests: Iterable[tuple[int, str]]) -> dict[str, ExactCount]:
    """Exact counts of descriptors, each given with its version's row id. EngineFailed if the engine fails."""
    wanted: Mapping[int, dict[str, Region]] = defaultdict(dict)
    for version_id, digest in digests:
        version = batch.versions[version_id]
        wanted[version_id][digest] = _region(batch, version, digest)
    if not wanted:
        return {}
    with ticks.paced():
        return _count(batch, wanted)


def _count(batch: Batch, wanted: Mapping[int, dict[str, Region]]) -> dict[str, ExactCount]:
    found: dict[str, ExactCount] = {}
    for version_id, regions in wanted.items():
        exact = counts.count(_file(batch.versions[version_id]), list(regions.values()))
        found |= zip(regions, exact, strict=True)
    return found


def _region(batch: Batch, version: Version, digest: str) -> Region:
    if digest == version.everybody_digest:
        return version.everybody
    return Region.from_bytes(version.schema, batch.regions[digest])


def _file(version: Version) -> counts.VersionFile:
    return counts.VersionFile(uid=version.uid, schema=version.schema, person=version.has_person_column, k=version.k)
