"""The wrapper that every page's view gets: refusals become pages.

What is missing and what is somebody else's are one answer: status 404 and the same page. Of what depends on private data
(`private`) only the person who asked learns.
"""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache

from accounts import access
from curator.mechanism.errors import BadInput, Refused
from curator.refusals import asked, say_when, status_of
from curator.web.navigation import site_links

View = Callable[..., HttpResponseBase]


def route(address: str, view: View, name: str, *, takes_files: bool = False) -> URLPattern:
    """An address of the site for people who are signed in; its refusals become pages. `takes_files`: more than a form's bytes."""
    guarded = never_cache(_signed_in(_refusals(view)))
    guarded.takes_files = takes_files  # type: ignore[attr-defined]  # read by rdp_site.bodies before the body is
    return path(address, guarded, name=name)


def open_route(address: str, view: View, name: str) -> URLPattern:
    """An address of the site for everybody, signed in or not; its refusals become pages."""
    return path(address, never_cache(_refusals(view)), name=name)


def _signed_in(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.headers.get("HX-Request"):  # a fragment cannot redirect: the page around it has to
            return HttpResponse(status=204, headers={"HX-Redirect": resolve_url("sign-in")})
        return redirect_to_login(request.get_full_path(), resolve_url("sign-in"))

    return guarded


def _refusals(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        try:
            _refuse_nul(request)
            return view(request, *args, **kwargs)
        except Refused as refused:
            return refusal(request, refused)

    return guarded


def _refuse_nul(request: HttpRequest) -> None:
    """No text of ours has the one character that PostgreSQL's texts cannot hold; wherever it is sent, it is told here."""
    for sent in (request.GET, request.POST):
        if any("\x00" in value for values in sent.lists() for value in values[1]):
            raise BadInput("bad_text", "Expected text without control characters.")


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    """The page of a refusal that no form could show; it is counted for the record, a 404 as denied access."""
    status = status_of(refused)
    access.count(request.user, asked(request.method, request.resolver_match), refused)
    if status == 404:
        return not_found(request)
    context = {"refused": refused, "site_links": site_links(request)}
    return say_when(render(request, "refused.html", context, status=status), refused)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The one page for what is missing and for what is not the reader's."""
    return render(request, "404.html", {"site_links": site_links(request)}, status=404)
