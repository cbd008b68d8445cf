"""One question: waiting, then answered, for its asker and for those who curate or audit the contract."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts import access
from curator.mechanism.errors import Conflict
from curator.models import Query
from curator.selectors.answers import QueryPage, place_in_queue, query_page
from curator.services import notices, queries
from curator.web.charts import histogram_chart
from curator.web.pages import contract_page, reader
from curator.web.views.ask import see_other


@require_safe
def query(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page of a question."""
    row = access.query_for(reader(request), uid)
    return contract_page(request, "query/detail.html", row.contract, here="workspace", **_context(request, row))


@require_safe
def status(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The part of that page that polls itself until the question is final; nothing while nothing has changed."""
    row = access.query_for(reader(request), uid)
    place = place_in_queue(row)
    if place is not None and request.GET.get("place") == str(place):
        return HttpResponse(status=204)
    return render(request, "query/status.html", {"contract": row.contract, **_context(request, row)})


@require_POST
def cancel(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Take one's own waiting question back; if it was decided meanwhile, its page says so."""
    user = reader(request)
    row = access.query_for(user, uid, own=True)
    try:
        queries.cancel(analyst=user, query=row)
    except Conflict as conflict:
        messages.info(request, conflict.detail)
    return see_other("query", row.uid)


def _context(request: HttpRequest, row: Query) -> dict[str, Any]:
    found = query_page(row)
    if row.state != Query.State.WAITING:
        notices.seen(reader(request), query=row)
    return {
        "query": found,
        "own": row.analyst_id == request.user.pk,
        "chart": histogram_chart(found) if found.histogram and found.bins else None,
        "tighten_url": f"{reverse('ask', args=[row.contract.uid])}?from={row.uid}&within={tighter(found)}",
    }


def tighter(found: QueryPage) -> int:
    """A bound to start from when tightening: half of what was reached."""
    bounds = [bin_.bound for bin_ in found.bins if bin_.bound]
    return max(1, max(bounds) // 2) if bounds else 25
