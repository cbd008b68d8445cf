"""A task for the broker's tests, included by their workers only."""

import os
import time

from rdp_site.celery import app


@app.task(name="tests.ring")
def ring(number: int, sent: float) -> None:
    """Say in the worker's log which bell was rung, and in which process."""
    print(f"rung {number} pid={os.getpid()} late={(time.time() - sent) * 1000:.1f}", flush=True)
