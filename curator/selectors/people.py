"""The people of the site, for its curators: who there is, with which roles, and in how many contracts."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from accounts.models import Role, User
from curator.selectors.paging import Page, cut

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Somebody:
    """One person; `contracts` counts places that are theirs now."""

    username: str
    full_name: str
    email: str
    roles: tuple[str, ...]
    active: bool
    contracts: int
    last_login: datetime | None

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Every role with its title and whether it is held."""
        return [(role.value, role.label, role.value in self.roles) for role in Role]


def everybody(*, search: str = "", after: str = "") -> Page[Somebody]:
    """People in the order of their names, from the one after `after` on; one query."""
    rows = User.objects.annotate(
        places=Count("memberships__contract", filter=Q(memberships__active=True), distinct=True)
    ).order_by("username")
    if search:
        rows = rows.filter(Q(username__icontains=search) | Q(first_name__icontains=search) | Q(last_name__icontains=search))
    found, more = cut(list((rows.filter(username__gt=after) if after else rows)[: SHOWN + 1]), SHOWN)
    return Page(tuple(map(_somebody, found)), more=found[-1].username if more else "", first=not after)


def _somebody(row: User) -> Somebody:
    places: int = row.places  # type: ignore[attr-defined]  # annotated above
    return Somebody(
        row.username, row.get_full_name(), row.email, tuple(row.roles), row.is_active, places, row.last_login
    )  # fmt: skip
