"""The hash chain of the record: each head commits to its event's stored bytes and to everything before it.

Events are hashed as the bytes that are stored, never re-encoded; `canonical` only decides what those bytes are. A chain alone
shows edits, deletions and swaps; a cut tail or a chain rehashed as a whole shows only against a head noted elsewhere (a receipt).
"""

import json
from collections.abc import Iterable
from hashlib import sha256

GENESIS = "0" * 64


def canonical(obj: object) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. TypeError for anything but text, whole numbers, booleans, None, lists, dicts.

    Floats are refused: their digits depend on who writes them, and no amount is one. Tuples count as lists.
    """
    _check(obj)
    return json.dumps(obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _check(obj: object) -> None:
    if isinstance(obj, dict):
        if not all(isinstance(key, str) for key in obj):
            raise TypeError("a chained event has text keys only")
        for value in obj.values():
            _check(value)
    elif isinstance(obj, list | tuple):
        for value in obj:
            _check(value)
    elif not (obj is None or isinstance(obj, str | int)):
        raise TypeError(f"a chained event cannot hold a {type(obj).__name__}")


def next_head(previous: str, body: bytes) -> str:
    """sha256 over the previous head (64 hex digits) followed by the event's bytes, in hex."""
    return sha256(previous.encode() + body).hexdigest()


def first_break(rows: Iterable[tuple[int, bytes, str, str]]) -> int | None:
    """The seq of the first row (seq, body, previous, head) that does not follow from those before it; None if all do.

    The first row must follow GENESIS; each seq must be the one before it plus one.
    """
    expected_previous, expected_seq = GENESIS, None
    for seq, body, previous, head in rows:
        in_order = expected_seq is None or seq == expected_seq
        if not in_order or previous != expected_previous or head != next_head(previous, body):
            return seq
        expected_previous, expected_seq = head, seq + 1
    return None
