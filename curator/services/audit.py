"""The audit chains: each event is hashed together with the head before it, and the bytes kept are the bytes that were hashed.

There is one chain per contract and one for the site. The head's row lock orders the writers of a chain until they commit, so
`append` is the last lock a transaction takes (contract → query → audit head). No event carries a function of the records
other than released values.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from curator import ticks
from curator.mechanism import chain as hashing
from curator.models import AuditEvent, AuditHead, Contract

SITE = "site"


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, who did it (a user name; "" where nobody signed in), its operands, and the query it is about."""

    kind: str
    actor: str
    data: Mapping[str, object]
    query: UUID | None = None


def chain_of(contract: Contract) -> str:
    """The name of a contract's chain."""
    return str(contract.uid)


def append(chain: str, events: Sequence[Event]) -> list[AuditEvent]:
    """Add `events` to `chain` in order, inside the caller's transaction; the head stays locked until it ends."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("An audit event belongs to the transaction of what it tells.")
    head = _locked_head(chain)
    at = ticks.now()
    rows = []
    for event in events:
        row = _row(head, event, at)
        head.seq, head.head = row.seq, row.head
        rows.append(row)
    AuditEvent.objects.bulk_create(rows)
    head.save(update_fields=["seq", "head"])
    return rows


def hold(chain: str) -> None:
    """Lock the head of `chain` until the caller's transaction ends, before anything else is locked in it.

    For writers whose rows must be committed in the order of their ids; everybody else meets the head in `append`, last.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A chain's head is held by a transaction.")
    _locked_head(chain)


def append_alone(chain: str, event: Event) -> AuditEvent:
    """Add one event in a transaction of its own: for what must stay recorded although the request itself is refused."""
    with transaction.atomic(durable=True):
        return append(chain, [event])[0]


def stamp(at: datetime.datetime) -> str:
    """How a moment is written in an event: UTC, to the microsecond."""
    return at.astimezone(datetime.UTC).isoformat(timespec="microseconds")


def _locked_head(chain: str) -> AuditHead:
    heads = AuditHead.objects.select_for_update(no_key=True)
    head = heads.filter(chain=chain).first()
    if head is None:
        # Two first writers: the second insert waits for the first to commit, does nothing, and then finds its row.
        AuditHead.objects.bulk_create([AuditHead(chain=chain, seq=0, head=hashing.GENESIS)], ignore_conflicts=True)
        head = heads.get(chain=chain)
    return head


def _row(head: AuditHead, event: Event, at: datetime.datetime) -> AuditEvent:
    seq = head.seq + 1
    body = hashing.canonical({
        "actor": event.actor,
        "at": stamp(at),
        "chain": head.chain,
        "data": event.data,
        "kind": event.kind,
        "query": None if event.query is None else str(event.query),
        "seq": seq,
    })  # fmt: skip
    return AuditEvent(
        chain=head.chain, seq=seq, kind=event.kind, actor=event.actor, query=event.query, at=at,
        body=body, previous=head.head, head=hashing.next_head(head.head, body),
    )  # fmt: skip
