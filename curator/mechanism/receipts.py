"""Receipts and anchors: heads of a chain noted outside the database, as lines of JSON, and what they prove about it.

One line is `{"at", "chain", "head", "seq", "spent"}`: the head of `chain` after its event `seq`, and what the contract had
charged by then, answers and diagnostics together, in whole units (0 for the chain of the site). A release leaves a receipt, the
periodic anchor the same line. A receipt also has `"state"`, the contract's, so that no copy from before it was closed opens it
again. Files grow at their end only: a last line without its newline is one that was being written when the machine stopped, and
says nothing; any other unreadable line is a fault of the file.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from curator.mechanism.chain import GENESIS, canonical
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import MAX_UNITS, Units

HEX = frozenset("0123456789abcdef")
OPTIONAL = frozenset({"state"})
MEMBERS: dict[str, type] = {"at": str, "chain": str, "head": str, "seq": int, "spent": int}


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The head of `chain` after event `seq`; `spent` units charged by then; `at`, when it was noted (UTC, ISO 8601).

    `state`: the contract's, empty where it was not noted.
    """

    chain: str
    seq: int
    head: str
    spent: Units
    at: str
    state: str = ""


def line(receipt: Receipt) -> bytes:
    """The receipt as one line of a file, newline included."""
    return canonical({name: value for name, value in asdict(receipt).items() if name not in OPTIONAL or value}) + b"\n"


def parse(text: bytes, *, number: int = 1) -> Receipt:
    """One line; BadInput `bad_receipt` with the line's `number` and what was expected there."""
    try:
        found = json.loads(text)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise _bad(number, "is no JSON") from None
    if not isinstance(found, dict) or set(found) - OPTIONAL != set(MEMBERS):
        raise _bad(number, f"is not an object with {', '.join(MEMBERS)}")
    for name, kind in {**MEMBERS, **dict.fromkeys(OPTIONAL & set(found), str)}.items():
        if type(found[name]) is not kind:
            raise _bad(number, f'has a "{name}" that is not {"text" if kind is str else "a whole number"}')
    receipt = Receipt(**found)
    _check(receipt, number)
    return receipt


def _check(receipt: Receipt, number: int) -> None:
    if len(receipt.head) != len(GENESIS) or not set(receipt.head) <= HEX:
        raise _bad(number, 'has a "head" that is not 64 hexadecimal digits')
    if not (0 <= receipt.seq <= MAX_UNITS and 0 <= receipt.spent <= MAX_UNITS):
        raise _bad(number, 'has a "seq" or "spent" out of range')
    if receipt.seq == 0 and (receipt.head != GENESIS or receipt.spent):
        raise _bad(number, "speaks of an empty chain that is not empty")


def _bad(number: int, what: str) -> BadInput:
    return BadInput("bad_receipt", f"line {number} {what}", field=f"line {number}")


def read(lines: Iterable[bytes]) -> Iterator[Receipt]:
    """The receipts of a file opened for bytes, blank lines and an unfinished last line left out; BadInput as in `parse`.

    Only a line without its newline may be unfinished: a file that was cut elsewhere is told.
    """
    for number, text in enumerate(lines, start=1):
        if text.strip() and text.endswith(b"\n"):
            yield parse(text, number=number)


def newest(receipts: Iterable[Receipt]) -> dict[str, Receipt]:
    """The receipt of the highest place in each chain; BadInput where two of one place do not have the same head and total."""
    found: dict[str, Receipt] = {}
    for receipt in receipts:
        known = found.get(receipt.chain)
        if known is None or receipt.seq > known.seq:
            found[receipt.chain] = receipt
        elif receipt.seq == known.seq and (receipt.head, receipt.spent) != (known.head, known.spent):
            raise BadInput(
                "receipts_differ", f"two receipts of event {receipt.seq} of chain {receipt.chain} differ: one chain was forked"
            )
    return found


def contradiction(receipt: Receipt, *, last: int, heads: Mapping[int, str], spent: Units | None = None) -> str | None:
    """Why a chain of `last` events is not the one that `receipt` was taken from; None where it is.

    `heads`: the chain's head after event `receipt.seq` (others do no harm; GENESIS after 0); `spent`: units charged up to that
    event, where they are known. A shorter chain was cut or restored from an older copy; another head means it was rewritten.
    """
    if receipt.seq > last:
        return f"it ends at event {last}, a receipt of {receipt.at} is for event {receipt.seq}"
    found = GENESIS if receipt.seq == 0 else heads.get(receipt.seq)
    if found != receipt.head:
        return f"its head after event {receipt.seq} is {found}, a receipt of {receipt.at} says {receipt.head}"
    if spent is not None and spent != receipt.spent:
        return f"{spent} units were spent by event {receipt.seq}, a receipt of {receipt.at} says {receipt.spent}"
    return None
