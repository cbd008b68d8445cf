"""A sign of life of the worker: every task touches a file when it begins and when it ends, the periodic sweep among them.

A pool whose child was killed while it held the queue's lock waits for ever, with every process alive: only silence tells. A long
scan is silent too, so each process also leaves a note while it is at a task: silence without such a note means that the pool is
stuck, long before a task could be called too long.
"""

import os
import time
from pathlib import Path

import psutil

from rdp_site.environment import VAR

FILE = VAR / "worker-heartbeat"


def begin(path: Path = FILE) -> None:
    """Note that this process begins a task now."""
    _note(path, os.getpid()).touch()
    path.touch()


def end(path: Path = FILE) -> None:
    """Note that the task of this process has ended."""
    _note(path, os.getpid()).unlink(missing_ok=True)
    path.touch()


def beat(path: Path = FILE) -> None:
    """Note that a long task gets on."""
    path.touch()


def silence(path: Path = FILE) -> float | None:
    """Seconds since the last sign of life; None where there never was one."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return None


def was_at_work(path: Path, pid: int) -> bool:
    """Whether a process that died had begun a task and not ended it."""
    return _note(path, pid).exists()


def forget(path: Path, pid: int) -> None:
    """Remove the note of a process that died."""
    _note(path, pid).unlink(missing_ok=True)


def forget_all(path: Path) -> None:
    """Remove every note: nobody is there yet whose it could be."""
    for note in path.parent.glob(f"{path.name}.*"):
        note.unlink(missing_ok=True)


def is_at_work(path: Path = FILE) -> bool:
    """Whether a process that lives is at a task."""
    return any(psutil.pid_exists(int(note.suffix[1:])) for note in path.parent.glob(f"{path.name}.*"))


def _note(path: Path, pid: int) -> Path:
    return path.with_name(f"{path.name}.{pid}")
