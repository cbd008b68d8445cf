"""The rows that a stretch of a chain speaks of, fetched together; and which rows of a contract the chain has accounted for."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from django.db.models import Model

from accounts.models import User
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
    names: dict[int, str]  # user names by id
    seen: dict[str, set[object]] = field(default_factory=lambda: defaultdict(set))
    descriptors: dict[str, tuple[int, bytes]] = field(default_factory=dict)  # digest → version id and region
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

    def meet(self, digests: Iterable[str | None]) -> None:
        """Look at the descriptors among these that were not looked at before."""
        for row in Descriptor.objects.filter(digest__in={*digests} - self.descriptors.keys() - {None}).order_by("digest"):
            self._check_descriptor(row)
            self.descriptors[row.digest] = row.version_id, bytes(row.region)

    def _check_descriptor(self, row: Descriptor) -> None:
        """A descriptor's key is the digest of its version and region, and its text says the same."""
        place = f"descriptor {row.digest}"
        version = present(self.versions.get(row.version_id), place, "its version is of another dataset")
        with readable(place):
            region = Region.from_bytes(version.schema, bytes(row.region))
            same(place, "digest", row.digest, descriptor_digest(version.uid, row.aggregate, region))
            check_text(place, row.text, region, version)


def open_books(contract: Contract) -> Books:
    """The books of a contract with nothing accounted for."""
    versions = DatasetVersion.objects.filter(dataset_id=contract.dataset_id)
    names = dict(User.objects.values_list("pk", "username"))
    return Books(contract, {row.pk: known(row) for row in versions}, names)


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


def fetch(books: Books, entries: Sequence[Entry]) -> Rows:
    """The rows of a stretch of a contract's chain; the descriptors they name are looked at on the way."""
    uids = {entry.query for entry in entries if entry.query}
    by_uid = {str(row.uid): row for row in Query.objects.filter(uid__in=uids, contract=books.contract)}
    asked, settled = _ids(entries, by_uid, "query.submitted"), _ids(entries, by_uid, "query.decided", "diagnostic.released")
    bins = list(QueryBin.objects.filter(query_id__in=asked).order_by("query_id", "position"))
    answers = Answer.objects.filter(query_id__in=settled).order_by("query_id", "position")
    releases = list(Release.objects.filter(query_id__in=settled).order_by("id"))
    books.meet({*(row.descriptor_id for row in bins), *(row.descriptor_id for row in releases)})
    span = {"contract": books.contract, "event_seq__gte": entries[0].seq, "event_seq__lte": entries[-1].seq}
    return Rows(
        queries=by_uid,
        bins=_grouped((row.query_id, row) for row in bins),
        decisions={row.query_id: row for row in Decision.objects.filter(query_id__in=settled)},
        answers=_grouped((row.query_id, row) for row in answers),
        releases={str(row.uid): row for row in releases},
        ledger=_grouped((row.event_seq, row) for row in LedgerEntry.objects.filter(**span).order_by("id")),
        allotments=_grouped(
            (row.event_seq, row) for row in Allotment.objects.filter(**span).select_related("request").order_by("id")
        ),
    )


def _ids(entries: Iterable[Entry], queries: dict[str, Query], *kinds: str) -> list[int]:
    return [queries[entry.query].pk for entry in entries if entry.kind in kinds and entry.query in queries]


def _grouped(pairs: Iterable[tuple[Key, Row]]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = defaultdict(list)
    for key, row in pairs:
        groups[key].append(row)
    return groups
