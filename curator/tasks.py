"""What the worker does when a bell rings. A task carries one id; losing it, or doing it twice, is harmless.

Tasks are acknowledged after they are done. There is no result: what came of it stands in the rows. Those that may take long share
places, one fewer than there are processes, so that one process is left for answers; who finds no place leaves, and is rung for
again when a place is free, or by the sweep.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from celery import shared_task
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import QuerySet

from accounts import throttles
from curator import queue
from curator.experiments import running
from curator.mechanism.errors import Refused
from curator.models import Experiment, Query, Upload, Verification
from curator.services import (
    anchoring,
    claiming,
    denials,
    describing,
    execution,
    failpoints,
    ingestion,
    mailing,
    receipts,
    upload_files,
)  # fmt: skip
from curator.services.verification import requested
from rdp_site import heartbeat

logger = logging.getLogger(__name__)

VERIFY_LIMIT = 6 * 3600  # seconds: a record of millions of events
FREEZE_LIMIT = 3600  # seconds, far beyond the largest file: it counts as an attempt of two
#: Seconds, far beyond a turn: what hangs is killed with its process, and its question's attempt has been counted.
HARD_LIMIT = settings.TASK_SECONDS


@shared_task(name=queue.RUN_CONTROLLER, acks_late=True, ignore_result=True, time_limit=HARD_LIMIT)
def run_controller(contract_id: int) -> None:
    """Serve what waits for a contract."""
    execution.run(contract_id)
    failpoints.reach("before_ack")


@shared_task(name=queue.FREEZE_UPLOAD, acks_late=True, ignore_result=True, time_limit=FREEZE_LIMIT)
def freeze_upload(upload_id: int) -> None:
    """Describe an upload to its curator, or turn it into a frozen dataset version: whichever is its turn."""

    def work() -> None:
        describing.describe_upload(upload_id, alive=heartbeat.beat)
        ingestion.freeze_upload(upload_id, alive=heartbeat.beat)

    _in_a_place(work, _uploads().filter(pk=upload_id), longest=FREEZE_LIMIT)


@shared_task(name=queue.REPLAY_EXPERIMENT, acks_late=True, ignore_result=True, time_limit=HARD_LIMIT)
def replay_experiment(experiment_id: int) -> None:
    """Replay a workload for the laboratory's page."""
    _in_a_place(lambda: running.run(experiment_id), _experiments().filter(pk=experiment_id), longest=HARD_LIMIT)


@shared_task(name=queue.VERIFY_RECORD, acks_late=True, ignore_result=True, time_limit=VERIFY_LIMIT)
def verify_record(verification_id: int) -> None:
    """Verify some chains for somebody who looks at their progress."""

    def work() -> None:
        requested.run(verification_id, alive=heartbeat.beat)

    _in_a_place(work, _verifications().filter(pk=verification_id), longest=VERIFY_LIMIT)


@shared_task(name=queue.SWEEP, ignore_result=True)
def sweep() -> None:
    """Ring for everything that waits: whatever became of earlier bells, nothing waits for longer than until the next sweep.

    What was denied in the minute before goes onto the record; heads are noted outside the database when it is time. A step that
    fails is told in the log, by its name and kind alone, and holds up none of the others.
    """
    steps: dict[str, Callable[[], object]] = {
        "bells of contracts": _ring_contracts, "other bells": _ring_long, "denials": denials.tell, "mail": mailing.start,
        "throttles": throttles.forget_full, "anchors": anchoring.leave, "files of uploads": upload_files.clean,
    }  # fmt: skip
    for name, step in steps.items():
        try:
            step()
        except (DatabaseError, OSError, Refused, RuntimeError, ValueError) as error:
            logger.error("sweep: %s failed (%s); the next sweep tries again", name, type(error).__name__)
            connection.close_if_unusable_or_obsolete()


def _in_a_place(work: Callable[[], object], waiting: QuerySet[Any], *, longest: float) -> None:
    """Do something that may take long, if there is a place for it; `waiting` is its row for as long as there is more to do."""
    with claiming.long_place(longest=longest) as mine:
        if mine:
            work()
    if mine and not waiting.exists():
        _ring_long()


def _ring_contracts() -> None:
    """For questions that wait, and for receipts of what curators have changed."""
    waiting = Query.objects.filter(state=Query.State.WAITING).values_list("contract_id", flat=True)
    for contract_id in sorted({*waiting.distinct(), *receipts.behind()}):
        queue.ring(contract_id)


def _ring_long() -> None:
    for ring, rows in _long():
        for row_id in rows.order_by("id").values_list("id", flat=True):
            ring(row_id)


def _long() -> Iterator[tuple[Callable[[int], None], QuerySet[Any]]]:
    yield queue.ring_upload, _uploads()
    yield queue.ring_experiment, _experiments()
    yield queue.ring_verification, _verifications()


def _uploads() -> QuerySet[Upload]:
    return Upload.objects.filter(state__in=Upload.BUSY)


def _experiments() -> QuerySet[Experiment]:
    return Experiment.objects.filter(state=Experiment.State.WAITING)


def _verifications() -> QuerySet[Verification]:
    return Verification.objects.filter(state=Verification.State.WAITING)
