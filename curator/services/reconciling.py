"""Bringing a restored record up to what the receipts outside know: what is missing is charged as lost.

A receipt tells how much was spent, not on what. The answers that were released after the copy was taken are gone from the
record, and yet somebody has seen them: their budget stays spent. A contract that was closed or frozen by then is so again. What
else was changed in between (members, allotments, the version, a raise) no receipt tells: that is for the curator to look at.
Afterwards the receipts begin anew from this record; the old ones are kept beside them under another name.
"""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from curator import queue
from curator.mechanism import rho
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.receipts import Receipt
from curator.mechanism.rho import Units
from curator.models import AuditEvent, Contract, LedgerEntry, Release
from curator.services import audit, receipts, texts
from curator.services.contract_rows import LIVE, State, check_state, locked_for

RECONCILED = "contract.reconciled"


@dataclass(frozen=True, slots=True)
class Lost:
    """What was charged to each account for what the record no longer knows, and the state that was set again for it."""

    ans: Units
    est: Units
    receipt: Receipt | None = None
    state: str = ""  # empty: the record's own stays


def reconcile(*, curator: User, contract: Contract, reason: str, without_receipts: bool = False) -> Lost:
    """Charge a contract for what its newest receipt knows and its record does not; then it may release again.

    A contract that was closed or frozen by then is so again. One that is closed in the record is charged nothing, as it will
    never spend; the event tells what the receipt says. Refused: where there is no readable receipt, unless the curator states
    with `without_receipts` that the record is the newest (receipts_missing); where the receipt's total does not fit into the
    contract's, which must be raised first.
    """
    why = texts.paragraph(reason, field="reason")
    known = _known(contract, without_receipts=without_receipts)
    with transaction.atomic():
        row = locked_for(curator, contract, *LIVE, State.CLOSED)
        lost = _lost(row, known)
        if lost.ans or lost.est:
            _check_open(row)
        events = [_event(row, lost, known, curator, why), *_state_event(row, lost, curator)]
        _charge(row, lost, audit.append(audit.chain_of(row), events)[0])
        _restate(row, lost)
    _begin_anew(row)
    queue.ring(row.pk)
    return lost


def _check_open(row: Contract) -> None:
    """A frozen contract spends nothing, not even what was lost."""
    if row.state == State.FROZEN:
        detail = "The contract is frozen, and a frozen contract spends nothing, not even what was lost: open it again, then "
        raise Conflict("contract_not_open", detail + "reconcile. Nothing is released in between.")
    check_state(row, State.OPEN)


def _known(contract: Contract, *, without_receipts: bool) -> Receipt | None:
    try:
        known = receipts.newest(contract.uid)
    except BadInput:
        if not without_receipts:
            raise
        return None
    if known is None and not without_receipts:
        raise Conflict(
            receipts.MISSING, f"There is no receipt in {receipts.path_of(contract.uid)}: restore that file, or state that the "
            "record is the newest there is.",
        )  # fmt: skip
    return known


def _lost(row: Contract, known: Receipt | None) -> Lost:
    if known is None or row.state == State.CLOSED:
        return Lost(0, 0, known)
    missing = max(0, known.spent - row.spent_bound - row.est_spent)
    ans = min(missing, row.rho_ans - row.spent_bound)
    est = missing - ans
    if est > row.rho_est - row.est_spent:
        needed = rho.text(known.spent)
        raise Conflict("total_below_receipt", f"A receipt says that {needed} rho were spent: raise the total to that first.")
    return Lost(ans, est, known, _state_again(row, known))


def _state_again(row: Contract, known: Receipt) -> str:
    """The state that was lost with the newer record, if it stopped the contract; one that was opened again stays as it is."""
    stopped = {State.OPEN: (State.FROZEN, State.CLOSED), State.FROZEN: (State.CLOSED,)}.get(State(row.state), ())
    return known.state if known.state in stopped and not _has(row, known) else ""


def _has(row: Contract, known: Receipt) -> bool:
    """Whether the record has the event that a receipt is of: then what the curator did since stands."""
    return AuditEvent.objects.filter(chain=audit.chain_of(row), seq=known.seq, head=known.head).exists()


def _event(row: Contract, lost: Lost, known: Receipt | None, curator: User, why: str) -> audit.Event:
    receipt = {name: getattr(known, name) for name in ("seq", "head", "spent", "at", "state")} if known else None
    data = {
        "receipt": receipt, "spent_before": row.spent_bound, "est_before": row.est_spent, "ans": lost.ans, "est": lost.est,
        "reason": why,
    }  # fmt: skip
    return audit.Event(RECONCILED, curator.username, data)


def _state_event(row: Contract, lost: Lost, curator: User) -> list[audit.Event]:
    if not lost.state:
        return []
    told = {"before": row.state, "after": lost.state, "reason": f"It was {lost.state} by then, as the receipt says."}
    return [audit.Event("contract.state", curator.username, told)]


def _restate(row: Contract, lost: Lost) -> None:
    if lost.state:
        row.state = lost.state
        row.save(update_fields=["state"])


def _charge(row: Contract, lost: Lost, event: AuditEvent) -> None:
    entries = ((Release.Account.ANS, lost.ans, row.spent_bound), (Release.Account.EST, lost.est, row.est_spent))
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            contract=row, account=account, load=load, quota=0, balance_before=before, balance_after=before + load,
            event_seq=event.seq,
        )
        for account, load, before in entries
        if load
    )  # fmt: skip
    row.spent_bound, row.est_spent = row.spent_bound + lost.ans, row.est_spent + lost.est
    row.save(update_fields=["spent_bound", "est_spent"])


def _begin_anew(row: Contract) -> None:
    """Put the old receipts aside and leave one of the record as it is now. Repeated after a crash, it charges nothing more."""
    receipts.begin_anew(row.pk)
    receipts.may_release(row.pk)  # takes the hold away
