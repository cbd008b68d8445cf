"""Anchors: the heads of all chains, noted regularly where nobody who can rewrite the database can rewrite them as well.

A file outside the folder of the database (RDP_ANCHORS; lines are added and nothing else), and letters (RDP_ANCHOR_MAIL). Only
chains that grew since the last anchor are noted. Without either setting nothing is done.
"""

import fcntl
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from smtplib import SMTPException
from time import time
from typing import IO

from django.conf import settings
from django.core.mail import send_mail

from curator.mechanism import receipts
from curator.mechanism.receipts import Receipt
from curator.models import AuditHead
from curator.selectors import exports
from curator.services.claiming import ANCHORS, exclusive

logger = logging.getLogger(__name__)


def leave() -> int:
    """Note what has grown since the last anchor, if it is time; gives the number of heads noted.

    What was noted last is kept in a file of our own: losing it costs an anchor too many, never one too few. A file or a mail
    server that does not take it is told in the log, and tried again by the next sweep.
    """
    if not (settings.ANCHORS or settings.ANCHOR_MAIL) or not _is_time(Path(settings.ANCHOR_STATE)):
        return 0
    with exclusive(0, space=ANCHORS) as mine:
        return _leave(Path(settings.ANCHOR_STATE)) if mine else 0


def _leave(state: Path) -> int:
    known = _last(state)
    grown = [head for head in exports.newest(_chains()) if head.seq and _grew(head, known.get(head.chain))]
    if grown:
        try:
            _note(grown)
        except (OSError, SMTPException) as error:
            logger.error("anchors could not be left (%s): the next sweep tries again", type(error).__name__)
            return 0
    lines = (known | {head.chain: head for head in grown}).values()
    state.write_bytes(b"".join(map(receipts.line, lines)))
    return len(grown)


def _is_time(state: Path) -> bool:
    try:
        return bool(time() - state.stat().st_mtime >= settings.ANCHOR_SECONDS)
    except FileNotFoundError:
        return True


def _last(state: Path) -> dict[str, Receipt]:
    try:
        with state.open("rb") as file:
            return {receipt.chain: receipt for receipt in receipts.read(file)}
    except FileNotFoundError:
        return {}


def _grew(head: Receipt, known: Receipt | None) -> bool:
    return known is None or head.head != known.head


def _chains() -> list[str]:
    return list(AuditHead.objects.order_by("chain").values_list("chain", flat=True))


def _note(heads: Sequence[Receipt]) -> None:
    if settings.ANCHORS:
        add(Path(settings.ANCHORS), heads)
    if settings.ANCHOR_MAIL:
        text = b"".join(map(receipts.line, heads)).decode()
        send_mail(f"Heads of {len(heads)} chains, {heads[0].at}", WORDS + text, None, [settings.ANCHOR_MAIL])


WORDS = (
    "Keep this letter. A record that is cut or rewritten no longer leads to these heads: save the lines below as a file and give "
    "it to the verifier as --anchor.\n\n"
)


def add(path: Path, heads: Iterable[Receipt]) -> None:
    """Add lines at the end of a file, on the disk when this returns; what a crash left half written is cut off first."""
    with _open(path) as file:
        file.truncate(_whole(file))
        file.write(b"".join(map(receipts.line, heads)))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    is_new = not path.exists()
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b") as file:  # noqa: PTH123  # with a mode
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    if is_new:  # the name survives a crash only once its folder is on the disk too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _whole(file: IO[bytes]) -> int:
    """How many bytes of the file are whole lines; a line has far fewer than 4096."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - 4096)
    file.seek(start)
    return start + file.read().rfind(b"\n") + 1
