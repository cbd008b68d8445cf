"""The record as an auditor reads it: events of the chains they may see, with filters, one event whole, and the heads."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Sum

from curator.mechanism.receipts import Receipt
from curator.models import Allotment, AuditEvent, AuditHead, Contract, Denial
from curator.selectors import event_words, exports
from curator.selectors.formatting import spoken
from curator.selectors.paging import Page, cut
from curator.selectors.wording import target_words

SITE = "site"
SITE_TITLE = "Site"
AMOUNTS = frozenset(
    [
        "after", "allotment", "amount", "available", "before", "charge", "est_after", "est_before", "granted", "load",
        "query_cap", "quota", "rho", "rho_ans", "rho_d", "rho_est", "rho_hist", "rho_min", "rho_new", "rho_total",
        "spent_after", "spent_before",
    ]
)  # fmt: skip
# members of an event that hold units of rho, where they are whole numbers
TELLING = ("analyst", "username", "user", "role", "regime", "what", "reason", "note", "code")
SHOWN_ROWS = 500
CHARGING = ("query.decided", "diagnostic.released")
DECIDING = ("budget.approved", "budget.rejected", "contract.raised", "contract.raise_rejected")


@dataclass(frozen=True, slots=True)
class Filters:
    """What to look for; empty means all. `since` and `until` are whole days, UTC, both included."""

    chain: str = ""
    kind: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event in the log."""

    chain: str
    chain_title: str
    seq: int
    kind: str
    actor: str
    at: datetime
    query: UUID | None
    head: str
    charge: int | None
    balance_before: int | None
    balance_after: int | None
    figures: str  # what changed, in our words: amounts in it may be laid out
    told: str  # whom or what it is about and why, in words that people typed: shown as they are

    @property
    def summary(self) -> str:
        """Both, amounts first: what is cut off where room is short is the reason."""
        return " · ".join(part for part in (self.figures, self.told) if part)


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure or text of an event; `units` where it is an amount of rho."""

    text: str
    units: int | None


@dataclass(frozen=True, slots=True)
class Operand:
    """One member of an event: an amount or a text, several of them, or `rows` of a list of objects."""

    name: str
    text: str
    units: int | None
    rows: tuple[tuple[Cell, ...], ...] = ()
    header: tuple[str, ...] = ()
    several: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Approval:
    """Who let it happen: `words`, and the event that says so (None: this one)."""

    who: str
    words: str
    seq: int | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """One event with its operands, its place in the chain and the bytes that were hashed."""

    line: EventLine
    reason: str
    analyst: str  # whose balance it moved, if it is a charge
    approval: Approval | None
    operands: tuple[Operand, ...]
    body: str
    previous: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """The newest head of a chain."""

    chain: str
    title: str
    seq: int
    head: str


def heads(chains: Sequence[str]) -> tuple[Head, ...]:
    """The heads of these chains, the site's first."""
    titles = titles_of(chains)
    rows = AuditHead.objects.filter(chain__in=chains)
    found = [Head(row.chain, titles[row.chain], row.seq, row.head) for row in rows]
    return tuple(sorted(found, key=lambda head: (head.chain != SITE, head.title)))


def ordered(chains: Sequence[str]) -> list[str]:
    """The site's chain first, then contracts as they were given."""
    return sorted(chains, key=lambda chain: chain != SITE)


def receipts(chains: Sequence[str]) -> tuple[tuple[str, Receipt], ...]:
    """What each chain is called, and its newest head with all that was spent by then."""
    titles = titles_of(chains)
    return tuple((titles.get(receipt.chain, receipt.chain), receipt) for receipt in exports.newest(ordered(chains)))


def untold(chains: Sequence[str]) -> int:
    """Denied requests that are counted and will be told within a minute or so, for readers of the site's chain."""
    if SITE not in chains:
        return 0
    found: int | None = Denial.objects.aggregate(n=Sum(F("count") - F("told")))["n"]
    return found or 0


def titles_of(chains: Sequence[str]) -> dict[str, str]:
    """What people call each chain."""
    rows = Contract.objects.filter(uid__in=[chain for chain in chains if chain != SITE]).values_list("uid", "name")
    return {SITE: SITE_TITLE} | {str(uid): name for uid, name in rows}


def kinds(chains: Sequence[str]) -> tuple[str, ...]:
    """The kinds of events that occur in these chains, for a filter's choices."""
    rows = AuditEvent.objects.filter(chain__in=chains).values_list("kind", flat=True).distinct()
    return tuple(sorted(rows))


def log(chains: Sequence[str], filters: Filters, *, before: int = 0, limit: int = 40) -> Page[EventLine]:
    """One page of events of the chains a reader may see, newest first; `before` is the last row id seen."""
    rows = filtered(AuditEvent.objects.filter(chain__in=chains), filters)
    if before:
        rows = rows.filter(id__lt=before)
    found, more = cut(list(rows.order_by("-id")[: limit + 1]), limit)
    titles = titles_of(sorted({row.chain for row in found}))
    return Page(tuple(_line(row, titles) for row in found), more=str(found[-1].pk) if more else "", first=not before)


def filtered(rows: QuerySet[AuditEvent], filters: Filters) -> QuerySet[AuditEvent]:
    """Those of `rows` that the filters let through."""
    exact = {"chain": filters.chain, "kind": filters.kind, "actor": filters.actor}
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if filters.since:
        rows = rows.filter(at__gte=_midnight(filters.since))
    if filters.until:
        rows = rows.filter(at__lt=_midnight(filters.until) + timedelta(days=1))
    return rows


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def event_page(row: AuditEvent) -> EventPage:
    """One event whole."""
    data = _data(row)
    last = AuditHead.objects.filter(chain=row.chain).values_list("seq", flat=True).first() or row.seq
    return EventPage(
        line=_line(row, titles_of([row.chain])),
        reason=_reason(row.kind, data),
        analyst=str(data.get("analyst", "")) if row.kind in CHARGING else "",
        approval=_approval(row, data),
        operands=tuple(_operands(data)),
        body=bytes(row.body).decode(),
        previous=row.previous,
        before=row.seq - 1 if row.seq > 1 else None,
        after=row.seq + 1 if row.seq < last else None,
    )


def _reason(kind: str, data: Mapping[str, Any]) -> str:
    """The reason that somebody gave; of a decision, the rule that made it."""
    return event_words.why(kind, data) or next((str(data[name]) for name in ("reason", "note") if data.get(name)), "")


def _approval(row: AuditEvent, data: Mapping[str, Any]) -> Approval | None:
    """Of a charge, the allotment it was taken from; of a change of budgets, who decided it."""
    if row.kind in CHARGING:
        held = Allotment.objects.filter(contract__uid=row.chain, analyst__username=data.get("analyst"), event_seq__lt=row.seq)
        last = held.select_related("set_by").order_by("-event_seq", "-id").first()
        return Approval(last.set_by.get_username(), f"allotment of {_amount_words(last.rho)}", last.event_seq) if last else None
    if row.kind == "allotment.set" and data.get("request"):
        told = AuditEvent.objects.filter(chain=row.chain, kind="budget.approved", seq__lt=row.seq).order_by("-seq")[:20]
        approved = next((event for event in told if _data(event).get("request") == data["request"]), None)
        return Approval(approved.actor, "an approved request", approved.seq) if approved else None
    if row.kind in DECIDING:
        asked = data.get("proposed_by") or data.get("analyst")
        return Approval(row.actor, f"asked for by {asked}" if asked and asked != row.actor else "no second curator", None)
    return None


def _data(row: AuditEvent) -> Mapping[str, Any]:
    data = json.loads(bytes(row.body)).get("data")
    return data if isinstance(data, dict) else {}


def _line(row: AuditEvent, titles: Mapping[str, str]) -> EventLine:
    data = _data(row)
    return EventLine(
        chain=row.chain,
        chain_title=titles.get(row.chain, row.chain),
        seq=row.seq,
        kind=row.kind,
        actor=row.actor,
        at=row.at,
        query=row.query,
        head=row.head,
        charge=_whole(data.get("load", data.get("charge"))),
        balance_before=_whole(data.get("spent_before", data.get("est_before"))),
        balance_after=_whole(data.get("spent_after", data.get("est_after"))),
        figures=_figures(data),
        told=" · ".join(str(data[name]) for name in TELLING if data.get(name) and data[name] != row.actor),
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _figures(data: Mapping[str, Any]) -> str:
    """What changed from what to what, and the accuracy asked for."""
    parts = []
    if "before" in data and "after" in data:
        parts.append(f"{_amount_words(data['before'])} to {_amount_words(data['after'])}")
    if isinstance(data.get("accuracy"), dict):
        parts.append(target_words(data["accuracy"]))
    return " · ".join(parts)


def _amount_words(value: object) -> str:
    """An amount in rho, "no limit" for none, a text as it is."""
    units = _whole(value)
    return spoken(units) if units is not None else "no limit" if value is None else str(value)


def _operands(data: Mapping[str, Any], prefix: str = "") -> Iterator[Operand]:
    """The members of an event, objects inside it flattened to `settings.rho_total` and the like."""
    for name, value in data.items():
        if isinstance(value, dict) and value and name != "question":
            yield from _operands(value, f"{prefix}{name}.")
        else:
            yield _operand(f"{prefix}{name}", name, value)


def _operand(name: str, kind: str, value: object) -> Operand:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        header = tuple(value[0])
        rows = tuple(tuple(_cell(key, item.get(key)) for key in header) for item in value[:SHOWN_ROWS])
        return Operand(name, "", None, rows, header)
    if isinstance(value, list):
        return Operand(name, "" if value else "none", None, several=tuple(_cell(kind, item) for item in value[:SHOWN_ROWS]))
    return Operand(name, _plain(value), _whole(value) if kind in AMOUNTS else None)


def _cell(kind: str, value: object) -> Cell:
    return Cell(_plain(value), _whole(value) if kind in AMOUNTS else None)


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
