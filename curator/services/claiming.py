"""Step 0 of a run: take the oldest waiting questions, and remember on disk that they were taken.

The attempt is committed before anything can go wrong with it, so a question that kills its worker is known on the next try:
it then runs alone, and after two attempts it fails, uncharged. Where the database was lost on the way the question is probably
innocent: the attempt becomes an outage, of which it has six, each followed by a longer pause in which the others are served. So
no question, whatever it does, is claimed more than eight times.

Only one worker claims for a contract at a time. That lock is held by the session and vanishes with a killed worker; a session
that falls silent (its worker is paused, or cut off) is ended by the database after a while. The lock spares attempts and work,
while correctness rests on the contract's row lock alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from itertools import accumulate, takewhile
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet

from curator import ticks
from curator.models import Query, QueryBin
from curator.services import audit, notices

MAX_ATTEMPTS = 2
MAX_OUTAGES = 6
PAUSE = timedelta(seconds=1)  # after the first outage of a question; each further one doubles it
SILENCE = 30  # seconds on top of a task's longest time after which the database ends a session that holds a claim lock
BATCH_QUERIES = 64
BATCH_BINS = 2_000
FAILED_TWICE = "failed_twice"
LOSES_DATABASE = "loses_database"

#: Advisory locks of a database share one space of numbers; this one starts ours.
_LOCK_SPACE = 0x524450 << 40


CONTRACTS, EXPERIMENTS, VERIFICATIONS, ANCHORS, LONG, MAIL = (part << 38 for part in range(6))  # parts of that space


class _Row(NamedTuple):
    """What a claim looks at."""

    id: int
    attempts: int
    outages: int

    @property
    def is_worn(self) -> bool:
        return self.attempts >= MAX_ATTEMPTS or self.outages >= MAX_OUTAGES

    @property
    def failure(self) -> str:
        return FAILED_TWICE if self.attempts >= MAX_ATTEMPTS else LOSES_DATABASE


@contextmanager
def exclusive(row_id: int, *, space: int = CONTRACTS, longest: float | None = None) -> Iterator[bool]:
    """Hold the claim lock of a contract, an experiment, a verification or of some other work; False, at once, while another does.

    A worker that is refused may leave: whoever holds the lock looks again after letting go of it. Where the database hears
    nothing for `longest` seconds (None: as long as a task may take) and a little more, it takes the lock back.
    """
    key = _LOCK_SPACE + space + row_id
    mine = _scalar("SELECT pg_try_advisory_lock(%s)", key)
    session = connection.connection
    if mine:
        _end_if_silent((longest or settings.TASK_SECONDS) + SILENCE)
    try:
        yield mine
    finally:
        if mine and connection.connection is session and connection.is_usable():  # a session that is gone holds nothing
            _scalar("SELECT pg_advisory_unlock(%s)", key)
            with connection.cursor() as cursor:
                cursor.execute("RESET idle_session_timeout; RESET idle_in_transaction_session_timeout")


@contextmanager
def long_place(*, longest: float) -> Iterator[bool]:
    """Hold one of the places for tasks that take long; gives False, at once, while all are taken.

    There is one place fewer than there are worker processes, at least one: so one of several always serves answers.
    """
    with ExitStack() as held:
        places = range(max(1, settings.WORKERS - 1))
        yield any(held.enter_context(exclusive(place, space=LONG, longest=longest)) for place in places)


def _end_if_silent(seconds: float) -> None:
    """Have the database end this session, with its locks, once nothing was heard of it for so long."""
    silence = f"{seconds * 1000:.0f}ms"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('idle_session_timeout', %s, false), set_config('idle_in_transaction_session_timeout', %s, false)",
            [silence, silence],
        )


def is_waiting(contract_id: int) -> bool:
    """Say whether any question of this contract waits and may be claimed now."""
    return _ready(contract_id, ticks.now()).exists()


def claim(contract_id: int) -> tuple[int, ...]:
    """Take the next batch, in order of arrival, counting an attempt for each; questions tried too often fail here.

    Returns ids; a question tried before comes alone, and is passed over for a while after an outage.
    """
    while True:
        with transaction.atomic():
            now = ticks.now()
            rows = [_Row(*row) for row in _locked(contract_id, now).values_list(*_Row._fields)[:BATCH_QUERIES]]
            worn = [row for row in rows if row.is_worn]
            taken = _batch([row for row in rows if not row.is_worn])
            Query.objects.filter(id__in=taken).update(attempts=F("attempts") + 1, claimed_at=now)
            _fail(worn, now)
        if taken or not rows:
            return taken


def give_back(ids: Iterable[int]) -> None:
    """Uncount an attempt that ended through no fault of the questions themselves."""
    Query.objects.filter(id__in=list(ids), state=Query.State.WAITING, attempts__gt=0).update(attempts=F("attempts") - 1)


def blame_outage(ids: Iterable[int]) -> None:
    """Count an attempt as an outage instead: the database was lost on the way, perhaps because of one of these."""
    waiting = Query.objects.filter(id__in=list(ids), state=Query.State.WAITING, attempts__gt=0)
    waiting.update(attempts=F("attempts") - 1, outages=F("outages") + 1)


def _ready(contract_id: int, now: datetime) -> QuerySet[Query]:
    """Waiting questions, without those that rest after an outage."""
    rested = Q(outages=0) | Q(outages__gte=MAX_OUTAGES)
    for outages in range(1, MAX_OUTAGES):
        rested |= Q(outages=outages, claimed_at__lte=now - PAUSE * 2 ** (outages - 1))
    return Query.objects.filter(rested, contract_id=contract_id, state=Query.State.WAITING)


def _locked(contract_id: int, now: datetime) -> QuerySet[Query]:
    # In order of id, like every other place that locks several questions.
    return _ready(contract_id, now).select_for_update(no_key=True).order_by("id")


def _batch(rows: Sequence[_Row]) -> tuple[int, ...]:
    """The longest run of fresh questions at the front within the limits of a batch; one tried before stands alone."""
    fresh = list(takewhile(lambda row: row.attempts == row.outages == 0, rows))
    if not fresh:
        return tuple(row.id for row in rows[:1])
    ids = [row.id for row in fresh]
    sizes = dict(QueryBin.objects.filter(query_id__in=ids).values_list("query_id").annotate(Count("id")))
    totals = list(accumulate(sizes.get(number, 0) for number in ids))
    within = sum(1 for total in totals if total <= BATCH_BINS)
    return tuple(ids[: max(1, within)])


def _fail(worn: Sequence[_Row], now: datetime) -> None:
    if not worn:
        return
    codes = {row.id: row.failure for row in worn}
    rows = list(Query.objects.filter(id__in=codes).order_by("id").select_related("contract", "analyst"))
    events = [audit.Event("query.failed", row.analyst.username, {"code": codes[row.id]}, query=row.uid) for row in rows]
    for code in (FAILED_TWICE, LOSES_DATABASE):
        ids = [number for number, each in codes.items() if each == code]
        Query.objects.filter(id__in=ids).update(state=Query.State.FAILED, failure=code, finished_at=now)
    notices.answers_ready(rows[0].contract, [(row.pk, row.analyst_id) for row in rows])
    audit.append(audit.chain_of(rows[0].contract), events)


def _scalar(sql: str, parameter: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(sql, [parameter])
        return bool(cursor.fetchone()[0])
