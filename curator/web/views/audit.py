"""The record: a log with filters that stay in the address, one event, and verifying in place."""

from collections.abc import Sequence
from datetime import date
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access
from accounts.models import Role, User
from curator.models import Contract
from curator.selectors import audit as reads
from curator.selectors.audit import Filters
from curator.services.verification import Report, verify_for
from curator.web.pages import page, reader
from curator.web.problems import Problem
from curator.web.views.released import number


@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Events of the chains I may read, newest first."""
    chains = _chains(reader(request))
    filters, problems = read_filters(request.GET)
    found = reads.log(chains, filters, before=number(request.GET.get("before", "")))
    kept = {name: value for name, value in request.GET.items() if name != "before" and value}
    here = reverse("audit")
    return page(
        request,
        "audit/log.html",
        here="audit",
        status=400 if problems else 200,
        page=found,
        filters=filters,
        problems=problems,
        heads=reads.heads(chains),
        kinds=reads.kinds(chains),
        more_url=f"{here}?{urlencode(kept | {'before': found.more})}" if found.more else "",
        first_url="" if found.first else f"{here}?{urlencode(kept)}",
    )


@require_safe
def event(request: HttpRequest, chain: str, seq: int) -> HttpResponse:
    """One event with its operands and the bytes that were hashed."""
    row = access.event_for(reader(request), chain, seq)
    return page(request, "audit/event.html", here="audit", page=reads.event_page(row))


@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: HttpRequest) -> HttpResponse:
    """Recompute the record from its rows, on request."""
    user = reader(request)
    chains = [chain for chain in _chains(user) if chain != reads.SITE]
    chosen = request.POST.get("chain", "")
    if chosen and chosen not in chains:
        raise access.not_yours()
    report = _verified(user, [chosen] if chosen else chains) if request.method == "POST" else None
    return page(
        request,
        "audit/verify.html",
        here="audit",
        report=report,
        checked=sorted(report.checked.items()) if report else (),
        heads=reads.heads(chains),
        chosen=chosen,
    )


def _verified(user: User, chains: Sequence[str]) -> Report:
    return verify_for(user, list(Contract.objects.filter(uid__in=chains).order_by("id")))


def _chains(user: User) -> list[str]:
    """The chains that the reader may see; somebody who may see none, and is no auditor, has no record to read."""
    chains = access.chains_of(user)
    if not chains and not user.has_role(Role.AUDITOR):
        raise access.not_yours()
    return chains


def read_filters(data: QueryDict) -> tuple[Filters, list[Problem]]:
    """The filters as typed; a day that is none is told and left out."""
    problems: list[Problem] = []
    since, until = (_day(data, name, problems) for name in ("since", "until"))
    texts = {name: data.get(name, "").strip()[:150].replace("\x00", "") for name in ("chain", "kind", "actor")}
    return Filters(**texts, since=since, until=until), problems


def _day(data: QueryDict, name: str, problems: list[Problem]) -> date | None:
    text = data.get(name, "").strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        problems.append(Problem(name, name, f"{'From' if name == 'since' else 'Through'}: expected a day written YYYY-MM-DD."))
        return None
