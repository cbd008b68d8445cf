"""How the site is doing, for whoever keeps it running: what waits, how silent the worker is, what is left, whether records hold.

Everything here is public within the site (budgets, states, times); nothing is a function of the records.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min

from curator.models import AuditEvent, BudgetRequest, Contract, Hold, Query, Upload
from curator.selectors.workspace import thousandths

QUEUE_LIMIT = 300  # seconds that a question may wait before somebody should look
SCARCE = 100  # thousandths of a contract's budget left, below which its curator should know


@dataclass(frozen=True, slots=True)
class ContractState:
    """One open contract: amounts in units, `waited` in seconds, `consistent` None while nobody has verified it."""

    uid: str
    rho_ans: int
    spent: int
    left_share: int
    rho_est: int
    est_spent: int
    waiting: int
    waited: float
    consistent: bool | None
    held: str  # why the worker releases nothing for it; empty: it does


@dataclass(frozen=True, slots=True)
class SiteState:
    """The whole site."""

    contracts: tuple[ContractState, ...]
    uploads_waiting: int
    requests_open: int
    worker_silence: float | None


@dataclass(frozen=True, slots=True)
class Alert:
    """Something somebody should do something about."""

    code: str
    text: str


def site_state(now: datetime, worker_silence: float | None) -> SiteState:
    """The state of the site at `now`, in a fixed number of queries."""
    return SiteState(
        contracts=tuple(_contracts(now)),
        uploads_waiting=Upload.objects.filter(state=Upload.State.WAITING).count(),
        requests_open=BudgetRequest.objects.filter(state=BudgetRequest.State.OPEN).count(),
        worker_silence=worker_silence,
    )


def alerts(state: SiteState, *, patience: float) -> tuple[Alert, ...]:
    """What matters now: a silent worker, a long wait, a budget below a tenth, a record that contradicts itself."""
    found = []
    if state.worker_silence is not None and state.worker_silence > patience:
        found.append(Alert("worker_silent", f"The worker has given no sign of life for {state.worker_silence:.0f} s."))
    for contract in state.contracts:
        found.extend(_contract_alerts(contract))
    return tuple(found)


def _contract_alerts(contract: ContractState) -> list[Alert]:
    found = []
    if contract.waited > QUEUE_LIMIT:
        found.append(Alert("queue_old", f"A question has waited for {contract.waited:.0f} s in contract {contract.uid}."))
    if contract.left_share < SCARCE:
        found.append(Alert("budget_low", f"{contract.left_share / 10:.1f} % of the budget is left in contract {contract.uid}."))
    if contract.held:
        found.append(Alert(contract.held, f"Nothing is released for contract {contract.uid}, because of its receipts."))
    if contract.consistent is False:
        found.append(Alert("record_broken", f"The last verification of contract {contract.uid} found a contradiction."))
    return found


def _contracts(now: datetime) -> Iterator[ContractState]:
    waiting, verified = _waiting(), _verified()
    held = dict(Hold.objects.exclude(code="").values_list("contract_id", "code"))
    for row in Contract.objects.filter(state__in=[Contract.State.OPEN, Contract.State.FROZEN]).order_by("id"):
        count, since = waiting.get(row.pk, (0, now))
        yield ContractState(
            uid=str(row.uid),
            rho_ans=row.rho_ans,
            spent=row.spent_bound,
            left_share=thousandths(max(0, row.rho_ans - row.spent_bound), row.rho_ans),
            rho_est=row.rho_est,
            est_spent=row.est_spent,
            waiting=count,
            waited=max(0.0, (now - since).total_seconds()),
            consistent=verified.get(str(row.uid)),
            held=held.get(row.pk, ""),
        )


def _waiting() -> dict[int, tuple[int, datetime]]:
    """By contract: how many questions wait, and since when the oldest one does."""
    rows = Query.objects.filter(state=Query.State.WAITING).values_list("contract").annotate(Count("pk"), Min("arrived_at"))
    return {contract: (count, since) for contract, count, since in rows}


def _verified() -> dict[str, bool]:
    """Of each chain, what its latest verification said."""
    rows = AuditEvent.objects.filter(kind="record.verified").order_by("chain", "-seq").distinct("chain")
    return {row.chain: bool(json.loads(bytes(row.body))["data"]["ok"]) for row in rows}
