"""One contract, event by event: which check an event of which kind gets."""

from collections import Counter
from collections.abc import Sequence

from curator.models import Contract, Query
from curator.services.verification.asking import Asked, arrive, end, query_of
from curator.services.verification.case import Case
from curator.services.verification.chain import Entry
from curator.services.verification.deciding import decide
from curator.services.verification.diagnosing import diagnose
from curator.services.verification.difference import readable, require, same
from curator.services.verification.ending import finish
from curator.services.verification.rows import Books, Rows, fetch, open_books, place_of
from curator.services.verification.state import State

CASES = {"query.decided": decide, "diagnostic.released": diagnose}
ENDS = {"query.cancelled": Query.State.CANCELLED, "query.failed": Query.State.FAILED}
#: kinds without a row of their own or a part in any decision
TOLD = {"record.verified", "invitation.made", "invitation.revoked"}


class Check:
    """The verification of one contract, a stretch of its chain at a time."""

    def __init__(self, contract: Contract, checked: Counter[str]) -> None:
        self.checked = checked
        self.books: Books = open_books(contract)
        self.state = State()
        self.asked: dict[str, Asked] = {}

    def stretch(self, entries: Sequence[Entry]) -> None:
        """Check some consecutive events; the rows beside them are fetched together."""
        rows = fetch(self.books, entries)
        for entry in entries:
            with readable(entry.place):
                self._one(entry, rows)
        self.checked["events"] += len(entries)

    def finish(self) -> None:
        """Compare the totals; every row must have been accounted for."""
        require(bool(self.state.state), place_of(self.books.contract), "nothing on the chain tells of it")
        finish(self.state, self.asked, self.books)
        self.checked["contracts"] += 1
        for table, keys in self.books.seen.items():
            self.checked[table] += len(keys)

    def _one(self, entry: Entry, rows: Rows) -> None:
        if self.state.apply(entry):
            self._check_allotment(entry, rows)
            if entry.kind == "contract.reconciled":
                self._check_lost(entry, rows)
        elif entry.kind == "query.submitted":
            self.asked[entry.query or ""] = arrive(entry, rows, self.books)
        elif entry.kind in CASES:
            asked, query = self.asked[entry.query or ""], query_of(entry, rows)
            CASES[entry.kind](Case(entry, asked, query, self.state, rows, self.books))
        elif entry.kind in ENDS:
            end(entry, self.asked[entry.query or ""], query_of(entry, rows), ENDS[entry.kind])
        else:
            require(entry.kind in TOLD, entry.place, "there is no such kind of event")

    def _check_allotment(self, entry: Entry, rows: Rows) -> None:
        """An event that set an allotment has its one row; no other has one."""
        set_here = rows.allotments.get(entry.seq, [])
        same(entry.place, "number of allotment rows", len(set_here), 1 if entry.kind == "allotment.set" else 0)
        for row in set_here:
            place, data = place_of(row), entry.data
            same(place, "rho", row.rho, data["after"])
            same(place, "analyst", self.books.names[row.analyst_id], data["analyst"])
            same(place, "set_by", self.books.names[row.set_by_id], entry.actor)
            same(place, "reason", row.reason, data["reason"])
            same(place, "request", str(row.request.uid) if row.request else None, data["request"])
            self.books.account_for(row)

    def _check_lost(self, entry: Entry, rows: Rows) -> None:
        """Each account that lost something has its one ledger entry, of no question and of nobody."""
        before = {"ans": entry.data["spent_before"], "est": entry.data["est_before"]}
        lost = {account: entry.data[account] for account in before if entry.data[account]}
        entries = rows.ledger.get(entry.seq, [])
        same(entry.place, "accounts in the ledger", sorted(row.account for row in entries), sorted(lost))
        for row in entries:
            place, load = place_of(row), lost[row.account]
            expected = {
                "load": load, "quota": 0, "balance_before": before[row.account], "balance_after": before[row.account] + load,
                "query_id": None, "analyst_id": None,
            }  # fmt: skip
            for name, value in expected.items():
                same(place, name, getattr(row, name), value)
            self.books.account_for(row)
