"""One decision, made again from the chain alone, against its event, its row, its charge, its releases and its answers."""

from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any
from uuid import UUID

from curator.mechanism import accuracy, controller, noise
from curator.mechanism.rho import UNITS_PER_RHO, Units
from curator.models import Answer, LedgerEntry, Query, Release
from curator.services import deciding
from curator.services.deciding import Part, Verdict
from curator.services.pending import Cell, Pending
from curator.services.standing import Credit
from curator.services.verification.asking import Asked, end, query_of
from curator.services.verification.chain import Entry
from curator.services.verification.difference import Difference, present, require, same
from curator.services.verification.rows import Books, Rows, place_of
from curator.services.verification.state import State

ME = 0  # the number of the one analyst whose purse a decision looks at
STATES = {"reuse": "answered", "measure": "answered", "partial": "partial", "decline": "declined"}


def decide(entry: Entry, asked: Asked, state: State, rows: Rows, books: Books) -> None:
    """Check a decision and everything that was written with it, then move the state forward by it."""
    verdict = _again(entry, asked, state, books)
    _check_event(entry, verdict, state)
    query = query_of(entry, rows)
    end(entry, asked, rows, STATES[verdict.kind])
    _check_decision_row(entry, query, rows, books)
    check_ledger(entry, rows, books, account=Release.Account.ANS, analyst=asked.analyst, load=verdict.load, before=state.spent)
    state.spent += verdict.load
    state.purse(asked.analyst).spent += verdict.quota
    _check_bins(entry, asked, verdict, query, state, rows, books)


def _again(entry: Entry, asked: Asked, state: State, books: Books) -> Verdict:
    """The decision from public state; just after a contract's last day, whichever of the two that was made."""
    verdicts = [_consider(entry.place, asked, state, books, is_open=is_open) for is_open in state.openness(entry.at)]
    told = (entry.data["kind"], entry.data["available"])
    return next((each for each in verdicts if (each.kind, each.limit.units) == told), verdicts[0])


def _consider(place: str, asked: Asked, state: State, books: Books, *, is_open: bool) -> Verdict:
    cells = tuple(
        Cell(place, digest, rho_min) for place, (digest, rho_min) in enumerate(zip(asked.bins, asked.rho_min, strict=True))
    )
    pending = Pending(
        id=0, uid=UUID(int=0), analyst_id=ME, analyst=asked.analyst, version_id=0, target=asked.target,
        under_scarcity=asked.under_scarcity, cells=cells,
    )  # fmt: skip
    version = books.version_of(asked.version, place)
    verdict = deciding.consider(pending, version, state.standing(asked.analyst, ME, is_open=is_open), insist=True)
    if not isinstance(verdict, Verdict):
        raise Difference(f"{place}: it cannot be decided with what was known")
    return verdict


def _check_event(entry: Entry, verdict: Verdict, state: State) -> None:
    mu = verdict.terms.mu
    expected = {
        "analyst": verdict.pending.analyst, "kind": verdict.kind, "regime": verdict.regime, "reason": verdict.reason,
        "available": verdict.limit.units, "limit": verdict.limit.reason, "mu": f"{mu.numerator}/{mu.denominator}",
        "k": verdict.terms.k, "under_scarcity": verdict.pending.under_scarcity.value, "load": verdict.load,
        "quota": verdict.quota, "unweighed": list(verdict.unweighed), "spent_before": state.spent,
        "spent_after": state.spent + verdict.load,
    }  # fmt: skip
    for name, value in expected.items():
        same(entry.place, name, entry.data[name], value)
    amounts = [part.rho_new for part in verdict.parts]
    same(entry.place, "load", entry.data["load"], controller.cost(amounts, verdict.terms.k))


def _check_decision_row(entry: Entry, query: Query, rows: Rows, books: Books) -> None:
    row = present(rows.decisions.get(query.pk), entry.place, f"question {query.pk} has no decision row")
    place = place_of(row)
    names = ("kind", "regime", "reason", "available", "limit", "mu", "k", "load", "quota", "spent_before", "spent_after")
    for name in names:
        same(place, name, getattr(row, name), entry.data[name])
    _same_event(place, entry, seq=row.event_seq, head=row.head, at=row.decided_at)
    books.account_for(row)


def _same_event(place: str, entry: Entry, *, seq: int, head: str, at: datetime) -> None:
    same(place, "event_seq", seq, entry.seq)
    same(place, "head", head, entry.head)
    require(at == entry.at, place, f"decided_at is {at.isoformat()}, its event is of {entry.at.isoformat()}")


def check_ledger(
    entry: Entry, rows: Rows, books: Books, *, account: str, analyst: str, load: Units, before: Units
) -> None:  # fmt: skip
    """Exactly one ledger entry for an event that charges, none for one that does not."""
    entries = rows.ledger.get(entry.seq, [])
    same(entry.place, "number of ledger entries", len(entries), 1 if load else 0)
    for row in entries:
        _check_entry(row, query=entry.query, account=account, analyst=analyst, load=load, before=before)
        books.account_for(row)


def _check_entry(row: LedgerEntry, *, query: str | None, account: str, analyst: str, load: Units, before: Units) -> None:
    place = place_of(row)
    expected = {"account": account, "load": load, "quota": load, "balance_before": before, "balance_after": before + load}
    for name, value in expected.items():
        same(place, name, getattr(row, name), value)
    same(place, "analyst", row.analyst.username, analyst)
    same(place, "query", str(row.query.uid), query)


def _check_bins(entry: Entry, asked: Asked, verdict: Verdict, query: Query, state: State, rows: Rows, books: Books) -> None:
    parts = {part.cell.position: part for part in verdict.parts}
    answers = rows.answers.get(query.pk, [])
    same(place_of(query), "number of answers", len(answers), len(asked.bins))
    lines = zip(verdict.pending.cells, entry.data["bins"], answers, strict=True)
    releases = [_check_bin(entry, cell, parts.get(cell.position), line, state, rows, books) for cell, line, _ in lines]
    books.one_group(entry.place, filter(None, releases))
    for cell, answer in zip(verdict.pending.cells, answers, strict=True):
        _check_answer(answer, cell, parts.get(cell.position), asked, state, entry)
        books.account_for(answer)


def _check_bin(
    entry: Entry, cell: Cell, part: Part | None, line: dict[str, Any], state: State, rows: Rows, books: Books
) -> Release | None:
    """One bin of the event against the decision and its release, which is credited."""
    place = f"{entry.place} bin {cell.position}"
    expected = {
        "descriptor": cell.digest, "rho_min": part.rho_min if part else 0, "rho_hist": part.rho_hist if part else 0,
        "rho_new": part.rho_new if part else 0, "met": part.met if part else True,
    }  # fmt: skip
    for name, value in expected.items():
        same(place, name, line[name], value)
    same(place, "weight", Decimal(line["weight"]), part.weight if part else Decimal(1))
    if part is None or not part.rho_new or cell.digest is None:
        same(place, "release", (line["release"], line["value"], line["scale"]), (None, None, None))
        return None
    release = check_release(place, line, rows, books, account=Release.Account.ANS, rho=part.rho_new, digest=cell.digest)
    same(place_of(release), "query", str(release.query.uid) if release.query else None, entry.query)
    state.credits.setdefault(cell.digest, Credit()).add(line["release"], rho=part.rho_new, value=line["value"])
    return release


def check_release(
    place: str, line: dict[str, Any], rows: Rows, books: Books, *, account: str, rho: Units, digest: str
) -> Release:
    """A release row against the event that published it; its noise cost no more than was charged."""
    row = present(rows.releases.get(line["release"]), place, f"there is no release {line['release']}")
    name = place_of(row)
    expected = {"account": account, "rho": rho, "value": line["value"], "scale": line["scale"], "descriptor_id": digest,
                "contract_id": books.contract.pk, "version_id": row.descriptor.version_id}  # fmt: skip
    for column, value in expected.items():
        same(name, column, getattr(row, column), value)
    require(bytes(row.region) == bytes(row.descriptor.region), name, "its region is not the one of its descriptor")
    books.check_descriptor(row.descriptor)
    require(_cost(row.scale) <= Fraction(rho, UNITS_PER_RHO), name, "noise of this scale costs more than was charged")
    books.account_for(row)
    return row


@lru_cache(maxsize=10_000)
def _cost(scale: str) -> Fraction:
    return noise.cost(float(scale))


def _check_answer(answer: Answer, cell: Cell, part: Part | None, asked: Asked, state: State, entry: Entry) -> None:
    place = place_of(answer)
    credit = state.credits.get(cell.digest, Credit()) if cell.digest else Credit()
    expected: dict[str, object] = {
        "position": cell.position, "rho_min": part.rho_min if part else 0, "rho_hist": part.rho_hist if part else 0,
        "weight": part.weight if part else Decimal(1), "rho_new": part.rho_new if part else 0, "met": part.met if part else True,
        "rho_eff": credit.held.rho_hist, "weighted_sum": credit.held.weighted_sum,
        "value": credit.held.shown if part else 0,
        "bound": accuracy.bound_reached(credit.held.rho_hist, asked.target, len(asked.bins)) if part else 0,
        "certificate": [list(each) for each in credit.parts],
    }  # fmt: skip
    for name, value in expected.items():
        same(place, name, getattr(answer, name), value)
    same(place, "release", str(answer.release.uid) if answer.release else None, entry.data["bins"][cell.position]["release"])
