"""The record as files: events with the very bytes that were hashed, and receipts of the newest heads.

A file of events can be verified without the product (see `services/verification/standalone.py`); it ends with a receipt of each
chain, so that one that was cut on the way shows.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

from curator.mechanism import receipts
from curator.mechanism.chain import GENESIS
from curator.mechanism.receipts import Receipt
from curator.models import AuditEvent

CHUNK = 500
VERIFIER = Path(__file__).parents[1] / "services" / "verification" / "standalone.py"
NEWEST = """
    SELECT wanted.chain, coalesce(head.seq, 0), coalesce(head.head, %s),
        coalesce((SELECT spent_bound + est_spent FROM curator_contract WHERE uid::text = wanted.chain), 0)
    FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (chain, place) LEFT JOIN curator_audithead AS head USING (chain)
    ORDER BY place
"""


def newest(chains: Sequence[str]) -> list[Receipt]:
    """The head of each chain and what its contract has charged, in one statement: of one moment."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, [GENESIS, list(chains)])
        return [Receipt(chain=chain, seq=seq, head=head, spent=spent, at=at) for chain, seq, head, spent in cursor.fetchall()]


def record(chains: Sequence[str]) -> Iterator[bytes]:
    """The events of each chain in its order, one per line, and its receipt; read as it is sent, a stretch at a time."""
    for receipt in newest(chains):
        rows = AuditEvent.objects.filter(chain=receipt.chain, seq__lte=receipt.seq).order_by("seq")
        for row in rows.iterator(chunk_size=CHUNK):
            yield event_line(row)
        yield receipts.line(receipt)


def event_line(row: AuditEvent) -> bytes:
    """One event. The body is JSON already, and goes in byte for byte."""
    place = f'{{"chain":"{row.chain}","seq":{row.seq},"previous":"{row.previous}","head":"{row.head}","body":'
    return place.encode() + bytes(row.body) + b"}\n"


def verifier() -> bytes:
    """The program that verifies such a file without the product."""
    return VERIFIER.read_bytes()
