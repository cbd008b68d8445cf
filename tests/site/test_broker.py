"""The doorbell travels: from this process through the broker to a real prefork worker."""

from rdp_site.celery import app
from tests.fixtures.worker import Worker


def test_a_task_travels_through_the_same_database(worker: Worker) -> None:
    app.send_task("curator.sweep")
    worker.wait_for("curator.sweep")
