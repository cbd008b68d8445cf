"""Anchors: the heads of all chains, noted regularly where nobody who can rewrite the database can rewrite them as well.

A file outside the folder of the database (RDP_ANCHORS; lines are added and nothing else), and letters (RDP_ANCHOR_MAIL), which
the mailer sends. For each target a file of our own keeps what was noted there last, so that one that does not take its lines adds
nothing to the other; losing that file costs an anchor too many, never one too few. Only chains that grew are noted.
"""

import logging
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from time import time

from django.conf import settings
from django.core.mail import EmailMessage

from curator.mechanism import receipts
from curator.mechanism.errors import BadInput
from curator.mechanism.receipts import Receipt
from curator.models import AuditHead
from curator.selectors import exports
from curator.services import appending
from curator.services.claiming import ANCHORS, exclusive

logger = logging.getLogger(__name__)

FILE, MAIL = 0, 1  # targets, of which each is served by one worker at a time


def leave() -> int:
    """Add what has grown to the anchor file, if it is time; gives the number of heads noted.

    A file that does not take it is told in the log, and tried again by the next sweep.
    """
    if not settings.ANCHORS:
        return 0
    try:
        return _bring(FILE, settings.ANCHORS, _added)
    except OSError as error:
        logger.error("anchors could not be left (%s): the next sweep tries again", type(error).__name__)
        return 0


def is_mail_due() -> bool:
    """Whether it is time for a letter, if something has grown."""
    return bool(settings.ANCHOR_MAIL) and _is_time(state_of(settings.ANCHOR_MAIL))


def mail(send: Callable[[EmailMessage], bool]) -> bool:
    """Have a letter about what has grown sent, if it is time; whether one was.

    Where `send` says that it was refused, the next one is tried when the next one would be due, with what has grown by then.
    """
    return is_mail_due() and bool(_bring(MAIL, settings.ANCHOR_MAIL, lambda heads: send(letter(heads))))


def state_of(target: str) -> Path:
    """Where it is kept what was noted last at this target."""
    return Path(f"{settings.ANCHOR_STATE}-{sha256(target.encode()).hexdigest()[:16]}")


def _bring(place: int, target: str, note: Callable[[Sequence[Receipt]], bool]) -> int:
    state = state_of(target)
    if not _is_time(state):
        return 0
    with exclusive(place, space=ANCHORS) as mine:
        return _brought(state, note) if mine else 0


def _brought(state: Path, note: Callable[[Sequence[Receipt]], bool]) -> int:
    known = _last(state)
    grown = [head for head in exports.newest(_chains()) if head.seq and _grew(head, known.get(head.chain))]
    if grown and not note(grown):
        grown = []
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
    except (FileNotFoundError, BadInput):  # lost, or half written by a crash
        return {}


def _grew(head: Receipt, known: Receipt | None) -> bool:
    return known is None or head.head != known.head


def _chains() -> list[str]:
    return list(AuditHead.objects.order_by("chain").values_list("chain", flat=True))


def _added(heads: Sequence[Receipt]) -> bool:
    with appending.opened(Path(settings.ANCHORS)) as file:
        appending.add(file, b"".join(map(receipts.line, heads)))
    return True


def letter(heads: Sequence[Receipt]) -> EmailMessage:
    """A mail with these heads as lines that the verifiers take."""
    text = b"".join(map(receipts.line, heads)).decode()
    return EmailMessage(f"Heads of {len(heads)} chains, {heads[0].at}", WORDS + text, None, [settings.ANCHOR_MAIL])


WORDS = (
    "Keep this letter. A record that is cut or rewritten no longer leads to these heads: save the lines below as a file and give "
    "it to the verifier as --anchor.\n\n"
)
