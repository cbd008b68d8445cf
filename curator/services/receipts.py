"""Receipts outside the database: what each release left behind, so that an older copy of the record cannot pass for the newest.

A receipt follows the commit that it tells of. Written before, it would speak of charges that a crash took back, and hold up
contracts for nothing; written after, a crash between the two leaves the outside one transaction behind, and the next run adds
what is missing before it takes a question. So only a copy restored from within that moment goes unnoticed, by at most the one
transaction. What a curator changes (closes a contract, removes a member) is noted by the run that its bell or the next sweep
brings, as only workers may write here: until then a copy from before it would go unnoticed too. Each contract has a file of its
own, whose last line is the newest; a worker that cannot write it releases nothing.
"""

import os
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
from curator.models import AuditEvent, Contract, Hold
from curator.services import appending, failpoints

BEHIND = "record_behind_receipt"
MISSING = "receipts_missing"
UNREADABLE = "receipts_unreadable"
UNWRITABLE = "receipts_unwritable"
State = Contract.State

_STANDING = """
    SELECT contract.id, contract.uid, coalesce(head.seq, 0), coalesce(head.head, %s),
           contract.spent_bound + contract.est_spent, contract.state
    FROM curator_contract AS contract LEFT JOIN curator_audithead AS head ON head.chain = contract.uid::text
"""


class Recorded(NamedTuple):
    """What the record says at one moment: the contract's chain, its state, its spending on answers and diagnostics together."""

    contract_id: int
    uid: UUID
    seq: int
    head: str
    spent: Units
    state: str


def may_release(contract_id: int) -> bool:
    """Compare a contract's record with its receipts and bring these up to it; False, with a `Hold`, where they do not agree."""
    code, detail = _complaint(contract_id)
    held = Hold.objects.filter(contract_id=contract_id).first() or Hold(contract_id=contract_id)
    if held.code != code:
        held.code, held.detail, held.since = code, detail, timezone.now()
        held.save()
    return not code


def is_behind(contract_id: int) -> bool:
    """Whether the newest receipt is of another moment than the record: there is one to leave, or one to hold the contract for."""
    return _differs(standing(contract_id))


def behind() -> list[int]:
    """The contracts, drafts apart, of which that is so: something changed since (its state, a member), or the record is older."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING + "WHERE contract.state <> %s", [GENESIS, State.DRAFT])
        return [recorded.contract_id for recorded in map(Recorded._make, cursor.fetchall()) if _differs(recorded)]


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
    with appending.opened(fresh) as file:
        appending.add(file, _line(recorded))
    if path.exists():
        number = sum(1 for _ in path.parent.glob(f"{recorded.uid}.until-*.jsonl"))
        path.with_name(f"{recorded.uid}.until-{number}.jsonl").hardlink_to(path)
    failpoints.reach("receipts_aside")
    fresh.replace(path)
    appending.keep_names(path.parent)


def standing(contract_id: int) -> Recorded:
    """Chain, state and spending in one statement, hence of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING + "WHERE contract.id = %s", [GENESIS, contract_id])
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


def strangers() -> list[str]:
    """The contracts of which there are receipts and the record knows nothing: of another installation, or made since a copy."""
    folder = Path(settings.RECEIPTS_DIR)
    kept = {path.stem for path in folder.glob("*.jsonl") if "." not in path.stem}
    known = {str(uid) for uid in Contract.objects.values_list("uid", flat=True)}
    return sorted(kept - known)


def _differs(recorded: Recorded) -> bool:
    try:
        known = newest(recorded.uid)
    except (BadInput, OSError):
        return True
    return recorded.seq > 0 if known is None else (known.seq, known.head) != (recorded.seq, recorded.head)


def _complaint(contract_id: int) -> tuple[str, str]:
    """A code and a sentence, both empty where record and receipts agree.

    The receipt is read before the record: whatever another process commits and notes meanwhile, what the receipt tells of was
    committed by then.
    """
    uid = Contract.objects.values_list("uid", flat=True).get(pk=contract_id)
    try:
        known = newest(uid)
        recorded = standing(contract_id)
        if known is None and recorded.spent:
            return MISSING, f"the record has charges, and there is no receipt in {path_of(uid)}"
        if known is not None and (difference := _difference(recorded, known)):
            return BEHIND, difference
        _append(recorded)
    except BadInput as unreadable:
        return UNREADABLE, f"{path_of(uid)}: {unreadable.detail}"
    except OSError as error:
        return UNWRITABLE, f"{path_of(uid)}: {os.strerror(error.errno or 0)}"
    return "", ""


def _difference(recorded: Recorded, known: Receipt) -> str | None:
    events = AuditEvent.objects.filter(chain=str(recorded.uid), seq=known.seq)
    why = receipts.contradiction(known, last=recorded.seq, heads=dict(events.values_list("seq", "head")))
    if why is None and recorded.spent < known.spent:
        return f"{recorded.spent} units are spent, a receipt of {known.at} says {known.spent}"
    return why


def _append(recorded: Recorded) -> None:
    path = path_of(recorded.uid)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with appending.opened(path) as file:
        known = _last(file)
        if known is None or known.seq < recorded.seq:
            appending.add(file, _line(recorded))


def _line(recorded: Recorded) -> bytes:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return receipts.line(Receipt(
        chain=str(recorded.uid), seq=recorded.seq, head=recorded.head, spent=recorded.spent, at=at, state=recorded.state
    ))  # fmt: skip


def _last(file: IO[bytes]) -> Receipt | None:
    found = list(receipts.read(appending.last_lines(file)))
    return found[-1] if found else None
