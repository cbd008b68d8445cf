"""An analyst's workspace in a contract."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import Role
from curator.mechanism.errors import NotYours
from curator.selectors import workspace as reads
from curator.selectors.released import released
from curator.web.pages import contract_page, reader

FREE_SHOWN = 8


@require_safe
def workspace(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Columns, budget, my questions, what is known already."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    before = mark(request.GET.get("before", ""))
    queries = reads.my_queries(contract, user, before=before)
    here = reverse("workspace", args=[contract.uid])
    return contract_page(
        request,
        "contract/workspace.html",
        contract,
        here="workspace",
        dictionary=reads.dictionary(contract),
        meter=reads.meter(contract, user),
        queries=queries,
        more_url=f"{here}?before={queries.more}" if queries.more else "",
        first_url="" if queries.first else here,
        released=released(contract, limit=FREE_SHOWN),
    )


def mark(text: str) -> UUID | None:
    """The mark of a list to continue from."""
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise NotYours("not_found", "There is no such page.") from None
