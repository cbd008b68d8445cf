"""Budget requests: an analyst's own, and a curator's inbox with history and the effect of granting."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts.models import User
from curator.mechanism.rho import Units
from curator.models import AnalystBudget, BudgetRequest, Contract, Decision
from curator.selectors.control import Gauge, gauge
from curator.selectors.purchases import buys

SHOWN_DECIDED = 30


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request with its decision, if there is one."""

    uid: UUID
    analyst: str
    amount: Units
    reason: str
    state: str
    granted: Units | None
    note: str
    decided_by: str
    created_at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What granting a request, in full or in part, would change."""

    allotment: Units
    allotment_after: Units
    allotted: Units
    allotted_after: Units
    not_allotted: Units
    not_allotted_after: Units
    exceeds: bool


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request that waits, with what a curator wants to know before deciding."""

    line: RequestLine
    own: bool
    spent: Units
    left: Units
    asked: int
    free: int
    effect: Effect
    buys: str
    granted: Units  # what `effect` and `buys` are about


@dataclass(frozen=True, slots=True)
class Inbox:
    """A curator's view of a contract's requests."""

    gauge: Gauge
    open: tuple[OpenRequest, ...]
    decided: tuple[RequestLine, ...]


def own_requests(contract: Contract, analyst: User) -> tuple[RequestLine, ...]:
    """An analyst's requests under a contract, newest first."""
    return tuple(request_line(row) for row in _rows(contract).filter(analyst=analyst)[:SHOWN_DECIDED])


def inbox(contract: Contract, curator: User, *, grants: Mapping[UUID, Units] | None = None) -> Inbox:
    """Requests that wait, oldest first, and the latest decided ones; `grants`: what would be granted where it is not all."""
    state = gauge(contract)
    waiting = list(_rows(contract).filter(state=BudgetRequest.State.OPEN).order_by("id"))
    analysts = [row.analyst_id for row in waiting]
    budgets = {row.analyst_id: row for row in AnalystBudget.objects.filter(contract=contract, analyst_id__in=analysts)}
    history = _history(contract, analysts)
    decided = _rows(contract).exclude(state=BudgetRequest.State.OPEN).order_by("-decided_at")[:SHOWN_DECIDED]
    return Inbox(
        state,
        tuple(
            _open(
                row,
                budgets.get(row.analyst_id),
                history.get(row.analyst_id, (0, 0)),
                state,
                curator,
                granted=(grants or {}).get(row.uid, row.amount),
            )
            for row in waiting
        ),
        tuple(request_line(row) for row in decided),
    )


def _rows(contract: Contract) -> QuerySet[BudgetRequest]:
    return BudgetRequest.objects.filter(contract=contract).select_related("analyst", "decided_by").order_by("-id")


def _history(contract: Contract, analysts: list[int]) -> dict[int, tuple[int, int]]:
    """Questions decided for each analyst, and how many of them cost nothing."""
    rows = Decision.objects.filter(query__contract=contract, query__analyst_id__in=analysts).values_list("query__analyst_id")
    return {who: (asked, free) for who, asked, free in rows.annotate(asked=Count("pk"), free=Count("pk", filter=Q(load=0)))}


def _open(
    row: BudgetRequest, budget: AnalystBudget | None, history: tuple[int, int], state: Gauge, curator: User, *, granted: Units
) -> OpenRequest:
    allotment = (budget.allotment or 0) if budget else 0
    spent = budget.spent if budget else 0
    effect = Effect(
        allotment=allotment,
        allotment_after=allotment + granted,
        allotted=state.allotted,
        allotted_after=state.allotted + granted,
        not_allotted=state.not_allotted,
        not_allotted_after=max(0, state.not_allotted - granted),
        exceeds=granted > state.not_allotted,
    )
    return OpenRequest(
        request_line(row), row.analyst_id == curator.pk, spent, max(0, allotment - spent), history[0], history[1], effect,
        buys(granted), granted,
    )  # fmt: skip


def request_line(row: BudgetRequest) -> RequestLine:
    """A request with its decision, if there is one."""
    return RequestLine(
        uid=row.uid,
        analyst=row.analyst.get_username(),
        amount=row.amount,
        reason=row.reason,
        state=row.state,
        granted=row.granted,
        note=row.note,
        decided_by=row.decided_by.get_username() if row.decided_by else "",
        created_at=row.created_at,
        decided_at=row.decided_at,
    )
