"""Rows of the public record as the API gives them: decisions, the transcript of releases, audit events."""

from curator.models import AuditEvent, Contract, Decision, Query, Release
from curator.selectors.audit import Filters, filtered
from curator.selectors.paging import Page, cut


def decision_of(query: Query) -> Decision | None:
    """The decision on a question, once there is one."""
    return Decision.objects.filter(query=query).first()


def transcript(contract: Contract, *, after: int = 0, limit: int = 100) -> Page[Release]:
    """One page of a contract's releases in the order they were drawn; `after` is the last row id seen."""
    rows = Release.objects.filter(contract=contract, id__gt=after).select_related("descriptor").order_by("id")
    found, more = cut(list(rows[: limit + 1]), limit)
    return Page(tuple(found), more=str(found[-1].pk) if more else "", first=not after)


def events(chain: str, filters: Filters, *, after: int = 0, limit: int = 200) -> Page[AuditEvent]:
    """One page of a chain's events in its order, which has no gaps; `after` is the last place (`seq`) seen."""
    rows = filtered(AuditEvent.objects.filter(chain=chain, seq__gt=after), filters)
    found, more = cut(list(rows.order_by("seq")[: limit + 1]), limit)
    return Page(tuple(found), more=str(found[-1].seq) if more else "", first=not after)
