"""Frozen dataset versions as the worker uses them; they never change, so what follows from one is worked out once per process."""

from dataclasses import dataclass

from curator.mechanism.region import Region, descriptor_digest
from curator.mechanism.schema import Schema
from curator.models import DatasetVersion, Query

AGGREGATE = Query.Aggregate.COUNT.value  # of every descriptor: a histogram is a set of counts

_known: dict[str, "Version"] = {}


@dataclass(frozen=True, slots=True)
class Version:
    """A version's public schema, and the descriptor of all its records, whose diagnostic is the size of the population."""

    uid: str
    schema: Schema
    everybody: Region
    everybody_digest: str
    has_person_column: bool
    k: int
    table: str  # what a question's FROM calls it


def known(row: DatasetVersion) -> Version:
    """What there is to know of a version, remembered by its random uid."""
    uid = str(row.uid)
    if uid not in _known:
        _known[uid] = _version(uid, row)
    return _known[uid]


def _version(uid: str, row: DatasetVersion) -> Version:
    schema = Schema.from_json(row.schema)
    everybody = Region.full(schema)
    digest = descriptor_digest(uid, AGGREGATE, everybody)
    return Version(uid, schema, everybody, digest, has_person_column=bool(row.person_column), k=row.k, table=row.table)
