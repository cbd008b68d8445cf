"""A person's notices in words, with where each leads: for a page, for the API, for a mail.

Words and links are made from what the notice points at. Nothing in them is a released value, and a link is there only while the
reader still has the place in the contract that it needs.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Membership, Role, User
from curator.models import BudgetRequest, Notice, Query, TotalRaise
from curator.selectors.paging import Page, cut

SHOWN = 30
MOST_COUNTED = 100  # one more than the header's "99+"

Kind = Notice.Kind
Place = tuple[str, UUID]  # the name of an address and what it is about

ENDED = {
    Query.State.ANSWERED: "Your question is answered",
    Query.State.PARTIAL: "Your question is answered, less exactly than asked",
    Query.State.DECLINED: "Your question was declined",
    Query.State.FAILED: "Your question could not be counted; nothing was charged",
}
DECIDED = {
    BudgetRequest.State.APPROVED: "Your request for more budget was approved",
    BudgetRequest.State.REJECTED: "Your request for more budget was turned down",
}
RAISED = {
    TotalRaise.State.APPLIED: "The raise that you proposed is applied",
    TotalRaise.State.REJECTED: "The raise that you proposed was turned down",
}
#: kind → the role it takes to open what it is about, and the address
LEADS = {
    Kind.REQUEST: (Role.CURATOR, "requests"), Kind.DECISION: (Role.ANALYST, "budget"),
    Kind.ALLOTTED: (Role.ANALYST, "budget"),
    Kind.RAISE: (Role.CURATOR, "raises"), Kind.RAISED: (Role.CURATOR, "raises"), Kind.JOINED: (Role.CURATOR, "people"),
}  # fmt: skip
FRONT = ((Role.ANALYST, "workspace"), (Role.CURATOR, "control"), (Role.AUDITOR, "released"))


@dataclass(frozen=True, slots=True)
class NoticeLine:
    """One notice; `about` is the label of a question, the reason of a change, or empty.

    `leads` is None where there is nothing to open (any more).
    """

    id: int
    kind: str
    words: str
    about: str
    contract: str
    leads: Place | None
    created_at: datetime
    seen_at: datetime | None


def unseen(user: User) -> int:
    """How many notices wait, up to MOST_COUNTED; one query."""
    return Notice.objects.filter(user=user, seen_at__isnull=True)[:MOST_COUNTED].count()


def notices(user: User, *, before: int = 0) -> Page[NoticeLine]:
    """A person's notices, newest first, from the mark `before` on; a fixed number of queries."""
    mine = rows().filter(user=user).order_by("-id")
    found, more = cut(list((mine.filter(pk__lt=before) if before else mine)[: SHOWN + 1]), SHOWN)
    return Page(tuple(lines(user, found)), more=str(found[-1].pk) if more else "", first=not before)


def rows() -> QuerySet[Notice]:
    """Notices with what their words need."""
    return Notice.objects.select_related("contract", "query", "request__analyst", "total_raise__proposed_by", "allotment")


def lines(user: User, found: Sequence[Notice]) -> list[NoticeLine]:
    """These notices of `user` in words."""
    held = _held(user, {row.contract_id for row in found})
    return [_line(row, held[row.contract_id]) for row in found]


def _held(user: User, contracts: Iterable[int]) -> dict[int, set[str]]:
    held: dict[int, set[str]] = defaultdict(set)
    places = Membership.objects.filter(user=user, active=True, contract__in=contracts)
    for contract, role in places.values_list("contract_id", "role"):
        held[contract].add(role)
    return held


def _line(row: Notice, held: set[str]) -> NoticeLine:
    about = row.query.label if row.query else row.allotment.reason if row.allotment else ""
    return NoticeLine(row.pk, row.kind, _words(row), about, row.contract.name, _leads(row, held), row.created_at, row.seen_at)


def _words(row: Notice) -> str:
    if row.query is not None:
        return ENDED.get(Query.State(row.query.state), Kind.ANSWER.label)
    if row.request is not None:
        asked = row.request
        waits = f"{asked.analyst.username} asks for more budget"
        return waits if row.kind == Kind.REQUEST else DECIDED.get(BudgetRequest.State(asked.state), Kind.DECISION.label)
    if row.total_raise is not None:
        proposed = row.total_raise
        waits = f"{proposed.proposed_by.username} proposes to raise the total"
        return waits if row.kind == Kind.RAISE else RAISED.get(TotalRaise.State(proposed.state), Kind.RAISED.label)
    return Kind(row.kind).label


def _leads(row: Notice, held: set[str]) -> Place | None:
    if row.query is not None:
        return ("query", row.query.uid) if Role.ANALYST in held else None
    if row.kind in LEADS:
        role, name = LEADS[Kind(row.kind)]
        return (name, row.contract.uid) if role in held else None
    return next(((name, row.contract.uid) for role, name in FRONT if role in held), None)
