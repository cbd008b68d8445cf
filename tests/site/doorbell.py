"""A task for the broker's tests, included by their workers only."""

import os

from rdp_site.celery import app


@app.task(name="tests.ring")
def ring(number: int) -> None:
    """Say in the worker's log which bell was rung, and in which process."""
    print(f"rung {number} in {os.getpid()}", flush=True)
