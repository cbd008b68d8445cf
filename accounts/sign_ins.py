"""Who signed in and who failed to, on the site's chain.

A failed attempt is counted, and told once a minute, with the name of the person it was for; what was typed for a name that
nobody has is not kept, as people type passwords into the wrong box.
"""

from django.contrib import auth
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from accounts.models import User
from curator.services import audit, denials
from curator.services.audit import Event

BACKEND = "django.contrib.auth.backends.ModelBackend"
LOCKED = "This name was tried too often from here. Wait a quarter of an hour, or sign in from where you usually do."


def let_in(request: HttpRequest, user: User) -> None:
    """Begin a session for somebody whose password was checked, or chosen, in this request; and record it."""
    auth.login(request, user, backend=BACKEND)
    signed_in(user)


def locked_out(request: HttpRequest, _: HttpResponse | None, credentials: object) -> HttpResponse:
    """What answers a name that was tried too often from one place (429): a page, or the API's error."""
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "too_many_requests", "detail": LOCKED, "field": None}, status=429)
    return render(request, "account/locked.html", {"told": LOCKED}, status=429)


def signed_in(user: User) -> None:
    """Somebody signed in."""
    audit.append_alone(audit.SITE, Event("sign_in", user.username, {}))


def failed(typed: str) -> None:
    """Somebody tried to, and was refused."""
    name = typed.replace("\x00", "").strip()
    known = User.objects.filter(username__iexact=name).values_list("username", flat=True).first()
    denials.count(denials.SIGN_IN, actor=known or "")


def password_changed(user: User) -> None:
    """Somebody changed their own password, in the transaction of the caller."""
    audit.append(audit.SITE, [Event("password.changed", user.username, {})])
