"""Answers already released under a contract: what anybody in it can have for nothing, and how accurate that is.

One line per descriptor with released support; nothing here says who asked.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import F, Func, Max, QuerySet, TextField, Value

from curator.mechanism.accuracy import DEFAULT_CONFIDENCE, Within, bound_reached, rho_min
from curator.mechanism.region_text import name_text
from curator.mechanism.rho import Units
from curator.mechanism.support import Held
from curator.models import Contract, Release, Support
from curator.selectors.paging import Page, cut

#: What may hold a column's name without being the column: texts and dates, and other columns' names in quotes. Both are found
#: in one go from the left, as either may hold the other's quotes.
LITERAL, QUOTED = "'([^']|'')*'", '"([^"]|"")*"'


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for: a column of the schema, part of the condition's text, and at most `within` people off, for nothing."""

    column: str = ""
    search: str = ""
    within: int | None = None
    confidence: Decimal = DEFAULT_CONFIDENCE


@dataclass(frozen=True, slots=True)
class ReleasedLine:
    """One thing that is known: its value, and the bound that asking again would reach for nothing, at the confidence sought."""

    digest: str
    text: str
    value: int
    bound: int
    rho_hist: Units
    releases: int
    last_at: datetime | None


ANYTHING = Sought()


def released(contract: Contract, sought: Sought = ANYTHING, *, after: int = 0, limit: int = 25) -> Page[ReleasedLine]:
    """One page of what is known, newest descriptor first, in two queries at any depth and length of history."""
    rows = _supports(contract, sought)
    if after:
        rows = rows.filter(id__lt=after)
    found, more = cut(list(rows.order_by("-id")[: limit + 1]), limit)
    last = _last_release(contract, [row.descriptor_id for row in found])
    lines = tuple(_line(row, last.get(row.descriptor_id), sought.confidence) for row in found)
    return Page(lines, more=str(found[-1].pk) if more else "", first=not after)


def _supports(contract: Contract, sought: Sought) -> QuerySet[Support]:
    rows = Support.objects.filter(contract=contract, descriptor__version=contract.version, rho_hist__gt=0)
    if sought.within is not None:
        rows = rows.filter(rho_hist__gte=rho_min(Within(sought.within, sought.confidence)))
    if sought.search:
        rows = rows.filter(descriptor__text__icontains=sought.search)
    return (_about(rows, sought.column) if sought.column else rows).select_related("descriptor")


def _about(rows: QuerySet[Support], column: str) -> QuerySet[Support]:
    """Those whose condition names the column: the whole name, as it is written there, outside of any literal."""
    written = name_text(column)
    kept = r"\1" if written.startswith('"') else ""
    removed = (Value(f"({QUOTED})|{LITERAL}"), Value(kept), Value("g"))
    bare = Func(F("descriptor__text"), *removed, function="regexp_replace", output_field=TextField())
    name = re.sub(r"([^\w\s])", r"\\\1", written)
    return rows.alias(bare=bare).filter(bare__regex=rf'(^|[^\w"]){name}($|[^\w"])')


def _last_release(contract: Contract, digests: list[str]) -> dict[str, datetime]:
    rows = Release.objects.filter(contract=contract, descriptor_id__in=digests, account=Release.Account.ANS)
    return dict(rows.values_list("descriptor_id").annotate(last=Max("created_at")))


def _line(row: Support, last_at: datetime | None, confidence: Decimal) -> ReleasedLine:
    held = Held(row.rho_hist, int(row.weighted_sum))
    bound = bound_reached(row.rho_hist, Within(1, confidence))
    return ReleasedLine(row.descriptor_id, row.descriptor.text, held.shown or 0, bound or 0, row.rho_hist, row.releases, last_at)
