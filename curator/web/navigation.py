"""The two rows of links on top of a page: the site, and the contract one is in, by the roles one has there."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from accounts import access
from accounts.models import Membership, Role
from curator.models import Contract
from curator.selectors.control import open_requests


@dataclass(frozen=True, slots=True)
class Link:
    """One link; `current` is the value of aria-current ("page" here, "true" in the part of the site), or empty."""

    title: str
    url: str
    current: str = ""
    badge: int = 0


@dataclass(frozen=True, slots=True)
class Strip:
    """The contract one is in and its pages."""

    name: str
    links: tuple[Link, ...]
    roles: frozenset[str]


ANALYST = (
    ("workspace", "Workspace"),
    ("ask", "Ask"),
    ("saved", "Saved questions"),
    ("released", "Released answers"),
    ("compare", "Compare"),
    ("budget", "Budget"),
)
CURATOR = (("control", "Control"), ("requests", "Requests"), ("people", "People"))
SHARED = (("released", "Released answers"), ("compare", "Compare"))


def site_links(request: HttpRequest, here: str = "") -> tuple[Link, ...]:
    """What is there besides contracts, for somebody of these roles."""
    if not request.user.is_authenticated:
        return ()
    pages = [("home", "Contracts")]
    if request.user.has_role(Role.CURATOR):
        pages += [("datasets", "Datasets"), ("directory", "People")]
    if access.chains_of(request.user):
        pages.append(("audit", "Record"))
    return tuple(Link(title, reverse(name), "page" if name == here else "") for name, title in pages)


def strip(request: HttpRequest, contract: Contract, here: str) -> Strip:
    """The pages of a contract that its member may open."""
    places = Membership.objects.filter(contract=contract, user=request.user.pk or 0, active=True)
    roles = frozenset(places.values_list("role", flat=True))
    links = [_link(name, title, contract, here) for name, title in _pages(roles)]
    if Role.AUDITOR in roles or Role.CURATOR in roles:
        links.append(_link("laboratory", "Laboratory", contract, here))
        links.append(Link("Record", f"{reverse('audit')}?chain={contract.uid}"))
    if Role.AUDITOR in roles:
        links.append(Link("Balance", reverse("audit-balance", args=[contract.uid])))
    return Strip(contract.name, tuple(links), roles)


def _pages(roles: frozenset[str]) -> list[tuple[str, str]]:
    pages = [*(ANALYST if Role.ANALYST in roles else ()), *(CURATOR if Role.CURATOR in roles else ())]
    return pages + [page for page in SHARED if page not in pages]


def _link(name: str, title: str, contract: Contract, here: str) -> Link:
    badge = open_requests(contract) if name == "requests" else 0
    return Link(title, reverse(name, args=[contract.uid]), "page" if name == here else "", badge)
