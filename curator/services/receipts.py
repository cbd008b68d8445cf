"""Receipts outside the database: what each release left behind, so that an older copy of the record cannot pass for the newest.

A receipt follows the commit that it tells of. Written before, it would speak of charges that a crash took back, and hold up
contracts for nothing; written after, a crash between the two leaves the outside one transaction behind, and the next run adds
what is missing before it takes a question. So only a copy restored from within that moment goes unnoticed, by at most the one
transaction. Each contract has a file of its own, whose last line is the newest; a worker that cannot write it releases nothing.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from curator.mechanism import receipts
from curator.mechanism.chain import GENESIS
from curator.mechanism.errors import BadInput
from curator.mechanism.receipts import Receipt
from curator.mechanism.rho import Units
from curator.models import AuditEvent, Hold
from curator.services import failpoints

BEHIND = "record_behind_receipt"
MISSING = "receipts_missing"
UNREADABLE = "receipts_unreadable"
UNWRITABLE = "receipts_unwritable"
TAIL = 4096  # bytes: some ten lines

_STANDING = """
    SELECT contract.uid, coalesce(head.seq, 0), coalesce(head.head, %s), contract.spent_bound + contract.est_spent
    FROM curator_contract AS contract LEFT JOIN curator_audithead AS head ON head.chain = contract.uid::text
    WHERE contract.id = %s
"""


class Recorded(NamedTuple):
    """What the record says at one moment: the contract's chain and its total spending, answers and diagnostics together."""

    uid: UUID
    seq: int
    head: str
    spent: Units


def may_release(contract_id: int) -> bool:
    """Compare a contract's record with its receipts and bring these up to it; False, with a `Hold`, where they do not agree."""
    recorded = standing(contract_id)
    code, detail = _complaint(recorded)
    held = Hold.objects.filter(contract_id=contract_id).first() or Hold(contract_id=contract_id)
    if held.code != code:
        held.code, held.detail, held.since = code, detail, timezone.now()
        held.save()
    return not code


class NotNoted(OSError):
    """A receipt could not be left. What it tells of is committed; nothing more is released until the files are in order."""


def note(contract_id: int) -> None:
    """Leave a receipt of what is committed by now; NotNoted where that cannot be done."""
    recorded = standing(contract_id)
    try:
        _append(recorded)
    except (OSError, BadInput) as error:
        raise NotNoted(str(path_of(recorded.uid))) from error


def begin_anew(contract_id: int) -> None:
    """Put a contract's receipts aside, under another name, and begin with one of the record as it is now. OSError.

    At every moment there is a file: one that dies on the way is simply repeated.
    """
    recorded = standing(contract_id)
    path = path_of(recorded.uid)
    fresh = path.with_suffix(".fresh")
    fresh.unlink(missing_ok=True)
    with _locked(fresh) as file:
        _write(file, recorded)
    if path.exists():
        number = sum(1 for _ in path.parent.glob(f"{recorded.uid}.until-*.jsonl"))
        path.with_name(f"{recorded.uid}.until-{number}.jsonl").hardlink_to(path)
    failpoints.reach("receipts_aside")
    fresh.replace(path)
    _keep_name(path.parent)


def standing(contract_id: int) -> Recorded:
    """Chain and spending in one statement, hence of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [GENESIS, contract_id])
        return Recorded(*cursor.fetchone())


def newest(uid: UUID) -> Receipt | None:
    """The newest receipt of a contract; None where there is no file, or nothing in it. BadInput, OSError."""
    try:
        with path_of(uid).open("rb") as file:
            return _last(file)
    except FileNotFoundError:
        return None


def path_of(uid: UUID) -> Path:
    """The file of a contract's receipts."""
    return Path(settings.RECEIPTS_DIR) / f"{uid}.jsonl"


def _complaint(recorded: Recorded) -> tuple[str, str]:
    """A code and a sentence, both empty where record and receipts agree."""
    try:
        known = newest(recorded.uid)
        if known is None and recorded.spent:
            return MISSING, f"the record has charges, and there is no receipt in {path_of(recorded.uid)}"
        if known is not None and (difference := _difference(recorded, known)):
            return BEHIND, difference
        _append(recorded)
    except BadInput as unreadable:
        return UNREADABLE, f"{path_of(recorded.uid)}: {unreadable.detail}"
    except OSError as error:
        return UNWRITABLE, f"{path_of(recorded.uid)}: {os.strerror(error.errno or 0)}"
    return "", ""


def _difference(recorded: Recorded, known: Receipt) -> str | None:
    events = AuditEvent.objects.filter(chain=str(recorded.uid), seq=known.seq)
    why = receipts.contradiction(known, last=recorded.seq, heads=dict(events.values_list("seq", "head")))
    if why is None and recorded.spent < known.spent:
        return f"{recorded.spent} units are spent, a receipt of {known.at} says {known.spent}"
    return why


def _append(recorded: Recorded) -> None:
    with _locked(path_of(recorded.uid)) as file:
        known = _last(file)
        if known is not None and known.seq >= recorded.seq:
            return
        _write(file, recorded)


def _write(file: IO[bytes], recorded: Recorded) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    receipt = Receipt(chain=str(recorded.uid), seq=recorded.seq, head=recorded.head, spent=recorded.spent, at=at)
    file.truncate(_whole(file))  # what a crash left half written
    file.write(receipts.line(receipt))
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """The file, made where it is missing, for one writer at a time."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not path.exists()
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b") as file:  # noqa: PTH123  # with a mode
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    if is_new:
        _keep_name(path.parent)


def _keep_name(folder: Path) -> None:
    """A new file survives a crash only once its folder is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _last(file: IO[bytes]) -> Receipt | None:
    start = max(0, file.seek(0, os.SEEK_END) - TAIL)
    file.seek(start)
    lines = file.read().splitlines(keepends=True)
    found = list(receipts.read(lines[1:] if start else lines))
    return found[-1] if found else None


def _whole(file: IO[bytes]) -> int:
    """How many bytes of the file are whole lines."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    return start + file.read().rfind(b"\n") + 1
