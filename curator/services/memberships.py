"""Who belongs to a contract, in which role, and what each analyst may spend of it.

A place ends by being switched off; what was spent in it is kept, and counts again when the person comes back.
"""

from django.db import transaction

from accounts.models import Invitation, Membership, Role, User
from curator import ticks
from curator.mechanism import rho as amounts
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.rho import Units
from curator.models import Allotment, AnalystBudget, BudgetRequest, Contract, Notice, Query
from curator.services import audit, notices, texts
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, State, curator_places, curators, locked_budget, locked_for
from curator.services.contract_settings import check_amount

Kind = Notice.Kind


def add_member(
    *, curator: User, contract: Contract, user: User, role: str, allotment: Units | None = None, reason: str = "",
    invitation: Invitation | None = None,
) -> Membership:  # fmt: skip
    """Give `user` a place in `contract`; an analyst gets `allotment` (None: no limit of their own, 0: nothing may be spent).

    `invitation` is the one that `user` has just accepted; `curator` is then whoever made it.

    Refused: Conflict already_member; BadInput role_missing (they do not hold that role on the site), own_membership (nobody
    makes themselves an analyst of a contract they curate), below_spent (they were here before and spent more).
    """
    why = texts.optional(reason, field="reason")
    if allotment is not None:
        check_amount(allotment, field="allotment")
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT, *LIVE)
        _check_place(curator, user, role)
        place = _switched_on(row, user, role, curator)
        accepted = {"invitation": str(invitation.uid)} if invitation else {}
        events = [Event("member.added", curator.username, {"user": user.username, "role": role, **accepted})]
        budget = _open_budget(row, user, allotment) if role == Role.ANALYST else None
        if budget is not None:
            events.append(_allotment_event(curator, user, before=budget.allotment, after=allotment, reason=why, request=None))
        notices.tell([curator if invitation else user], Kind.JOINED if invitation else Kind.MEMBER, row)
        recorded = audit.append(audit.chain_of(row), events)
        if budget is not None:
            _set(budget, allotment, by=curator, reason=why, request=None, seq=recorded[-1].seq)
    return place


def remove_member(*, curator: User, contract: Contract, user: User, role: str, reason: str = "") -> Membership:
    """End a place. An analyst's waiting questions are cancelled uncharged, their budget row stays as it is.

    Refused: Conflict not_a_member; last_curator; needs_consent, as one of two curators does not remove the other.
    """
    why = texts.optional(reason, field="reason")
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT, *LIVE)
        place = Membership.objects.filter(contract=row, user=user, role=role, active=True).first()
        if place is None:
            raise Conflict("not_a_member", f"{user.username} is not a member in that role.", field="user")
        if role == Role.CURATOR:
            _check_leaving(row, user, curator)
        place.active = False
        place.save(update_fields=["active"])
        events = _cancel_waiting(row, user, curator) if role == Role.ANALYST else []
        removed = Event("member.removed", curator.username, {"user": user.username, "role": role, "reason": why})
        if user.pk != curator.pk:
            notices.tell([user], Kind.LEFT, row)
        audit.append(audit.chain_of(row), [removed, *events])
    return place


def set_allotment(*, curator: User, contract: Contract, analyst: User, rho: Units | None, reason: str) -> AnalystBudget:
    """Set what `analyst` may spend in all (None: no limit of their own) and tell them why, if it changed.

    Below what is spent already: refused, below_spent.
    """
    why = texts.paragraph(reason, field="reason")
    if rho is not None:
        check_amount(rho, field="rho")
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT, *LIVE)
        if curator.pk == analyst.pk:
            raise BadInput("own_allotment", "Nobody sets their own allotment.", field="analyst")
        budget = locked_budget(row, analyst)
        if budget is None:
            raise BadInput("not_an_analyst", f"{analyst.username} is not an analyst of this contract.", field="analyst")
        before = budget.allotment
        made = record_allotment(row, budget, rho, by=curator, reason=why)
        if rho != before:
            notices.tell([analyst], Kind.ALLOTTED, row, allotment=made)
    return budget


def record_allotment(
    contract: Contract, budget: AnalystBudget, rho: Units | None, *, by: User, reason: str,
    request: BudgetRequest | None = None, first: tuple[Event, ...] = (),
) -> Allotment:  # fmt: skip
    """Set a locked budget of a locked contract to `rho` and record it after the events in `first`; it locks no other budget."""
    _check_spent(budget, rho, field="rho")
    changed = _allotment_event(by, budget.analyst, before=budget.allotment, after=rho, reason=reason, request=request)
    recorded = audit.append(audit.chain_of(contract), [*first, changed])
    return _set(budget, rho, by=by, reason=reason, request=request, seq=recorded[-1].seq)


def _check_leaving(contract: Contract, user: User, curator: User) -> None:
    """A contract keeps a curator, and one of two cannot get rid of the one who must agree to a raise."""
    if curators(contract) == [user]:
        raise Conflict("last_curator", "A contract keeps at least one curator.", field="user")
    if user.pk != curator.pk and len(curator_places(contract)) <= 2:
        detail = "One of two curators does not remove the other: they leave themselves, or a third one joins first."
        raise Conflict("needs_consent", detail, field="user")


def _check_place(curator: User, user: User, role: str) -> None:
    if role not in Role.values:
        raise BadInput("unknown_role", f"role: expected one of {', '.join(Role.values)}", field="role")
    if not user.is_active or not user.has_role(role):
        raise BadInput("role_missing", f"role: {user.username} does not hold the role {role} here", field="role")
    if role == Role.ANALYST and user.pk == curator.pk:
        raise BadInput("own_membership", "user: somebody else makes a curator an analyst of their contract", field="user")


def _switched_on(contract: Contract, user: User, role: str, curator: User) -> Membership:
    place, made = Membership.objects.get_or_create(contract=contract, user=user, role=role, defaults={"added_by": curator})
    if not made and place.active:
        raise Conflict("already_member", f"{user.username} is a member in that role already.", field="user")
    place.active = True
    place.save(update_fields=["active"])
    return place


def _open_budget(contract: Contract, user: User, allotment: Units | None) -> AnalystBudget:
    """The locked budget row, made at 0 where there was none; checked against what was spent in an earlier place."""
    made, _ = AnalystBudget.objects.get_or_create(contract=contract, analyst=user, defaults={"allotment": 0})
    budget = locked_budget(contract, user) or made
    _check_spent(budget, allotment, field="allotment")
    return budget


def _check_spent(budget: AnalystBudget, rho: Units | None, *, field: str) -> None:
    if rho is not None and rho < budget.spent:
        spent = amounts.text(budget.spent)
        raise BadInput("below_spent", f"{field}: expected at least {spent}, which is spent already", field=field, spent=spent)


def _set(
    budget: AnalystBudget, rho: Units | None, *, by: User, reason: str, request: BudgetRequest | None, seq: int
) -> Allotment:
    budget.allotment = rho
    budget.save(update_fields=["allotment"])
    return Allotment.objects.create(
        contract=budget.contract, analyst=budget.analyst, rho=rho, set_by=by, reason=reason, request=request, event_seq=seq
    )


def _allotment_event(
    by: User, analyst: User, *, before: Units | None, after: Units | None, reason: str, request: BudgetRequest | None
) -> Event:
    data: dict[str, object] = {
        "analyst": analyst.username, "before": before, "after": after, "reason": reason,
        "request": str(request.uid) if request else None,
    }  # fmt: skip
    return Event("allotment.set", by.username, data)


def _cancel_waiting(contract: Contract, analyst: User, curator: User) -> list[Event]:
    waiting = Query.objects.filter(contract=contract, analyst=analyst, state=Query.State.WAITING).order_by("id")
    uids = list(waiting.select_for_update(no_key=True).values_list("uid", flat=True))
    Query.objects.filter(uid__in=uids).update(state=Query.State.CANCELLED, finished_at=ticks.now())
    return [Event("query.cancelled", curator.username, {"reason": "member_removed"}, uid) for uid in uids]
