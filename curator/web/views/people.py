"""Who belongs to a contract, and what each analyst may spend of it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import Role, User
from accounts.services import person
from curator.mechanism.errors import BadInput, Refused
from curator.models import Contract
from curator.selectors import control as reads
from curator.services import contracts
from curator.web.errors import status_of
from curator.web.forms.contracts import AllotmentForm, MemberForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.problems import Problem
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show the members; add one, remove one, set an allotment."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    if request.method != "POST":
        return _show(request, contract, MemberForm())
    if request.POST.get("do") == "add":
        return _add(request, contract, user)
    try:
        told = _change(request, contract, user)
    except Refused as refused:
        return _show(request, contract, MemberForm(), problem=refused.detail, status=status_of(refused))
    messages.success(request, told)
    return see_other("people", contract.uid)


def _add(request: HttpRequest, contract: Contract, user: User) -> HttpResponse:
    form = MemberForm(request.POST)
    status = 400
    if form.is_valid():
        data = form.cleaned_data
        try:
            added = person(data["username"])
            contracts.add_member(curator=user, contract=contract, user=added, role=data["role"], allotment=data["allotment"])
        except Refused as refused:
            refused.field = "username" if refused.field == "user" else refused.field
            add_refusal(form, refused)
            status = status_of(refused)
        else:
            messages.success(request, f"{added.get_username()} is added as {data['role']}.")
            return see_other("people", contract.uid)
    return _show(request, contract, form, status=status)


def _change(request: HttpRequest, contract: Contract, user: User) -> str:
    """Remove a member or set an allotment, and say what was done."""
    member = person(request.POST.get("username", ""))
    if request.POST.get("do") == "remove":
        contracts.remove_member(curator=user, contract=contract, user=member, role=request.POST.get("role", ""))
        return f"{member.get_username()} is removed."
    form = AllotmentForm(request.POST)
    if not form.is_valid():
        name, told = next(iter(form.errors.items()))
        raise BadInput("bad_allotment", f"{form.fields[name].label}: {told[0]}", field=name)
    contracts.set_allotment(curator=user, contract=contract, analyst=member, **form.cleaned_data)
    return f"The allotment of {member.get_username()} is set."


def _show(request: HttpRequest, contract: Contract, form: MemberForm, *, problem: str = "", status: int = 200) -> HttpResponse:
    return contract_page(
        request,
        "contract/people.html",
        contract,
        here="people",
        status=status,
        people=reads.people(contract),
        gauge=reads.gauge(contract),
        form=form,
        problems=[Problem("", "", problem)] if problem else [],
    )
