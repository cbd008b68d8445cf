"""Raising the total of a contract: upwards only, with a reason, and by two curators where the contract has two.

A raise weakens the promise made to the people in the data, so that a second pair of eyes must be able to stop it. A lone
curator's raise is applied at once and recorded as decided by them. Who counts as the second is whoever holds a curator's place,
be their account switched on or not, and one of two cannot end the other's place (see `memberships`): so a contract that had two
curators never comes to be raised by one of them against the other.
"""

from django.db import transaction

from accounts.models import User
from curator import ticks
from curator.mechanism import rho
from curator.mechanism.accounting import split
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.rho import Units
from curator.models import Contract, Notice, TotalRaise
from curator.services import audit, notices, texts
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, curator_places, locked_for
from curator.services.contract_settings import check_total


def raise_total(*, curator: User, contract: Contract, rho_total: Units, reason: str) -> TotalRaise:
    """Raise the total to `rho_total`; with another curator in the contract, propose it to them.

    Refused: BadInput only_upwards, out of the stated limits, without a reason; Conflict raise_open while one waits.
    """
    why = texts.paragraph(reason, field="reason")
    check_total(rho_total)
    with transaction.atomic():
        row = locked_for(curator, contract, *LIVE)
        if rho_total <= row.rho_total:
            least = rho.text(row.rho_total)
            raise BadInput("only_upwards", f"rho_total: expected more than the present {least}", field="rho_total", present=least)
        if row.raises.filter(state=TotalRaise.State.OPEN).exists():
            raise Conflict("raise_open", "Another raise of this contract waits for a decision.")
        proposal = TotalRaise.objects.create(
            contract=row, before=row.rho_total, rho_total=rho_total, reason=why, proposed_by=curator
        )
        others = [other for other in curator_places(row) if other.pk != curator.pk]
        if others:
            _propose(row, proposal, others)
        else:
            _apply(row, proposal, by=curator)
    return proposal


def approve_raise(*, curator: User, proposal: TotalRaise) -> TotalRaise:
    """Apply a raise that another curator proposed; refused when the total is no longer the one it was proposed from."""
    with transaction.atomic():
        row, locked = _undecided(curator, proposal)
        if row.rho_total != locked.before:
            raise Conflict("stale", "The contract's total has changed since this raise was proposed.")
        notices.tell([locked.proposed_by], Notice.Kind.RAISED, row, total_raise=locked)
        _apply(row, locked, by=curator)
    return locked


def reject_raise(*, curator: User, proposal: TotalRaise, note: str) -> TotalRaise:
    """Turn down a raise that another curator proposed, with a note; whoever proposed it may withdraw it the same way."""
    why = texts.paragraph(note, field="note")
    with transaction.atomic():
        row, locked = _undecided(curator, proposal, own=True)
        _decide(locked, TotalRaise.State.REJECTED, by=curator, note=why)
        _tell_proposer(row, locked)
        _record(row, "contract.raise_rejected", curator, locked, {"note": why})
    return locked


def _undecided(curator: User, proposal: TotalRaise, *, own: bool = False) -> tuple[Contract, TotalRaise]:
    row = locked_for(curator, proposal.contract, *LIVE)
    locked = TotalRaise.objects.select_for_update(no_key=True).get(pk=proposal.pk)
    if locked.state != TotalRaise.State.OPEN:
        raise Conflict("already_decided", "This raise has been decided already.")
    if not own and locked.proposed_by_id == curator.pk:
        raise Conflict("own_request", "Nobody decides their own request.")
    return row, locked


def _propose(contract: Contract, proposal: TotalRaise, others: list[User]) -> None:
    notices.tell(others, Notice.Kind.RAISE, contract, total_raise=proposal)
    _record(contract, "contract.raise_proposed", proposal.proposed_by, proposal, {})


def _tell_proposer(contract: Contract, proposal: TotalRaise) -> None:
    if proposal.decided_by_id != proposal.proposed_by_id:  # withdrawing one's own is no news
        notices.tell([proposal.proposed_by], Notice.Kind.RAISED, contract, total_raise=proposal)


def _apply(contract: Contract, proposal: TotalRaise, *, by: User) -> None:
    contract.rho_total = proposal.rho_total
    contract.rho_est, contract.rho_ans = split(proposal.rho_total, contract.xi)
    contract.save(update_fields=["rho_total", "rho_est", "rho_ans"])
    _decide(proposal, TotalRaise.State.APPLIED, by=by, note="")
    parts = {"rho_est": contract.rho_est, "rho_ans": contract.rho_ans, "proposed_by": proposal.proposed_by.username}
    _record(contract, "contract.raised", by, proposal, parts)


def _decide(proposal: TotalRaise, state: str, *, by: User, note: str) -> None:
    proposal.state, proposal.decided_by, proposal.decided_at, proposal.note = state, by, ticks.now(), note
    proposal.save(update_fields=["state", "decided_by", "decided_at", "note"])


def _record(contract: Contract, kind: str, actor: User, proposal: TotalRaise, more: dict[str, object]) -> None:
    data = {"raise": str(proposal.uid), "before": proposal.before, "after": proposal.rho_total, "reason": proposal.reason, **more}
    audit.append(audit.chain_of(contract), [Event(kind, actor.username, data)])
