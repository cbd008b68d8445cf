"""Answers already released under a contract: what anybody in it can have for nothing, and how accurate that is.

One line per descriptor with released support; nothing here says who asked.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Max, QuerySet

from curator.mechanism.accuracy import Within, bound_reached
from curator.mechanism.rho import Units
from curator.mechanism.support import Held
from curator.models import Contract, Release, Support
from curator.selectors.paging import Page, cut

AT = Decimal("0.95")  # the confidence at which a free bound is stated


@dataclass(frozen=True, slots=True)
class ReleasedLine:
    """One thing that is known: its value, and the bound at 95 % that asking again would reach for nothing."""

    digest: str
    text: str
    value: int
    bound: int
    rho_hist: Units
    releases: int
    last_at: datetime | None


def released(contract: Contract, *, search: str = "", after: int = 0, limit: int = 25) -> Page[ReleasedLine]:
    """One page of what is known, newest descriptor first; `search` is part of the condition's text, such as a column's name."""
    rows = _supports(contract, search)
    if after:
        rows = rows.filter(id__lt=after)
    found, more = cut(list(rows.order_by("-id")[: limit + 1]), limit)
    last = _last_release(contract, [row.descriptor_id for row in found])
    lines = tuple(_line(row, last.get(row.descriptor_id)) for row in found)
    return Page(lines, more=str(found[-1].pk) if more else "", first=not after)


def _supports(contract: Contract, search: str) -> QuerySet[Support]:
    rows = Support.objects.filter(contract=contract, descriptor__version=contract.version, rho_hist__gt=0).select_related(
        "descriptor"
    )
    return rows.filter(descriptor__text__icontains=search) if search else rows


def _last_release(contract: Contract, digests: list[str]) -> dict[str, datetime]:
    rows = Release.objects.filter(contract=contract, descriptor_id__in=digests, account=Release.Account.ANS)
    return dict(rows.values_list("descriptor_id").annotate(last=Max("created_at")))


def _line(row: Support, last_at: datetime | None) -> ReleasedLine:
    held = Held(row.rho_hist, int(row.weighted_sum))
    bound = bound_reached(row.rho_hist, Within(1, AT))
    return ReleasedLine(row.descriptor_id, row.descriptor.text, held.shown or 0, bound or 0, row.rho_hist, row.releases, last_at)
