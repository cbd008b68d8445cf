"""Verifications that somebody asks for on a page: made by the worker, with their progress on a row that the page looks at.

A run that dies is taken up by the next bell and starts over; after two attempts it has failed. What came of it is an event on
each chain that was verified, of that chain alone.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from types import TracebackType
from typing import Self

from django.db import connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from accounts.models import User
from curator import queue
from curator.mechanism.errors import TooMany
from curator.models import AuditHead, Contract, Verification
from curator.services import audit
from curator.services.audit import Event
from curator.services.claiming import VERIFICATIONS, exclusive
from curator.services.verification import Report, verify, verify_site

MAX_WAITING = 5  # verifications of one person
MAX_ATTEMPTS = 2
PROGRESS_SECONDS = 0.2
State = Verification.State


def start(*, owner: User, chains: Sequence[str]) -> Verification:
    """Keep a verification for the worker. Refused while too many of this person's wait."""
    waiting = Verification.objects.filter(owner=owner, state=State.WAITING).count()
    if waiting >= MAX_WAITING:
        raise TooMany("too_many_waiting", f"You have {waiting} verifications waiting; at most {MAX_WAITING} may.")
    made = Verification.objects.create(owner=owner, chains=list(chains), total=_events(chains))
    queue.ring_verification(made.pk)
    return made


def run(verification_id: int, *, alive: Callable[[], object] = lambda: None) -> None:
    """Make a verification that waits, calling `alive` as it gets on; of no effect where another worker has it or it is final."""
    with exclusive(verification_id, space=VERIFICATIONS) as mine:
        row = _claimed(verification_id) if mine else None
        if row is None:
            return
        if row.attempts > MAX_ATTEMPTS:
            _finish(row, State.FAILED)
            return
        _look(row, alive)
        _finish(row, State.DONE)


def _events(chains: Sequence[str]) -> int:
    total: int | None = AuditHead.objects.filter(chain__in=chains).aggregate(total=Sum("seq"))["total"]
    return total or 0


def _claimed(verification_id: int) -> Verification | None:
    """The row, if it waits, with the attempt counted and committed before anything can go wrong with it."""
    waiting = Verification.objects.filter(pk=verification_id, state=State.WAITING)
    if not waiting.update(attempts=F("attempts") + 1):
        return None
    return waiting.select_related("owner").first()


def _look(row: Verification, alive: Callable[[], object]) -> None:
    checked: Counter[str] = Counter()
    differences = []
    row.total = _events(row.chains)
    with Counted(row, alive) as counted:
        for chain in row.chains:
            report = _verified(chain, counted)
            _record(chain, row.owner, report)
            checked.update(report.checked)
            if report.first_difference is not None:
                differences.append(report.first_difference)
    row.ok, row.checked, row.first_difference = not differences, dict(checked), next(iter(differences), "")
    row.done = counted.done


def _verified(chain: str, counted: "Counted") -> Report:
    if chain == audit.SITE:
        return verify_site(progress=counted.add)
    return verify(Contract.objects.filter(uid=chain), progress=counted.add)


def _record(chain: str, person: User, report: Report) -> None:
    data = {"ok": report.ok, "checked": report.checked, "first_difference": report.first_difference}
    with transaction.atomic():
        audit.append(chain, [Event("record.verified", person.username, data)])


def _finish(row: Verification, state: str) -> None:
    row.state, row.finished_at = state, timezone.now()
    row.save(update_fields=["state", "done", "total", "ok", "checked", "first_difference", "finished_at"])


class Counted:
    """Puts progress on the row over a connection of its own: the one that verifies sees a snapshot and writes nothing."""

    def __init__(self, row: Verification, alive: Callable[[], object]) -> None:
        self.row, self.alive, self.done, self.told = row, alive, 0, monotonic()
        self.other = connection.copy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.other.close()

    def add(self, events: int) -> None:
        """So many further events were looked at."""
        self.done += events
        if monotonic() - self.told > PROGRESS_SECONDS:
            with self.other.cursor() as cursor:
                words = "UPDATE curator_verification SET done = %s, total = %s WHERE id = %s"
                cursor.execute(words, [self.done, self.row.total, self.row.pk])
            self.alive()
            self.told = monotonic()
