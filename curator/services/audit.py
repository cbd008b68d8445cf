"""The audit chains: each event is hashed together with the head before it, and the bytes kept are the bytes that were hashed.

There is one chain per contract and one for the site. The database itself numbers an event, puts its bytes together and hashes
them (`record_append` of the migrations): the running product has no right to write a chain in any other way. The head's row lock
orders the writers of a chain until they commit, so `append` is the last lock a transaction takes (contract → query → audit
head). No event carries a function of the records other than released values.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, transaction

from curator import ticks
from curator.mechanism import chain as hashing
from curator.models import AuditEvent, Contract

SITE = "site"
APPEND = "SELECT id, seq, previous, head FROM public.record_append(%s, %s, %s::text[], %s::text[], %s::uuid[], %s::text[])"
COLUMNS = ("id", "chain", "seq", "kind", "actor", "query", "at", "previous", "head")  # of what `append` returns; body on demand


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
    at = ticks.now()
    kinds, actors, queries = zip(*((event.kind, event.actor, event.query) for event in events), strict=True)
    data = [hashing.canonical(event.data).decode() for event in events]
    with connection.cursor() as cursor:
        cursor.execute(APPEND, [chain, at, list(kinds), list(actors), list(queries), data])
        written = cursor.fetchall()
    return [
        AuditEvent.from_db(DEFAULT_DB_ALIAS, COLUMNS, (pk, chain, seq, event.kind, event.actor, event.query, at, previous, head))
        for event, (pk, seq, previous, head) in zip(events, written, strict=True)
    ]


def hold(chain: str) -> None:
    """Lock the head of `chain` until the caller's transaction ends, before anything else is locked in it.

    For writers whose rows must be committed in the order of their ids; everybody else meets the head in `append`, last.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A chain's head is held by a transaction.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT public.record_hold(%s)", [chain])


def append_alone(chain: str, event: Event) -> AuditEvent:
    """Add one event in a transaction of its own: for what must stay recorded although the request itself is refused."""
    with transaction.atomic(durable=True):
        return append(chain, [event])[0]


def stamp(at: datetime.datetime) -> str:
    """How a moment is written in an event: UTC, to the microsecond."""
    return at.astimezone(datetime.UTC).isoformat(timespec="microseconds")
