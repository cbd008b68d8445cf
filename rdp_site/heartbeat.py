"""A sign of life of the worker: every task touches a file when it begins and when it ends, the periodic sweep among them.

A pool whose child was killed while it held the queue's lock waits for ever, with every process alive: only silence tells.
"""

import time
from pathlib import Path

from rdp_site.environment import VAR

FILE = VAR / "worker-heartbeat"


def touch(path: Path = FILE) -> None:
    """Note that a task began or ended now."""
    path.touch()


def silence(path: Path = FILE) -> float | None:
    """Seconds since the last sign of life; None where there never was one."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return None
