"""How an analyst's allotment changed, and what is promised to people who have not come yet."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum
from django.utils import timezone

from accounts.models import Invitation, Role, User
from curator.mechanism.rho import Units
from curator.models import Allotment, Contract

SHOWN = 10


@dataclass(frozen=True, slots=True)
class AllotmentLine:
    """One change; None: no limit of one's own. `first`: there was none before."""

    at: datetime
    before: Units | None
    after: Units | None
    first: bool
    why: str
    by: str


def allotment_lines(contract: Contract, analyst: User) -> tuple[AllotmentLine, ...]:
    """The latest changes of an analyst's allotment, newest first; one query."""
    rows = Allotment.objects.filter(contract=contract, analyst=analyst).select_related("set_by").order_by("-id")
    found = list(rows[: SHOWN + 1])
    return tuple(_line(row, found[place + 1] if place + 1 < len(found) else None) for place, row in enumerate(found[:SHOWN]))


def _line(row: Allotment, earlier: Allotment | None) -> AllotmentLine:
    before = earlier.rho if earlier else None
    return AllotmentLine(row.created_at, before, row.rho, earlier is None, row.reason, row.set_by.get_username())


def promised(contract: Contract) -> Units:
    """The allotments in invitations that may still be accepted."""
    waiting = Invitation.objects.filter(contract=contract, role=Role.ANALYST, accepted_at=None, revoked_at=None)
    found: Units | None = waiting.filter(expires_at__gt=timezone.now()).aggregate(sum=Sum("allotment"))["sum"]
    return int(found or 0)
