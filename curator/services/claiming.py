"""Step 0 of a run: take the oldest waiting questions, and remember on disk that they were taken.

The attempt is committed before anything can go wrong with it, so a question that kills its worker is known on the next try:
it then runs alone, and after two attempts it fails, uncharged. Only one worker claims for a contract at a time. That lock is
held by the session and vanishes with a killed worker; it spares attempts and work, while correctness rests on the contract's
row lock alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate, takewhile

from django.db import connection, transaction
from django.db.models import Count, F, QuerySet

from curator import ticks
from curator.models import Query, QueryBin
from curator.services import audit

MAX_ATTEMPTS = 2
BATCH_QUERIES = 64
BATCH_BINS = 2_000
FAILED_TWICE = "failed_twice"

#: Advisory locks of a database share one space of numbers; this one starts ours.
_LOCK_SPACE = 0x524450 << 40


CONTRACTS, EXPERIMENTS = 0, 1 << 38  # parts of that space


@contextmanager
def exclusive(row_id: int, *, space: int = CONTRACTS) -> Iterator[bool]:
    """Hold the claim lock of a contract (or an experiment); gives False, at once, while another worker holds it.

    A worker that is refused may leave: whoever holds the lock looks again after letting go of it.
    """
    key = _LOCK_SPACE + space + row_id
    mine = _scalar("SELECT pg_try_advisory_lock(%s)", key)
    session = connection.connection
    try:
        yield mine
    finally:
        if mine and connection.connection is session and connection.is_usable():  # a session that is gone holds nothing
            _scalar("SELECT pg_advisory_unlock(%s)", key)


def is_waiting(contract_id: int) -> bool:
    """Say whether any question of this contract waits."""
    return _waiting(contract_id).exists()


def claim(contract_id: int) -> tuple[int, ...]:
    """Take the next batch, in order of arrival, counting an attempt for each; questions tried too often fail here.

    Returns ids; a question tried before comes alone.
    """
    while True:
        with transaction.atomic():
            rows = list(_locked(contract_id).values_list("id", "attempts")[:BATCH_QUERIES])
            worn = [number for number, attempts in rows if attempts >= MAX_ATTEMPTS]
            taken = _batch([row for row in rows if row[1] < MAX_ATTEMPTS])
            now = ticks.now()
            Query.objects.filter(id__in=taken).update(attempts=F("attempts") + 1, claimed_at=now)
            _fail(worn, now)
        if taken or not rows:
            return taken


def give_back(ids: Iterable[int]) -> None:
    """Uncount an attempt that ended through no fault of the questions themselves."""
    Query.objects.filter(id__in=list(ids), state=Query.State.WAITING, attempts__gt=0).update(attempts=F("attempts") - 1)


def _waiting(contract_id: int) -> QuerySet[Query]:
    return Query.objects.filter(contract_id=contract_id, state=Query.State.WAITING)


def _locked(contract_id: int) -> QuerySet[Query]:
    # In order of id, like every other place that locks several questions.
    return _waiting(contract_id).select_for_update(no_key=True).order_by("id")


def _batch(rows: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The longest run of fresh questions at the front within the limits of a batch; one tried before stands alone."""
    fresh = list(takewhile(lambda row: row[1] == 0, rows))
    if not fresh:
        return tuple(number for number, _ in rows[:1])
    ids = [number for number, _ in fresh]
    sizes = dict(QueryBin.objects.filter(query_id__in=ids).values_list("query_id").annotate(Count("id")))
    totals = list(accumulate(sizes.get(number, 0) for number in ids))
    within = sum(1 for total in totals if total <= BATCH_BINS)
    return tuple(ids[: max(1, within)])


def _fail(ids: Sequence[int], now: datetime) -> None:
    if not ids:
        return
    worn = list(Query.objects.filter(id__in=ids).order_by("id").select_related("contract", "analyst"))
    events = [audit.Event("query.failed", row.analyst.username, {"code": FAILED_TWICE}, query=row.uid) for row in worn]
    Query.objects.filter(id__in=ids).update(state=Query.State.FAILED, failure=FAILED_TWICE, finished_at=now)
    audit.append(audit.chain_of(worn[0].contract), events)


def _scalar(sql: str, parameter: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(sql, [parameter])
        return bool(cursor.fetchone()[0])
