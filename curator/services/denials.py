"""What was denied: counted at once in a row per kind and person, told by the sweep as one event per minute and kind.

A flood of refused requests so takes short locks of rows of its own and neither holds up the writers of the site's chain nor fills
it. A count is committed before the refusal is answered: a process that dies loses none, its event only comes later. Of what was
asked for, the first of each minute and person is kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from curator.models import Denial
from curator.services import audit

ACCESS, SIGN_IN, REFUSED = "access.denied", "sign_in.failed", "request.refused"
NAMED = 100  # people named in one event; the rest are counted together
COUNT = """
    INSERT INTO curator_denial AS d (kind, actor, count, told, since, last, what) VALUES (%s, %s, 1, 0, %s, %s, %s)
    ON CONFLICT (kind, actor) DO UPDATE SET count = d.count + 1, last = excluded.last,
        since = CASE WHEN d.count = d.told THEN excluded.since ELSE d.since END,
        what = CASE WHEN d.count = d.told THEN excluded.what ELSE d.what END
"""


def count(kind: str, *, actor: str, what: str = "") -> None:
    """Count one denial, committed at once: a transaction around it could take it back, so there may be none."""
    if connection.in_atomic_block:
        raise transaction.TransactionManagementError("A denial is counted outside any transaction.")
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [kind, actor, now, now, what])


def tell(now: datetime | None = None) -> int:
    """Turn what was counted before this minute into events of the site's chain, one per kind; gives their number.

    The chain's head is locked first: two sweeps at once tell everything once. Whoever counts meanwhile does not take that lock.
    """
    minute = (now or timezone.now()).replace(second=0, microsecond=0)
    due = Denial.objects.filter(count__gt=F("told"), since__lt=minute)
    if not due.exists():
        return 0
    with transaction.atomic(durable=True):
        audit.hold(audit.SITE)
        by_kind = defaultdict(list)
        for row in due.order_by("kind", "actor"):
            by_kind[row.kind].append(row)
        if by_kind:
            audit.append(audit.SITE, [_event(kind, rows) for kind, rows in by_kind.items()])
        for row in (row for rows in by_kind.values() for row in rows):
            # What was counted since `row` was read is of the next event, a minute from now: it begins here.
            Denial.objects.filter(pk=row.pk).update(told=row.count, since=timezone.now())
    return len(by_kind)


def _event(kind: str, rows: Sequence[Denial]) -> audit.Event:
    rows = sorted(rows, key=lambda row: row.told - row.count)
    data: dict[str, Any] = {
        "count": sum(row.count - row.told for row in rows),
        "since": audit.stamp(min(row.since for row in rows)),
        "until": audit.stamp(max(row.last for row in rows)),
        "people": [{"who": row.actor, "count": row.count - row.told, "first": row.what} for row in rows[:NAMED]],
        "others": sum(row.count - row.told for row in rows[NAMED:]),
    }
    # A single person is the event's own, so that a filter by person finds it.
    return audit.Event(kind, rows[0].actor if len(rows) == 1 else "", data)
