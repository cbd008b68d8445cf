"""A balance explained: every event that moved it, in order, with running totals that end in the balance that pages show.

Totals before a page are two sums in the database, so that any page costs the same number of queries however long the history is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from accounts.models import User
from curator.mechanism.rho import Units
from curator.models import Allotment, AnalystBudget, AuditEvent, Contract, LedgerEntry
from curator.selectors import event_words
from curator.selectors.paging import cut

ACCOUNTS = {"ans": "answer", "est": "diagnostic"}
SETTINGS = ("contract.opened", "contract.raised")


@dataclass(frozen=True, slots=True)
class Totals:
    """What has been spent up to some event; `limit`: the account of answers, or the analyst's allotment (None: no limit)."""

    spent: Units
    est_spent: Units
    limit: Units | None


@dataclass(frozen=True, slots=True)
class Line:
    """One event that moved the balance: what it was, by how much, and where that leads."""

    seq: int
    at: datetime
    kind: str
    who: str
    why: str
    query: UUID | None
    account: str
    amount: Units | None
    after: Totals


@dataclass(frozen=True, slots=True)
class Balance:
    """One page of an explanation. `shown` is what pages show now; `agrees` once the last line has been reached."""

    contract: Contract
    analyst: str
    analysts: tuple[str, ...]
    before: Totals
    lines: tuple[Line, ...]
    more: str
    first: bool
    shown: Totals

    @property
    def end(self) -> Totals:
        """The running totals after the last line of this page."""
        return self.lines[-1].after if self.lines else self.before

    @property
    def agrees(self) -> bool:
        """Whether the history, all of it, leads to what pages show."""
        return not self.more and self.end == self.shown


def explain(contract: Contract, analyst: User | None, *, after: int = 0, limit: int = 50) -> Balance:
    """The events after place `after` that moved what the contract, or one analyst, has spent and may spend."""
    before = _totals_at(contract, analyst, after)
    moves, more = _whole_events(_moves(contract, analyst, after, limit + 1), limit)
    events = _events(contract, [move.seq for move in moves])
    lines, totals = [], before
    for move in moves:
        totals = move.apply(totals)
        lines.append(_line(move, events[move.seq], totals))
    return Balance(
        contract=contract, analyst=analyst.username if analyst else "", analysts=_analysts(contract), before=before,
        lines=tuple(lines), more=str(moves[-1].seq) if more else "", first=not after, shown=_shown(contract, analyst),
    )  # fmt: skip


def _whole_events(moves: Sequence["Move"], limit: int) -> tuple[Sequence["Move"], bool]:
    """A page never ends inside an event: the next one begins after it."""
    kept, more = cut(moves, limit)
    while more and len(kept) > 1 and kept[-1].seq == moves[limit].seq:
        kept = kept[:-1]
    return kept, more


@dataclass(frozen=True, slots=True)
class Move:
    """A charge (`account` set) or a new limit (`account` empty); `number` orders moves of one event."""

    seq: int
    number: int
    account: str
    amount: Units | None
    why: str = ""

    def apply(self, totals: Totals) -> Totals:
        """The totals after this move."""
        if not self.account:
            return Totals(totals.spent, totals.est_spent, self.amount)
        own = self.account == "ans"
        charge = self.amount or 0
        return Totals(totals.spent + charge * own, totals.est_spent + charge * (not own), totals.limit)


def _moves(contract: Contract, analyst: User | None, after: int, limit: int) -> list[Move]:
    charges = _ledger(contract, analyst).filter(event_seq__gt=after).order_by("event_seq", "id")[:limit]
    found = [
        Move(row.event_seq, 1 + place, row.account, row.load if analyst is None else row.quota)
        for place, row in enumerate(charges)
    ]
    limits = _allotment_moves(contract, analyst, after, limit) if analyst else _total_moves(contract, after, limit)
    return sorted([*found, *limits], key=lambda move: (move.seq, move.number))[:limit]


def _allotment_moves(contract: Contract, analyst: User, after: int, limit: int) -> list[Move]:
    rows = Allotment.objects.filter(contract=contract, analyst=analyst, event_seq__gt=after)
    return [Move(row.event_seq, 0, "", row.rho, row.reason) for row in rows.order_by("event_seq")[:limit]]


def _total_moves(contract: Contract, after: int, limit: int) -> list[Move]:
    rows = AuditEvent.objects.filter(chain=str(contract.uid), kind__in=SETTINGS, seq__gt=after).order_by("seq")[:limit]
    return [Move(row.seq, 0, "", _rho_ans(row), str(_data(row).get("reason", ""))) for row in rows]


def _totals_at(contract: Contract, analyst: User | None, seq: int) -> Totals:
    """The totals after event `seq`, as sums."""
    column = "load" if analyst is None else "quota"
    rows = _ledger(contract, analyst).filter(event_seq__lte=seq).order_by().values("account").annotate(total=Sum(column))
    sums = dict(rows.values_list("account", "total")) if seq else {}
    return Totals(sums.get("ans", 0), sums.get("est", 0), _limit_at(contract, analyst, seq))


def _limit_at(contract: Contract, analyst: User | None, seq: int) -> Units | None:
    if analyst is not None:
        rows = Allotment.objects.filter(contract=contract, analyst=analyst, event_seq__lte=seq).order_by("-event_seq", "-id")
        found = rows.first()
        return found.rho if found else 0
    events = AuditEvent.objects.filter(chain=str(contract.uid), kind__in=SETTINGS, seq__lte=seq).order_by("-seq")
    last = events.first() if seq else None
    return _rho_ans(last) if last else 0


def _shown(contract: Contract, analyst: User | None) -> Totals:
    if analyst is None:
        opened = contract.state != Contract.State.DRAFT and contract.opened_at is not None
        return Totals(contract.spent_bound, contract.est_spent, contract.rho_ans if opened else 0)
    row = AnalystBudget.objects.filter(contract=contract, analyst=analyst).first()
    return Totals(row.spent, row.est_spent, row.allotment) if row else Totals(0, 0, 0)


def _ledger(contract: Contract, analyst: User | None) -> QuerySet[LedgerEntry]:
    wanted = Q(contract=contract) if analyst is None else Q(contract=contract, analyst=analyst)
    return LedgerEntry.objects.filter(wanted)


def _analysts(contract: Contract) -> tuple[str, ...]:
    rows = AnalystBudget.objects.filter(contract=contract).order_by("analyst__username")
    return tuple(rows.values_list("analyst__username", flat=True))


def _events(contract: Contract, places: list[int]) -> Mapping[int, AuditEvent]:
    return {row.seq: row for row in AuditEvent.objects.filter(chain=str(contract.uid), seq__in=places)}


def _line(move: Move, event: AuditEvent, after: Totals) -> Line:
    data = _data(event)
    why = move.why or _why(event, data)
    who = event.actor or str(data.get("analyst", ""))
    return Line(
        seq=move.seq, at=event.at, kind=event.kind, who=who, why=why, query=event.query,
        account=ACCOUNTS.get(move.account, "limit"), amount=move.amount, after=after,
    )  # fmt: skip


def _data(event: AuditEvent) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(bytes(event.body))["data"]
    return data


def _rho_ans(event: AuditEvent) -> Units:
    data = _data(event)
    amount: Units = data.get("settings", data)["rho_ans"]
    return amount


def _why(event: AuditEvent, data: Mapping[str, Any]) -> str:
    return event_words.why(event.kind, data) or str(data.get("reason", ""))
