"""Budget requests: an analyst makes them, a curator who is somebody else decides each once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import BadInput, Refused
from curator.mechanism.rho import Units
from curator.models import BudgetRequest, Contract, Notice
from curator.refusals import status_of
from curator.selectors import formatting, purchases
from curator.selectors.allotments import allotment_lines
from curator.selectors.requests import Inbox, OpenRequest, inbox, own_requests
from curator.selectors.workspace import meter
from curator.services import budget_requests, notices
from curator.web.forms.budget import DecisionForm, NeedForm, RequestForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.views.ask import see_other


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was typed into the form of a request, and what is wrong with it: `granted`, `note`, or `all` of it."""

    grant: str
    note: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@require_http_methods(["GET", "HEAD", "POST"])
def mine(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What I may spend, and asking for more."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    form = RequestForm(request.POST or None)
    status = 200
    if request.method != "POST":
        notices.seen(user, Notice.Kind.DECISION, Notice.Kind.ALLOTTED, contract=contract)
    elif request.POST.get("do") == "work_out":
        return _work_out(request, contract, user)
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


def _work_out(request: HttpRequest, contract: Contract, user: User) -> HttpResponse:
    """The form again, with what the counts would cost as its amount; nothing is asked for."""
    needed = NeedForm(request.POST)
    typed = {name: request.POST.get(name, "") for name in ("amount", "reason")}
    if needed.is_valid():
        price = purchases.price(needed.cleaned_data["counts"], bound=needed.cleaned_data["within"])
        typed["amount"] = formatting.amount(price, price=True)
        return _mine(request, contract, user, RequestForm(initial=typed), 200, needed=needed, price=price)
    return _mine(request, contract, user, RequestForm(initial=typed), 400, needed=needed)


def _mine(
    request: HttpRequest, contract: Contract, user: User, form: RequestForm, status: int, *, needed: NeedForm | None = None,
    price: Units | None = None,
) -> HttpResponse:  # fmt: skip
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
        changes=allotment_lines(contract, user),
        needed=needed or NeedForm(),
        price=price,
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
    if request.POST.get("do") == "preview":
        return _preview(request, contract, user, asked, form)
    try:
        told = _decided(request.POST.get("do", ""), user, asked, form)
    except Refused as refused:
        typed = _typed(request, {refused.field if refused.field in form.fields else "all": _plain(refused)})
        found = inbox(contract, user, grants=_grants(asked, form))
        return _inbox(request, contract, found, status=status_of(refused), sent=asked.uid, typed=typed)
    messages.success(request, told, extra_tags="figures")
    return see_other("requests", contract.uid)


def _preview(
    request: HttpRequest, contract: Contract, user: User, asked: BudgetRequest, form: DecisionForm
) -> HttpResponse:  # fmt: skip
    """The inbox with what granting the typed amount would change; nothing is decided."""
    form.is_valid()
    granted = form.cleaned_data.get("granted")
    problems = {"granted": str(form.errors["granted"][0])} if "granted" in form.errors else {}
    if granted is not None and granted > asked.amount:
        problems = {"granted": f"At most the {formatting.whole(asked.amount)} ρ that are asked for can be granted."}
    found = inbox(contract, user, grants=_grants(asked, form))
    return _inbox(request, contract, found, sent=asked.uid, typed=_typed(request, problems))


def _grants(asked: BudgetRequest, form: DecisionForm) -> dict[UUID, Units]:
    """The amount that is typed, where it can be read."""
    granted = form.cleaned_data.get("granted")
    return {} if granted is None else {asked.uid: granted}


def _typed(request: HttpRequest, problems: Mapping[str, str]) -> _Typed:
    return _Typed(request.POST.get("granted", ""), request.POST.get("note", ""), problems)


def _plain(refused: Refused) -> str:
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    return detail[:1].upper() + detail[1:]


def _decided(step: str, user: User, asked: BudgetRequest, form: DecisionForm) -> str:
    """Do it, and say what was done."""
    form.is_valid()
    wrong = next((name for name in form.errors if step != "reject" or name == "note"), None)
    if wrong:
        raise BadInput("bad_number", str(form.errors[wrong][0]), field=wrong)
    who, note = asked.analyst.get_username(), form.cleaned_data["note"]
    if step == "reject":
        if not note:
            raise BadInput("missing_text", f"Say why: a request is turned down with a note to {who}.", field="note")
        budget_requests.reject(curator=user, request=asked, note=note)
        return f"Rejected, with your note to {who}."
    granted = form.cleaned_data["granted"]
    if step != "approve" or granted is None:
        raise BadInput("bad_number", "Say how much is granted.", field="granted")
    budget_requests.approve(curator=user, request=asked, granted=granted, note=note)
    return f"Approved: {who} may spend {formatting.spoken(granted)} more."


@dataclass(frozen=True)
class _Item:
    """A request that waits, with what was typed into its form."""

    request: OpenRequest
    typed: _Typed


def _inbox(
    request: HttpRequest,
    contract: Contract,
    found: Inbox,
    *,
    status: int = 200,
    sent: UUID | None = None,
    typed: _Typed | None = None,
) -> HttpResponse:
    items = [_Item(item, typed) if typed and item.line.uid == sent else _item(item) for item in found.open]
    gone = typed is not None and all(item.line.uid != sent for item in found.open)
    decided_already = next(iter(typed.problems.values()), "") if typed and gone else ""
    return contract_page(
        request, "budget/inbox.html", contract, here="requests", status=status, inbox=found, items=items, problem=decided_already
    )


def _item(item: OpenRequest) -> _Item:
    return _Item(item, _Typed(formatting.whole(item.line.amount)))
