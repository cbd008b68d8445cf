"""Who signed in and who failed to, on the site's chain.

A failed attempt is counted, and told once a minute, with the name of the person it was for; what was typed for a name that
nobody has is not kept, as people type passwords into the wrong box.
"""

from collections.abc import Mapping

from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from accounts import throttles
from accounts.forms import SignInForm
from accounts.hashing import turn
from accounts.models import User
from curator.services import audit, denials
from curator.services.audit import Event
from rdp_site.addresses import client_network

BACKEND = "django.contrib.auth.backends.ModelBackend"
LOCKED = "This name was tried too often from here. Wait a quarter of an hour, or sign in from where you usually do."


def tried(request: HttpRequest, typed: Mapping[str, str]) -> SignInForm:
    """A user name and password as they were typed, looked at, by whichever door; TooMany before any password is hashed.

    So many tries from one network, so few hashes at a time; whoever does not get in is counted for the record. Guesses at one
    name are stopped by django-axes, by name and address together: whoever is guessed at signs in from elsewhere.
    """
    throttles.check("sign-in", client_network(request), settings.SIGN_IN_RATE)
    form = SignInForm(request, typed)
    with turn():
        good = form.is_valid()
    if not good:
        failed(str(form.data.get("username", ""))[:150])
    return form


def let_in(request: HttpRequest, user: User) -> None:
    """Begin a session for somebody whose password was checked, or chosen, in this request; and record it."""
    auth.login(request, user, backend=BACKEND)
    signed_in(user)


def locked_out(request: HttpRequest, _: HttpResponse | None, credentials: object) -> HttpResponse:
    """What answers a name that was tried too often from one place (429): a page, or the API's error."""
    later = {"Retry-After": str(round(settings.AXES_COOLOFF_TIME.total_seconds()))}  # each try begins it anew
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "too_many_requests", "detail": LOCKED, "field": None}, status=429, headers=later)
    answer = render(request, "account/locked.html", {"told": LOCKED}, status=429)
    answer.headers["Retry-After"] = later["Retry-After"]
    return answer


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
