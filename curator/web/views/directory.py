"""The people of the site: its curators make accounts, give roles, switch off and on; never for themselves."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts import access, services
from accounts.forms import PersonForm
from accounts.models import Role, User
from curator.mechanism.errors import BadInput, Refused
from curator.refusals import status_of
from curator.selectors.people import everybody
from curator.web.pages import add_refusal, page, reader
from curator.web.problems import Problem


@require_http_methods(["GET", "HEAD", "POST"])
def directory(request: HttpRequest) -> HttpResponse:
    """Show people; make one, change one."""
    user = access.require_site_role(reader(request), Role.CURATOR)
    if request.method != "POST":
        return _show(request, PersonForm(initial={"roles": [Role.ANALYST]}))
    if request.POST.get("do") == "make":
        return _make(request, user)
    try:
        return _change(request, user, request.POST.get("do", ""))
    except Refused as refused:
        if status_of(refused) == 404:
            raise
        return _show(request, PersonForm(), problem=refused.detail, status=status_of(refused))


def _make(request: HttpRequest, user: User) -> HttpResponse:
    form = PersonForm(request.POST)
    if not form.is_valid():
        return _show(request, form, status=400)
    try:
        made = services.create_user(by=user, **form.cleaned_data)
    except Refused as refused:
        add_refusal(form, refused)
        return _show(request, form, status=status_of(refused))
    return _show(request, PersonForm(), made=made)


def _change(request: HttpRequest, user: User, step: str) -> HttpResponse:
    other = access.user_for(user, request.POST.get("username", ""))
    if step == "roles":
        services.set_roles(by=user, user=other, roles=request.POST.getlist("roles"))
        told = f"The roles of {other.get_username()} are changed."
    elif step == "off":
        services.deactivate(by=user, user=other, reason=request.POST.get("reason", ""))
        told = f"{other.get_username()} is switched off. What they did and spent stays on the record."
    elif step == "on":
        services.reactivate(by=user, user=other)
        told = f"{other.get_username()} is switched on again, with the password, roles and places they had."
    else:
        raise BadInput("bad_step", "This page does not know that button.")
    messages.success(request, told)
    return redirect("directory")


def _show(
    request: HttpRequest, form: PersonForm, *, made: services.NewUser | None = None, problem: str = "", status: int = 200
) -> HttpResponse:
    search, after = request.GET.get("search", "")[:150], request.GET.get("after", "")[:150]
    found = everybody(search=search, after=after)
    more = urlencode({"search": search, "after": found.more}) if found.more else ""
    return page(
        request, "account/directory.html", here="directory", status=status, form=form, found=found, made=made, search=search,
        more_url=f"?{more}" if more else "", first_url="" if found.first else f"?{urlencode({'search': search})}",
        problems=[Problem("", "", problem)] if problem else [],
    )  # fmt: skip
