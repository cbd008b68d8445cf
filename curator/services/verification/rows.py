"""The rows that a stretch of a chain speaks of, fetched together; and which rows of a contract the chain has accounted for."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from django.db.models import Model

from curator.mechanism.region import Region, descriptor_digest
from curator.models import (
    Allotment,
    Answer,
    Contract,
    DatasetVersion,
    Decision,
    Descriptor,
    LedgerEntry,
    Query,
    QueryBin,
    Release,
)
from curator.services.verification.chain import Entry
from curator.services.verification.difference import present, readable, require, same
from curator.services.verification.meaning import check_text
from curator.services.versions import Version, known

Key = TypeVar("Key")
Row = TypeVar("Row")


def place_of(row: Model) -> str:
    """How a row is named: its table and primary key."""
    return f"{row._meta.model_name} {row.pk}"


@dataclass(slots=True)
class Books:
    """The rows of one contract that stay at hand, and the primary keys that were accounted for, by table."""

    contract: Contract
    versions: dict[int, Version]
    seen: dict[str, set[object]] = field(default_factory=lambda: defaultdict(set))
    descriptors: set[str] = field(default_factory=set)
    groups: set[UUID] = field(default_factory=set)

    def account_for(self, row: Model) -> None:
        """Note that the chain tells of this row."""
        self.seen[str(row._meta.model_name)].add(row.pk)

    def one_group(self, place: str, releases: Iterable[Release]) -> None:
        """Releases made together were drawn as one set of disjoint bins, and nothing else belongs to it."""
        found = {row.group for row in releases}
        require(len(found) <= 1 and self.groups.isdisjoint(found), place, "its releases are not one group of their own")
        self.groups |= found

    def version_of(self, uid: str, place: str) -> Version:
        """A version of the contract's dataset by its uid."""
        found = next((version for version in self.versions.values() if version.uid == uid), None)
        return present(found, place, "its version is of another dataset")

    def check_descriptor(self, row: Descriptor) -> None:
        """A descriptor's key is the digest of its version and region; looked at once per contract."""
        if row.digest in self.descriptors:
            return
        place = f"descriptor {row.digest}"
        version = present(self.versions.get(row.version_id), place, "its version is of another dataset")
        with readable(place):
            region = Region.from_bytes(version.schema, bytes(row.region))
            same(place, "digest", row.digest, descriptor_digest(version.uid, row.aggregate, region))
            check_text(place, row.text, region, version)
        self.descriptors.add(row.digest)


def open_books(contract: Contract) -> Books:
    """The books of a contract with nothing accounted for."""
    versions = DatasetVersion.objects.filter(dataset_id=contract.dataset_id)
    return Books(contract, {row.pk: known(row) for row in versions})


@dataclass(frozen=True, slots=True)
class Rows:
    """What was written together with some events."""

    queries: dict[str, Query]
    bins: dict[int, list[QueryBin]]
    decisions: dict[int, Decision]
    answers: dict[int, list[Answer]]
    releases: dict[str, Release]
    ledger: dict[int, list[LedgerEntry]]
    allotments: dict[int, list[Allotment]]


def fetch(contract: Contract, entries: Sequence[Entry]) -> Rows:
    """The rows of a stretch of a contract's chain."""
    uids = {entry.query for entry in entries if entry.query}
    queries = Query.objects.filter(uid__in=uids, contract=contract).select_related("analyst", "version")
    by_uid = {str(row.uid): row for row in queries}
    asked, settled = _ids(entries, by_uid, "query.submitted"), _ids(entries, by_uid, "query.decided", "diagnostic.released")
    bins = QueryBin.objects.filter(query_id__in=asked).select_related("descriptor").order_by("query_id", "position")
    answers = Answer.objects.filter(query_id__in=settled).select_related("release").order_by("query_id", "position")
    releases = Release.objects.filter(query_id__in=settled).select_related("descriptor", "query").order_by("id")
    span = {"contract": contract, "event_seq__gte": entries[0].seq, "event_seq__lte": entries[-1].seq}
    return Rows(
        queries=by_uid,
        bins=_grouped((row.query_id, row) for row in bins),
        decisions={row.query_id: row for row in Decision.objects.filter(query_id__in=settled)},
        answers=_grouped((row.query_id, row) for row in answers),
        releases={str(row.uid): row for row in releases},
        ledger=_grouped(
            (row.event_seq, row) for row in LedgerEntry.objects.filter(**span).select_related("analyst", "query").order_by("id")
        ),
        allotments=_grouped(
            (row.event_seq, row)
            for row in Allotment.objects.filter(**span).select_related("analyst", "set_by", "request").order_by("id")
        ),
    )


def _ids(entries: Iterable[Entry], queries: dict[str, Query], *kinds: str) -> list[int]:
    return [queries[entry.query].pk for entry in entries if entry.kind in kinds and entry.query in queries]


def _grouped(pairs: Iterable[tuple[Key, Row]]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = defaultdict(list)
    for key, row in pairs:
        groups[key].append(row)
    return groups
