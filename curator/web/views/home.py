"""The front page and the glossary."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import Role
from curator.selectors.home import ContractCard, contract_cards
from curator.web.pages import page, reader


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """My contracts."""
    user = reader(request)
    cards = contract_cards(user, access.contracts_of(user))
    return page(
        request,
        "home.html",
        here="home",
        cards=[_Card(card) for card in cards],
        curates=user.has_role(Role.CURATOR),
        audits=user.has_role(Role.AUDITOR),
    )


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    """The words used here."""
    return page(request, "glossary.html")


@dataclass(frozen=True)
class _Card:
    """A contract's card with where it leads."""

    card: ContractCard

    def __getattr__(self, name: str) -> object:
        return getattr(self.card, name)

    @property
    def url(self) -> str:
        page = "workspace" if self.card.analyst else "control" if self.card.curator else "released"
        return reverse(page, args=[self.card.uid])

    @property
    def roles(self) -> str:
        return ", ".join(self.card.roles)
