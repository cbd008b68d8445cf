"""What goes on in a contract: what waits, whether the worker works, how fast the budget goes, how often it was too little.

Everything is one query each, and what is drawn has a bounded number of points, however long the history is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, Min

from curator.mechanism.rho import Units
from curator.models import Contract, Decision, Query

POINTS = 200
SHOWN = 12
BURNED = """
    WITH charge AS (
        SELECT created_at, balance_after, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS total
        FROM curator_ledgerentry WHERE contract_id = %s AND account = 'ans'
    )
    SELECT max(n), max(created_at), max(balance_after) FROM charge GROUP BY (n - 1) * %s / total ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The queue of a contract: how many questions, and how many seconds the oldest has waited (None: nothing waits)."""

    count: int
    oldest: int | None


@dataclass(frozen=True, slots=True)
class Worker:
    """`silence`: seconds since its last sign of life on this machine, None where there was none; `state` in one word."""

    silence: int | None
    state: str


@dataclass(frozen=True, slots=True)
class Burned:
    """After so many charges, at this moment, so much was spent and so much of today's account is left."""

    charges: int
    at: datetime
    spent: Units
    left: Units


@dataclass(frozen=True, slots=True)
class Scarcity:
    """Decisions so far: `free` from history alone, `paid` in full, `partial` and `declined` for want of budget."""

    decided: int
    free: int
    paid: int
    partial: int
    declined: int
    scarce: int


@dataclass(frozen=True, slots=True)
class Room:
    """What a control room has beside the accounts."""

    waiting: Waiting
    worker: Worker
    burned: tuple[Burned, ...]
    scarcity: Scarcity

    @property
    def shown(self) -> tuple[Burned, ...]:
        """Some of the points, the last among them, for a table."""
        step = max(1, -(-len(self.burned) // SHOWN))
        return self.burned[::-1][::step][::-1]


def control_room(contract: Contract, now: datetime, *, silence: float | None, patience: float) -> Room:
    """The room at `now`; `silence` and `patience` in seconds."""
    return Room(
        waiting=_waiting(contract, now), worker=_worker(silence, patience), burned=tuple(_burned(contract)),
        scarcity=_scarcity(contract),
    )  # fmt: skip


def _waiting(contract: Contract, now: datetime) -> Waiting:
    rows = Query.objects.filter(contract=contract, state=Query.State.WAITING)
    found = rows.aggregate(count=Count("pk"), since=Min("arrived_at"))
    oldest = None if found["since"] is None else max(0, int((now - found["since"]).total_seconds()))
    return Waiting(found["count"], oldest)


def _worker(silence: float | None, patience: float) -> Worker:
    if silence is None:
        return Worker(None, "not seen")
    return Worker(int(silence), "working" if silence <= patience else "silent")


def _burned(contract: Contract) -> Sequence[Burned]:
    with connection.cursor() as cursor:
        cursor.execute(BURNED, [contract.pk, POINTS])
        return [Burned(n, at, spent, max(0, contract.rho_ans - spent)) for n, at, spent in cursor.fetchall()]


def _scarcity(contract: Contract) -> Scarcity:
    rows = Decision.objects.filter(query__contract=contract).values_list("kind", "regime").annotate(n=Count("pk"))
    found = [(kind, regime, n) for kind, regime, n in rows]
    by_kind = {kind: sum(n for each, _, n in found if each == kind) for kind in ("reuse", "measure", "partial", "decline")}
    return Scarcity(
        decided=sum(n for _, _, n in found), free=by_kind["reuse"], paid=by_kind["measure"], partial=by_kind["partial"],
        declined=by_kind["decline"], scarce=sum(n for _, regime, n in found if regime == "scarce"),
    )  # fmt: skip
