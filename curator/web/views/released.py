"""Answers already released under a contract, for everybody in it."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import Role
from curator.selectors.released import released
from curator.web.pages import contract_page, reader

MAX_SEARCH = 200


@require_safe
def released_answers(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What is known already, newest first."""
    user = reader(request)
    contract = access.contract_for(user, uid)
    search = request.GET.get("search", "").strip()[:MAX_SEARCH]
    found = released(contract, search=search, after=number(request.GET.get("after", "")))
    here = reverse("released", args=[contract.uid])
    kept = {"search": search} if search else {}
    return contract_page(
        request,
        "release/list.html",
        contract,
        here="released",
        released=found,
        search=search,
        asks=access.has_place(user, contract, Role.ANALYST),
        more_url=f"{here}?{urlencode(kept | {'after': found.more})}" if found.more else "",
        first_url="" if found.first else f"{here}?{urlencode(kept)}",
    )


def number(text: str) -> int:
    """A mark made of digits; anything else is the beginning."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
