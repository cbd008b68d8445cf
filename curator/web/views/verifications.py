"""Verifying in place: asked for on a page, made by the worker, looked at while it goes on."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access
from curator.selectors import audit as reads
from curator.selectors.verifications import latest, verification_page
from curator.services.verification import requested
from curator.web.pages import page, reader


@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: HttpRequest) -> HttpResponse:
    """Ask for one chain, or for all I may read; my last ones."""
    user = reader(request)
    chains = access.record_of(user)
    chosen = request.POST.get("chain", "")
    if chosen and chosen not in chains:
        raise access.not_yours()
    if request.method == "POST":
        made = requested.start(owner=user, chains=[chosen] if chosen else reads.ordered(chains))
        return redirect("verification", made.uid)
    return page(request, "audit/verify.html", here="audit", heads=reads.heads(chains), latest=latest(user))


@require_safe
def verification(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One verification: progress while it waits, then what came of it."""
    found = verification_page(access.verification_for(reader(request), uid))
    return page(request, "audit/verification.html", here="audit", page=found)


@require_safe
def status(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The part of the page that looks again until the verification is final."""
    found = verification_page(access.verification_for(reader(request), uid))
    return render(request, "audit/verified.html", {"page": found})
