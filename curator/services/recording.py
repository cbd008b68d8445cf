"""Writing what was settled: releases, supports, totals, states, ledger, decisions, answers, and the events that tell of them.

Many questions are written at once, so that the contract's row stays locked for a short time only. Totals are moved by arithmetic
in the database, on the condition that they still are what the decision saw; CHECK constraints stand behind that.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import F

from curator import ticks
from curator.models import AnalystBudget, Answer, AuditEvent, Contract, Decision, LedgerEntry, Query, Release, Support
from curator.services import audit, bulk, notices
from curator.services.deciding import Part
from curator.services.drawing import Result, Settled
from curator.services.standing import Standing

STATES = {
    "reuse": Query.State.ANSWERED,
    "measure": Query.State.ANSWERED,
    "partial": Query.State.PARTIAL,
    "decline": Query.State.DECLINED,
}


class TotalsMoved(Exception):
    """A total is not what the decision saw, although its row is locked: something writes past the lock. Nothing is committed."""


def write(now: Standing, settled: Sequence[Settled]) -> None:
    """Write the questions settled in this transaction; the head of the audit chain is locked last."""
    if not settled:
        return
    releases = _releases(now.contract, settled)
    _supports(now, settled)
    _totals(now, settled)
    events = audit.append(audit.chain_of(now.contract), [_event(each) for each in settled])
    _states(settled, events[0].at)
    told = list(zip(settled, events, strict=True))
    LedgerEntry.objects.bulk_create(_ledger(now.contract, each, event) for each, event in told if each.verdict.load)
    Decision.objects.bulk_create(_decision(each, event) for each, event in told)
    Answer.objects.bulk_create(_answer(each, result, releases) for each in settled for result in each.results)
    notices.answers_ready(now.contract, [(each.verdict.pending.id, each.verdict.pending.analyst_id) for each in settled])


def _releases(contract: Contract, settled: Sequence[Settled]) -> dict[UUID, int]:
    lines = [
        (fresh.uid, result.cell.digest or "", fresh.draw.value, fresh.rho, fresh.draw.scale, each.group, each.verdict.pending.id)
        for each in settled
        for result in each.results
        if (fresh := result.fresh)
    ]
    return bulk.insert_releases(lines, contract_id=contract.pk, account=Release.Account.ANS, at=ticks.now())


def _supports(now: Standing, settled: Sequence[Settled]) -> None:
    touched = {result.cell.digest: None for each in settled for result in each.results if result.fresh}
    rows = [_support(now, digest) for digest in touched if digest is not None]
    Support.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["contract", "descriptor"],
        update_fields=["rho_hist", "weighted_sum", "releases"],
    )  # fmt: skip


def _support(now: Standing, digest: str) -> Support:
    credit = now.credit(digest)
    return Support(
        contract=now.contract, descriptor_id=digest, rho_hist=credit.held.rho_hist,
        weighted_sum=credit.held.weighted_sum, releases=len(credit.parts),
    )  # fmt: skip


def _totals(now: Standing, settled: Sequence[Settled]) -> None:
    load = sum(each.verdict.load for each in settled)
    if not load:
        return
    open_row = Contract.objects.filter(id=now.contract.id, state=Contract.State.OPEN, spent_bound=now.contract.spent_bound)
    exactly_one(open_row.update(spent_bound=F("spent_bound") + load))
    quotas = Counter[int]()
    for each in settled:
        quotas[each.verdict.pending.analyst_id] += each.verdict.quota
    for analyst_id, quota in quotas.items():
        seen = now.purse(analyst_id).spent - quota
        row = AnalystBudget.objects.filter(contract=now.contract, analyst_id=analyst_id, spent=seen)
        if quota:
            exactly_one(row.update(spent=F("spent") + quota))


def exactly_one(changed: int) -> None:
    """Refuse to go on unless a conditional update changed its one row."""
    if changed != 1:
        raise TotalsMoved("a total was changed past the contract's lock")


def _states(settled: Sequence[Settled], at: datetime) -> None:
    by_state: dict[str, list[int]] = defaultdict(list)
    for each in settled:
        by_state[STATES[each.verdict.kind]].append(each.verdict.pending.id)
    for state, ids in by_state.items():
        Query.objects.filter(id__in=ids).update(state=state, finished_at=at)


def _ledger(contract: Contract, each: Settled, event: AuditEvent) -> LedgerEntry:
    verdict = each.verdict
    return LedgerEntry(
        contract=contract, analyst_id=verdict.pending.analyst_id, query_id=verdict.pending.id, account=Release.Account.ANS,
        load=verdict.load, quota=verdict.quota, balance_before=each.spent_before, balance_after=each.spent_after,
        event_seq=event.seq,
    )  # fmt: skip


def _decision(each: Settled, event: AuditEvent) -> Decision:
    verdict = each.verdict
    return Decision(
        query_id=verdict.pending.id, kind=verdict.kind, regime=verdict.regime, reason=verdict.reason,
        available=verdict.limit.units, limit=verdict.limit.reason, mu=_fraction(each), k=verdict.terms.k, load=verdict.load,
        quota=verdict.quota, spent_before=each.spent_before, spent_after=each.spent_after, event_seq=event.seq,
        head=event.head, decided_at=event.at,
    )  # fmt: skip


def _answer(each: Settled, result: Result, releases: dict[UUID, int]) -> Answer:
    part, fresh = result.part, result.fresh
    return Answer(
        query_id=each.verdict.pending.id, position=result.cell.position, rho_min=part.rho_min if part else 0,
        rho_hist=part.rho_hist if part else 0, weight=part.weight if part else 1, rho_new=part.rho_new if part else 0,
        rho_eff=result.held.rho_hist, release_id=releases[fresh.uid] if fresh else None,
        weighted_sum=result.held.weighted_sum, value=result.shown, bound=result.bound, met=part.met if part else True,
        certificate=[list(each) for each in result.certificate],
    )  # fmt: skip


def _event(each: Settled) -> audit.Event:
    verdict = each.verdict
    data = {
        "analyst": verdict.pending.analyst, "kind": verdict.kind, "regime": verdict.regime, "reason": verdict.reason,
        "available": verdict.limit.units, "limit": verdict.limit.reason, "mu": _fraction(each), "k": verdict.terms.k,
        "under_scarcity": verdict.pending.under_scarcity.value, "load": verdict.load, "quota": verdict.quota,
        "unweighed": list(verdict.unweighed), "bins": [_bin(result, result.part) for result in each.results],
        "spent_before": each.spent_before, "spent_after": each.spent_after,
    }  # fmt: skip
    return audit.Event("query.decided", verdict.pending.analyst, data, query=verdict.pending.uid)


def _bin(result: Result, part: Part | None) -> dict[str, object]:
    fresh = result.fresh
    return {
        "descriptor": result.cell.digest,
        "rho_min": part.rho_min if part else 0,
        "rho_hist": part.rho_hist if part else 0,
        "weight": str(part.weight) if part else "1",
        "rho_new": part.rho_new if part else 0,
        "release": str(fresh.uid) if fresh else None,
        "value": fresh.draw.value if fresh else None,
        "scale": fresh.draw.scale if fresh else None,
        "met": part.met if part else True,
    }


def _fraction(each: Settled) -> str:
    price = each.verdict.terms.mu
    return f"{price.numerator}/{price.denominator}"
