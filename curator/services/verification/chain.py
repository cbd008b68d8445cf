"""Walking along one chain: every event follows from the one before it, and its columns repeat what was hashed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from curator.mechanism.chain import GENESIS, next_head
from curator.models import AuditEvent, AuditHead
from curator.services.audit import stamp
from curator.services.verification.difference import Difference, readable, require, same

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as its hashed bytes tell it; `place` names its row."""

    place: str
    seq: int
    kind: str
    actor: str
    query: str | None
    at: datetime
    data: dict[str, Any]
    head: str


def walk(chain: str) -> Iterator[Entry]:
    """The events of a chain in order, each checked in passing, and at the end its head. Difference at the first break."""
    seq, previous = 0, GENESIS
    for row in AuditEvent.objects.filter(chain=chain).order_by("seq").iterator(chunk_size=CHUNK):
        place = f"auditevent {row.pk} (chain {chain}, seq {row.seq})"
        require(row.seq == seq + 1, place, f"it follows seq {seq}: something is missing")
        body = bytes(row.body)
        require(
            row.previous == previous and row.head == next_head(previous, body), place, "its hash does not follow from its bytes"
        )
        seq, previous = row.seq, row.head
        with readable(place):
            entry = _entry(place, row, json.loads(body))
        yield entry
    _check_head(chain, seq, previous)


def _entry(place: str, row: AuditEvent, body: dict[str, Any]) -> Entry:
    query = None if row.query is None else str(row.query)
    columns = {"seq": row.seq, "kind": row.kind, "actor": row.actor, "chain": row.chain, "query": query, "at": stamp(row.at)}
    for name, value in columns.items():
        same(place, name, value, body[name])
    return Entry(place, row.seq, row.kind, row.actor, query, row.at, body["data"], row.head)


def _check_head(chain: str, seq: int, head: str) -> None:
    row = AuditHead.objects.filter(chain=chain).first()
    if row is None:
        if seq:
            raise Difference(f"audithead {chain}: it is missing")
        return
    same(f"audithead {chain}", "seq", row.seq, seq)
    same(f"audithead {chain}", "head", row.head, head)
