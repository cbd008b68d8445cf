"""An analyst asks for a larger allotment; a curator who is somebody else grants it, grants less, or turns it down, once.

A decision binds to the row that was shown: its amount and asker cannot change (trigger), and whoever comes second, another
curator or a doubled click, finds it decided. The contract's row lock makes "first" mean something.
"""

from django.db import transaction

from accounts import access
from accounts.models import Role, User
from curator import ticks
from curator.mechanism import rho
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.rho import Units
from curator.models import AnalystBudget, BudgetRequest, Contract, Notice
from curator.services import audit, notices, texts
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, check_state, curators, locked, locked_budget, locked_for
from curator.services.contract_settings import MAX_RHO_TOTAL, check_amount
from curator.services.memberships import record_allotment

State = BudgetRequest.State


def request(*, analyst: User, contract: Contract, amount: Units, reason: str) -> BudgetRequest:
    """Ask for `amount` units more. One request at a time waits; without a limit of their own nobody has anything to ask for."""
    why = texts.paragraph(reason, field="reason")
    check_amount(amount, field="amount", smallest=1)
    with transaction.atomic():
        row = locked(contract)
        access.require(analyst, row, Role.ANALYST)
        check_state(row, *LIVE)
        _limited_budget(row, analyst)
        if BudgetRequest.objects.filter(contract=row, analyst=analyst, state=State.OPEN).exists():
            raise Conflict("request_open", "Your earlier request still waits for a decision.")
        made = BudgetRequest.objects.create(contract=row, analyst=analyst, amount=amount, reason=why)
        others = [person for person in curators(row) if person.pk != analyst.pk]
        notices.tell(others, Notice.Kind.REQUEST, row, request=made)
        _record(made, "budget.requested", analyst, {"reason": why})
    return made


def approve(*, curator: User, request: BudgetRequest, granted: Units, note: str = "") -> BudgetRequest:
    """Grant all or part of a request: the allotment becomes what it is now plus `granted`, and the asker is told."""
    why = texts.optional(note, field="note")
    with transaction.atomic():
        row, asked = _undecided(curator, request)
        _check_granted(granted, asked.amount)
        if not access.has_place(asked.analyst, row, Role.ANALYST):
            raise Conflict("not_a_member", f"{asked.analyst.username} is no analyst of this contract any more.")
        budget, allotment = _limited_budget(row, asked.analyst)
        if allotment + granted > MAX_RHO_TOTAL:
            raise BadInput("bad_number", f"granted: the allotment would exceed {rho.text(MAX_RHO_TOTAL)}", field="granted")
        _decide(asked, State.APPROVED, by=curator, granted=granted, note=why)
        approved = _event(asked, "budget.approved", curator, {"granted": granted, "note": why})
        record_allotment(
            row, budget, allotment + granted, by=curator, reason=why or asked.reason, request=asked, first=(approved,)
        )
    return asked


def reject(*, curator: User, request: BudgetRequest, note: str) -> BudgetRequest:
    """Turn a request down with a note; nothing changes but the request, and the asker is told."""
    why = texts.paragraph(note, field="note")
    with transaction.atomic():
        _, asked = _undecided(curator, request)
        _decide(asked, State.REJECTED, by=curator, granted=None, note=why)
        _record(asked, "budget.rejected", curator, {"note": why})
    return asked


def _undecided(curator: User, request: BudgetRequest) -> tuple[Contract, BudgetRequest]:
    row = locked_for(curator, request.contract, *LIVE)
    asked = BudgetRequest.objects.select_for_update(no_key=True, of=("self",)).select_related("analyst").get(pk=request.pk)
    if asked.state != State.OPEN:
        raise Conflict("already_decided", f"This request is {asked.state} already.", state=asked.state)
    if asked.analyst_id == curator.pk:
        raise Conflict("own_request", "Nobody decides their own request.")
    return row, asked


def _limited_budget(contract: Contract, analyst: User) -> tuple[AnalystBudget, Units]:
    """The locked budget row and its allotment; Conflict no_limit where there is nothing to add to."""
    budget = locked_budget(contract, analyst)
    if budget is None or budget.allotment is None:
        raise Conflict("no_limit", "There is no limit of one's own to raise: only the contract's total limits what is spent.")
    return budget, budget.allotment


def _check_granted(granted: Units, amount: Units) -> None:
    if not 0 < granted <= amount:
        asked = rho.text(amount)
        raise BadInput(
            "bad_number", f"granted: expected an amount of rho above 0, at most the {asked} asked for", field="granted"
        )


def _decide(asked: BudgetRequest, state: str, *, by: User, granted: Units | None, note: str) -> None:
    asked.state, asked.granted, asked.note = state, granted, note
    asked.decided_by, asked.decided_at = by, ticks.now()
    asked.save(update_fields=["state", "granted", "note", "decided_by", "decided_at"])
    notices.tell([asked.analyst], Notice.Kind.DECISION, asked.contract, request=asked)


def _event(asked: BudgetRequest, kind: str, actor: User, more: dict[str, object]) -> Event:
    return Event(
        kind, actor.username, {"request": str(asked.uid), "analyst": asked.analyst.username, "amount": asked.amount, **more}
    )


def _record(asked: BudgetRequest, kind: str, actor: User, more: dict[str, object]) -> None:
    audit.append(audit.chain_of(asked.contract), [_event(asked, kind, actor, more)])
