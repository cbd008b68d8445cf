"""Files of lines that grow at their end only: one writer at a time, whole lines, on the disk before the writer goes on."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

TAIL = 4096  # bytes, of which the last line has far fewer


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, made where it is missing and readable for nobody else, for one writer at a time. OSError."""
    is_new = not path.exists()
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b") as file:  # noqa: PTH123  # with a mode
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    if is_new:
        keep_names(path.parent)


def add(file: IO[bytes], lines: bytes) -> None:
    """Whole lines at the end of an opened file; what a crash left half written is cut off first."""
    start, tail = _tail(file)
    file.truncate(start + tail.rfind(b"\n") + 1)
    file.write(lines)
    file.flush()
    os.fsync(file.fileno())


def last_lines(file: IO[bytes]) -> list[bytes]:
    """The lines at the end of a file, without one that begins before the last TAIL bytes; an unfinished one included."""
    start, tail = _tail(file)
    lines = tail.splitlines(keepends=True)
    return lines[1:] if start else lines


def keep_names(folder: Path) -> None:
    """A new file survives a crash only once its folder is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _tail(file: IO[bytes]) -> tuple[int, bytes]:
    start = max(0, file.seek(0, os.SEEK_END) - TAIL)
    file.seek(start)
    return start, file.read()
