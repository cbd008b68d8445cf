"""One's own account: mail, keys for programs, notices."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import profile, tokens
from accounts.forms import EmailForm, TokenForm
from accounts.models import ApiToken, User
from curator.mechanism.errors import BadInput, Refused
from curator.refusals import status_of
from curator.selectors import notices as reads
from curator.services import notices as services
from curator.web.pages import add_refusal, page, reader


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """What I may change about myself."""
    user = reader(request)
    if request.method != "POST":
        return _account(request, user, EmailForm(initial={"email": user.email}))
    if request.POST.get("do") == "mail":
        profile.set_mail(user=user, notices="mail_notices" in request.POST)
        messages.success(request, "Notices come by mail." if user.mail_notices else "Notices stay on the page.")
        return redirect("account")
    return _set_email(request, user)


def _set_email(request: HttpRequest, user: User) -> HttpResponse:
    form = EmailForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            profile.set_email(user=user, **form.cleaned_data)
        except BadInput as refused:
            add_refusal(form, refused)
            status = status_of(refused)
        else:
            messages.success(request, "Your mail address is changed.")
            return redirect("account")
    return _account(request, user, form, status=status)


def _account(request: HttpRequest, user: User, form: EmailForm, *, status: int = 200) -> HttpResponse:
    roles = [name for name in ("analyst", "curator", "auditor") if user.has_role(name)]
    return page(request, "account/account.html", status=status, form=form, roles=roles)


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """My keys; a POST makes one and shows its secret, this once and to nobody else."""
    user = reader(request)
    form = TokenForm(request.POST or None)
    if request.method != "POST":
        return _keys(request, user, TokenForm())
    if not form.is_valid():
        return _keys(request, user, form, status=400)
    try:
        made, secret = tokens.issue(user=user, **form.cleaned_data)
    except Refused as refused:
        add_refusal(form, refused)
        return _keys(request, user, form, status=status_of(refused))
    return _keys(request, user, TokenForm(), made=made, secret=secret)


@require_POST
def revoke_key(request: HttpRequest, token_id: int) -> HttpResponse:
    """End one of my keys."""
    ended = tokens.revoke(user=reader(request), token_id=token_id)
    messages.success(request, f"The key {ended.name} is revoked: no program gets in with it any more.")
    return redirect("keys")


def _keys(
    request: HttpRequest, user: User, form: TokenForm, *, made: ApiToken | None = None, secret: str = "", status: int = 200
) -> HttpResponse:
    mine = tokens.of(user)
    return page(request, "account/keys.html", status=status, form=form, keys=mine, made=made, secret=secret)


@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """What concerns me, newest first."""
    before = request.GET.get("before", "")
    mark = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else 0
    found = reads.notices(reader(request), before=mark)
    return page(
        request, "account/notices.html", found=found, more_url=f"?before={found.more}" if found.more else "",
        first_url="" if found.first else request.path,
    )  # fmt: skip


@require_POST
def notices_seen(request: HttpRequest) -> HttpResponse:
    """I have seen them all."""
    services.seen(reader(request))
    return redirect("notices")
