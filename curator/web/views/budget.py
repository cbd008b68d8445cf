"""Budget requests: an analyst makes them, a curator who is somebody else decides each once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import BadInput, Refused
from curator.models import BudgetRequest, Contract, Notice
from curator.refusals import status_of
from curator.selectors import formatting, purchases
from curator.selectors.requests import Inbox, OpenRequest, inbox, own_requests
from curator.selectors.workspace import meter
from curator.services import budget_requests, notices
from curator.web.forms.budget import DecisionForm, RequestForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def mine(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What I may spend, and asking for more."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    form = RequestForm(request.POST or None)
    status = 200
    if request.method != "POST":
        notices.seen(user, Notice.Kind.DECISION, contract=contract)
    else:
        status = 400
        if form.is_valid():
            try:
                budget_requests.request(analyst=user, contract=contract, **form.cleaned_data)
            except Refused as refused:
                add_refusal(form, refused)
                status = status_of(refused)
            else:
                messages.success(request, "Your request was sent. A curator decides it; you see the decision here.")
                return see_other("budget", contract.uid)
    return _mine(request, contract, user, form, status)


def _mine(request: HttpRequest, contract: Contract, user: User, form: RequestForm, status: int) -> HttpResponse:
    lines = own_requests(contract, user)
    state = meter(contract, user)
    return contract_page(
        request,
        "budget/mine.html",
        contract,
        here="budget",
        status=status,
        form=form,
        meter=state,
        buys=purchases.buys(state.available),
        waiting=next((line for line in lines if line.state == BudgetRequest.State.OPEN), None),
        decided=[line for line in lines if line.state != BudgetRequest.State.OPEN],
    )


@require_safe
def requests(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A curator's inbox."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    notices.seen(user, Notice.Kind.REQUEST, contract=contract)
    return _inbox(request, contract, inbox(contract, user))


@require_POST
def decide(request: HttpRequest, uid: UUID, request_uid: UUID) -> HttpResponse:
    """Approve all or part of a request, or reject it with a note."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    asked = access.request_for(user, request_uid, role=Role.CURATOR)
    form = DecisionForm(request.POST)
    try:
        told = _decided(request.POST.get("do", ""), user, asked, form)
    except Refused as refused:
        typed = {"problem": refused.detail, "grant": request.POST.get("granted", ""), "note": request.POST.get("note", "")}
        return _inbox(request, contract, inbox(contract, user), status=status_of(refused), sent=asked.uid, typed=typed)
    messages.success(request, told)
    return see_other("requests", contract.uid)


def _decided(step: str, user: User, asked: BudgetRequest, form: DecisionForm) -> str:
    """Do it, and say what was done."""
    if not form.is_valid():
        raise BadInput("bad_number", str(next(iter(form.errors.values()))[0]), field=next(iter(form.errors)))
    who, note = asked.analyst.get_username(), form.cleaned_data["note"]
    if step == "reject":
        budget_requests.reject(curator=user, request=asked, note=note)
        return f"Rejected, with your note to {who}."
    granted = form.cleaned_data["granted"]
    if step != "approve" or granted is None:
        raise BadInput("bad_number", "Say how much is granted.", field="granted")
    budget_requests.approve(curator=user, request=asked, granted=granted, note=note)
    return f"Approved: {who} may spend {formatting.amount(granted)} ρ more."


@dataclass(frozen=True)
class _Item:
    """A request that waits, with what was typed into its form."""

    request: OpenRequest
    grant: str
    note: str = ""
    problem: str = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.request, name)


def _inbox(
    request: HttpRequest,
    contract: Contract,
    found: Inbox,
    *,
    status: int = 200,
    sent: UUID | None = None,
    typed: dict[str, str] | None = None,
) -> HttpResponse:
    items = [_Item(item, **typed) if typed and item.line.uid == sent else _item(item) for item in found.open]
    decided_already = "" if not typed or any(item.line.uid == sent for item in found.open) else typed["problem"]
    return contract_page(
        request, "budget/inbox.html", contract, here="requests", status=status, inbox=found, items=items, problem=decided_already
    )


def _item(item: OpenRequest) -> _Item:
    return _Item(item, formatting.whole(item.line.amount))
