"""Raising a contract's total: proposed by one curator, decided by another where there is one."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import BadInput, Refused
from curator.models import Contract, Notice, TotalRaise
from curator.refusals import status_of
from curator.selectors import control as reads
from curator.services import contracts, notices
from curator.services.contract_rows import LIVE, curator_places
from curator.web.forms.contracts import RaiseForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.problems import Problem
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def raises(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show what waits and what was decided; propose, approve, turn down, withdraw."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    if request.method != "POST":
        notices.seen(user, Notice.Kind.RAISE, Notice.Kind.RAISED, contract=contract)
        return _show(request, contract, RaiseForm(prefix="raise"))
    if request.POST.get("do") == "raise":
        return _propose(request, contract, user)
    try:
        told = _decide(request, user)
    except Refused as refused:
        if status_of(refused) == 404:
            raise
        return _show(request, contract, RaiseForm(prefix="raise"), problem=refused.detail, status=status_of(refused))
    messages.success(request, told)
    return see_other("raises", contract.uid)


def _propose(request: HttpRequest, contract: Contract, user: User) -> HttpResponse:
    form = RaiseForm(request.POST, prefix="raise")
    status = 400
    if form.is_valid():
        try:
            made = contracts.raise_total(curator=user, contract=contract, **form.cleaned_data)
        except Refused as refused:
            add_refusal(form, refused)
            status = status_of(refused)
        else:
            applied = made.state == TotalRaise.State.APPLIED
            messages.success(request, "The total is raised." if applied else "Proposed: another curator decides it.")
            return see_other("raises", contract.uid)
    return _show(request, contract, form, status=status)


def _decide(request: HttpRequest, user: User) -> str:
    proposal = access.raise_for(user, request.POST.get("raise", ""))
    step, note = request.POST.get("do", ""), request.POST.get("note", "")
    if step == "approve":
        contracts.approve_raise(curator=user, proposal=proposal)
        return "The total is raised."
    if step != "reject":
        raise BadInput("bad_step", "This page does not know that button.")
    contracts.reject_raise(curator=user, proposal=proposal, note=note)
    return "Withdrawn." if proposal.proposed_by_id == user.pk else "Turned down, with your note."


def _show(request: HttpRequest, contract: Contract, form: RaiseForm, *, problem: str = "", status: int = 200) -> HttpResponse:
    found = reads.raises(contract)
    waits = any(each.state == TotalRaise.State.OPEN for each in found)
    return contract_page(
        request, "contract/raises.html", contract, here="control", status=status, raises=found, gauge=reads.gauge(contract),
        form=form if contract.state in LIVE and not waits else None, alone=len(curator_places(contract)) < 2,
        problems=[Problem("", "", problem)] if problem else [],
    )  # fmt: skip
