"""The doorbell: tells a worker that something waits in the tables.

A bell carries one id and nothing else. Lost, late or doubled it costs a delay, never an answer: the periodic sweep rings for
whatever still waits. So a broker that is away must not fail, or hold up, the request that rang.
(What rings is no `partial`: "robust" names the function that failed, and fails itself where there is no name.)
"""

import logging

import psycopg
from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError

logger = logging.getLogger(__name__)

RUN_CONTROLLER = "curator.run_controller"
FREEZE_UPLOAD = "curator.freeze_upload"
REPLAY_EXPERIMENT = "curator.replay_experiment"
VERIFY_RECORD = "curator.verify_record"
SWEEP = "curator.sweep"


def ring(contract_id: int) -> None:
    """Ask for a run of the controller of this contract, once the current transaction has committed (at once outside one)."""
    transaction.on_commit(lambda: _send(RUN_CONTROLLER, contract_id), robust=True)


def ring_upload(upload_id: int) -> None:
    """Ask for this upload to be frozen, once the current transaction has committed (at once outside one)."""
    transaction.on_commit(lambda: _send(FREEZE_UPLOAD, upload_id), robust=True)


def ring_experiment(experiment_id: int) -> None:
    """Ask for this experiment to be replayed, once the current transaction has committed (at once outside one)."""
    transaction.on_commit(lambda: _send(REPLAY_EXPERIMENT, experiment_id), robust=True)


def ring_verification(verification_id: int) -> None:
    """Ask for this verification to be made, once the current transaction has committed (at once outside one)."""
    transaction.on_commit(lambda: _send(VERIFY_RECORD, verification_id), robust=True)


def _send(task: str, row_id: int) -> None:
    # The log line names the task and the row; a broker's own message could quote its address and password.
    try:
        current_app.send_task(task, args=[row_id], retry=False, ignore_result=True)
    except (KombuError, psycopg.Error, OSError) as error:
        logger.warning("doorbell %s %s not delivered (%s); the sweep will ring", task, row_id, type(error).__name__)
