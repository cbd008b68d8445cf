"""The page behind the link of an invitation: somebody new makes an account, somebody who is signed in accepts.

Looking changes nothing: programs that open links in mails do not use an invitation up. Whoever signs in on the way comes back
to a page without the secret in its address: their session keeps which invitation it was, by its public id.
"""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_http_methods

from accounts import invitations, sign_ins, throttles
from accounts.forms import JoinForm
from accounts.invitations import SAYS
from accounts.models import Invitation, Role, User
from curator.mechanism.errors import NotYours, Refused
from curator.refusals import say_when, status_of
from curator.selectors import purchases
from curator.web.pages import add_refusal
from curator.web.views.ask import see_other
from rdp_site.addresses import client_network

KEPT = "invitation"  # in the session
FRONT = {Role.ANALYST: "workspace", Role.CURATOR: "control", Role.AUDITOR: "released"}


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what it is an invitation to; a POST takes it."""
    return _open(request, lambda: invitations.find(secret))


@require_http_methods(["GET", "HEAD", "POST"])
def kept_invitation(request: HttpRequest) -> HttpResponse:
    """The same for the invitation that was opened before signing in."""
    return _open(request, lambda: invitations.find_kept(request.session.get(KEPT, "")))


def _open(request: HttpRequest, find: Callable[[], Invitation]) -> HttpResponse:
    try:
        found = find()
    except NotYours as refused:
        return render(request, "account/invitation_over.html", {"refused": refused}, status=404)
    user = request.user
    if request.method != "POST":
        return _show(request, found, JoinForm(invited=found.email))
    if isinstance(user, User):
        return _accept(request, found, user)
    if request.POST.get("do") == "sign-in":
        request.session[KEPT] = str(found.uid)
        return redirect_to_login(resolve_url("invitation-kept"), resolve_url("sign-in"))
    return _join(request, found)


def _accept(request: HttpRequest, found: Invitation, user: User) -> HttpResponse:
    try:
        place = invitations.accept_found(user=user, invitation=found)
    except Refused as refused:
        return _show(request, found, None, problem=refused.detail, status=status_of(refused))
    return _welcome(request, found, place.role)


def _join(request: HttpRequest, found: Invitation) -> HttpResponse:
    throttles.check("door", client_network(request), settings.DOOR_RATE)  # before any password is hashed
    form = JoinForm(request.POST, invited=found.email)
    if not form.is_valid():
        return _show(request, found, form, status=400)
    chosen = {name: form.cleaned_data.get(name, "") for name in ("username", "password", "email")}
    try:
        user = invitations.join_found(invitation=found, **chosen)
    except Refused as refused:
        add_refusal(form, refused)
        return say_when(_show(request, found, form, status=status_of(refused)), refused)
    sign_ins.let_in(request, user)
    return _welcome(request, found, found.role)


def _welcome(request: HttpRequest, found: Invitation, role: str) -> HttpResponse:
    request.session.pop(KEPT, None)
    messages.success(request, f"Welcome. {SAYS[Role(role)]}")
    return see_other(FRONT[Role(role)], found.contract.uid)


def _show(
    request: HttpRequest, found: Invitation, form: JoinForm | None, *, problem: str = "", status: int = 200
) -> HttpResponse:
    told = {
        "invitation": found,
        "form": form,
        "problem": problem,
        "role": Role(found.role).label,
        "says": SAYS[Role(found.role)],
        "buys": "" if found.allotment is None else purchases.buys(found.allotment),
        "asks": found.role == Role.ANALYST,
    }
    return render(request, "account/invitation.html", told, status=status)
