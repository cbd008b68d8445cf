"""What the worker does when a bell rings. A task carries one id; losing it, or doing it twice, is harmless.

Tasks are acknowledged after they are done. There is no result: what came of it stands in the rows.
"""

from celery import shared_task
from django.conf import settings

from accounts import throttles
from curator import queue
from curator.experiments import running
from curator.models import Experiment, Query, Upload, Verification
from curator.services import anchoring, denials, describing, execution, failpoints, ingestion, mailing
from curator.services.verification import requested

VERIFY_LIMIT = 6 * 3600  # seconds: a record of millions of events
#: Seconds, far beyond a turn: what hangs is killed with its process, and its question's attempt has been counted.
HARD_LIMIT = settings.TASK_SECONDS


@shared_task(name=queue.RUN_CONTROLLER, acks_late=True, ignore_result=True, time_limit=HARD_LIMIT)
def run_controller(contract_id: int) -> None:
    """Serve what waits for a contract."""
    execution.run(contract_id)
    failpoints.reach("before_ack")


@shared_task(name=queue.FREEZE_UPLOAD, acks_late=True, ignore_result=True)
def freeze_upload(upload_id: int) -> None:
    """Describe an upload to its curator, or turn it into a frozen dataset version: whichever is its turn."""
    describing.describe_upload(upload_id)
    ingestion.freeze_upload(upload_id)


@shared_task(name=queue.REPLAY_EXPERIMENT, acks_late=True, ignore_result=True, time_limit=HARD_LIMIT)
def replay_experiment(experiment_id: int) -> None:
    """Replay a workload for the laboratory's page."""
    running.run(experiment_id)


@shared_task(name=queue.VERIFY_RECORD, acks_late=True, ignore_result=True, time_limit=VERIFY_LIMIT)
def verify_record(verification_id: int) -> None:
    """Verify some chains for somebody who looks at their progress."""
    requested.run(verification_id)


@shared_task(name=queue.SWEEP, ignore_result=True)
def sweep() -> None:
    """Ring for everything that waits: whatever became of earlier bells, nothing waits for longer than until the next sweep.

    What was denied in the minute before goes onto the record; heads are noted outside the database when it is time.
    """
    waiting = Query.objects.filter(state=Query.State.WAITING).order_by("contract_id")
    for contract_id in waiting.values_list("contract_id", flat=True).distinct():
        queue.ring(contract_id)
    for upload_id in Upload.objects.filter(state__in=Upload.BUSY).order_by("id").values_list("id", flat=True):
        queue.ring_upload(upload_id)
    for experiment_id in Experiment.objects.filter(state=Experiment.State.WAITING).order_by("id").values_list("id", flat=True):
        queue.ring_experiment(experiment_id)
    for verification_id in (
        Verification.objects.filter(state=Verification.State.WAITING).order_by("id").values_list("id", flat=True)
    ):
        queue.ring_verification(verification_id)
    denials.tell()
    mailing.start()
    throttles.forget_full()
    anchoring.leave()
