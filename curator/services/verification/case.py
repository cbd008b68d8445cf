"""One event about a question and all it is compared with; what decisions and diagnostics have in common: charge and releases."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from curator.mechanism import noise
from curator.mechanism.rho import UNITS_PER_RHO, Units
from curator.models import LedgerEntry, Query, Release
from curator.services.verification.asking import Asked
from curator.services.verification.chain import Entry
from curator.services.verification.difference import present, require, same
from curator.services.verification.rows import Books, Rows, place_of
from curator.services.verification.state import State
from curator.services.versions import Version


@dataclass(frozen=True, slots=True)
class Case:
    """An event, the question it is about, and what is known before it."""

    entry: Entry
    asked: Asked
    query: Query
    state: State
    rows: Rows
    books: Books

    @property
    def version(self) -> Version:
        """The dataset version that the question is asked of."""
        return self.books.version_of(self.asked.version, self.entry.place)

    def check_ledger(self, *, account: str, load: Units, before: Units) -> None:
        """Exactly one ledger entry for an event that charges, none for one that does not."""
        entries = self.rows.ledger.get(self.entry.seq, [])
        same(self.entry.place, "number of ledger entries", len(entries), 1 if load else 0)
        for row in entries:
            self._check_entry(row, account=account, load=load, before=before)
            self.books.account_for(row)

    def _check_entry(self, row: LedgerEntry, *, account: str, load: Units, before: Units) -> None:
        expected = {
            "account": account, "load": load, "quota": load, "balance_before": before, "balance_after": before + load,
            "analyst_id": self.query.analyst_id, "query_id": self.query.pk,
        }  # fmt: skip
        for name, value in expected.items():
            same(place_of(row), name, getattr(row, name), value)

    def check_release(self, place: str, line: dict[str, Any], *, account: str, rho: Units, digest: str) -> Release:
        """A release row against the event that published it; its noise cost no more than was charged."""
        row: Release = present(self.rows.releases.get(line["release"]), place, f"there is no release {line['release']}")
        name = place_of(row)
        version_id, region = present(self.books.descriptors.get(digest), name, "its descriptor is missing")
        expected = {
            "account": account, "rho": rho, "value": line["value"], "scale": line["scale"], "descriptor_id": digest,
            "contract_id": self.books.contract.pk, "version_id": version_id, "query_id": self.query.pk,
        }  # fmt: skip
        for column, value in expected.items():
            same(name, column, getattr(row, column), value)
        require(bytes(row.region) == region, name, "its region is not the one of its descriptor")
        require(_cost(row.scale) <= Fraction(rho, UNITS_PER_RHO), name, "noise of this scale costs more than was charged")
        self.books.account_for(row)
        return row


@lru_cache(maxsize=10_000)
def _cost(scale: str) -> Fraction:
    return noise.cost(float(scale))
