"""The same questions under other rules: one's own, the whole contract, and each analyst's for those who curate or audit."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import Role, User
from curator.models import Contract
from curator.selectors.comparison import comparison
from curator.web.charts import met_chart, spend_chart
from curator.web.navigation import Link
from curator.web.pages import contract_page, reader


@require_safe
def compare(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Totals, curves and a table of every rule."""
    user = reader(request)
    contract = access.contract_for(user, uid)
    oversees = access.has_place(user, contract, Role.CURATOR, Role.AUDITOR)
    asks = access.has_place(user, contract, Role.ANALYST)
    whose = _whose(request.GET.get("whose", "mine" if asks else ""), contract, user, oversees=oversees)
    found = comparison(contract, whose)
    return contract_page(
        request,
        "contract/compare.html",
        contract,
        here="compare",
        found=found,
        mine=bool(whose) and whose == user.get_username(),
        asks=asks,
        show_analysts=oversees and not whose,
        tabs=_tabs(contract, user, whose, asks=asks),
        spend=spend_chart(found) if found else None,
        met=met_chart(found) if found else None,
    )


def _whose(text: str, contract: Contract, user: User, *, oversees: bool) -> str:
    """The analyst whose questions are looked at; empty for all. Somebody else's are for those who oversee the contract."""
    if text in ("", "all"):
        return ""
    if text in ("mine", user.get_username()):
        return user.get_username()
    if not oversees:
        raise access.not_yours()
    return text


def _tabs(contract: Contract, user: User, whose: str, *, asks: bool) -> list[Link]:
    here = reverse("compare", args=[contract.uid])
    tabs = [Link("Mine", f"{here}?whose=mine", "true" if whose == user.get_username() else "")] if asks else []
    tabs.append(Link("Whole contract", f"{here}?whose=all", "" if whose else "true"))
    if whose and whose != user.get_username():
        tabs.append(Link(whose, f"{here}?whose={whose}", "true"))
    return tabs
