"""Who belongs to a contract, who is invited to it, and what each analyst may spend of it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts import access, invitations
from accounts.models import Role, User
from accounts.services import person
from curator.mechanism.errors import BadInput, Refused
from curator.models import Contract, Notice
from curator.refusals import status_of
from curator.selectors import control as reads
from curator.services import contracts, notices
from curator.web.forms.people import AllotmentForm, InvitationForm, MemberForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.problems import Problem
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show the members; add or invite one, remove one, set an allotment."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    if request.method != "POST":
        notices.seen(user, Notice.Kind.JOINED, contract=contract)
        return _show(request, contract)
    if request.POST.get("do") == "add":
        return _add(request, contract, user)
    if request.POST.get("do") == "invite":
        return _invite(request, contract, user)
    try:
        told = _change(request, contract, user)
    except Refused as refused:
        return _show(request, contract, problem=refused.detail, status=status_of(refused))
    messages.success(request, told)
    still = access.has_place(user, contract, Role.CURATOR)
    return see_other("people", contract.uid) if still else redirect("home")


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
    return _show(request, contract, form=form, status=status)


def _invite(request: HttpRequest, contract: Contract, user: User) -> HttpResponse:
    """The page after it shows the link, this once."""
    form = InvitationForm(request.POST, prefix="invite")
    if not form.is_valid():
        return _show(request, contract, invite=form, status=400)
    try:
        made, secret = invitations.invite(curator=user, contract=contract, **form.cleaned_data)
    except Refused as refused:
        add_refusal(form, refused)
        return _show(request, contract, invite=form, status=status_of(refused))
    link = request.build_absolute_uri(reverse("invitation", args=[secret]))
    return _show(request, contract, link=link, sent=invitations.send(made, secret), made=made)


def _change(request: HttpRequest, contract: Contract, user: User) -> str:
    """Take an invitation back, remove a member or set an allotment, and say what was done."""
    step = request.POST.get("do", "")
    if step == "revoke":
        invitations.revoke(curator=user, invitation=access.invitation_for(user, request.POST.get("invitation", "")))
        return "The invitation is taken back: its link opens nothing any more."
    member = person(request.POST.get("username", ""))
    if step == "remove":
        contracts.remove_member(curator=user, contract=contract, user=member, role=request.POST.get("role", ""))
        return f"{member.get_username()} is removed."
    if step != "allot":
        raise BadInput("bad_step", "This page does not know that button.")
    form = AllotmentForm(request.POST)
    if not form.is_valid():
        name, told = next(iter(form.errors.items()))
        raise BadInput("bad_allotment", f"{form.fields[name].label}: {told[0]}", field=name)
    contracts.set_allotment(curator=user, contract=contract, analyst=member, **form.cleaned_data)
    return f"The allotment of {member.get_username()} is set."


def _show(
    request: HttpRequest, contract: Contract, *, form: MemberForm | None = None, invite: InvitationForm | None = None,
    problem: str = "", status: int = 200, **told: object,
) -> HttpResponse:  # fmt: skip
    return contract_page(
        request,
        "contract/people.html",
        contract,
        here="people",
        status=status,
        people=reads.people(contract),
        invitations=invitations.open_invitations(contract),
        gauge=reads.gauge(contract),
        form=form or MemberForm(),
        invite=invite or InvitationForm(prefix="invite"),
        problems=[Problem("", "", problem)] if problem else [],
        **told,
    )
