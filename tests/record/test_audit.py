"""The audit chains: one order per chain, no holes, and the bytes kept are the bytes hashed."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from curator.mechanism.chain import GENESIS, canonical, first_break, next_head
from curator.models import AuditEvent, AuditHead
from curator.services import audit
from curator.services.audit import SITE, Event
from curator.services.verification.chain import walk
from tests.cast import cast, make_contract


def rows(chain: str = SITE) -> list[tuple[int, bytes, str, str]]:
    events = AuditEvent.objects.filter(chain=chain).order_by("seq")
    return [(event.seq, bytes(event.body), event.previous, event.head) for event in events]


def add(*kinds: str, chain: str = SITE) -> list[AuditEvent]:
    with transaction.atomic():
        return audit.append(chain, [Event(kind, "carol", {"n": 1}) for kind in kinds])


def test_events_follow_each_other_from_the_genesis(db: None) -> None:
    add("a", "b")
    add("c")
    assert [row[0] for row in rows()] == [1, 2, 3] and rows()[0][2] == GENESIS
    assert first_break(rows()) is None
    head = AuditHead.objects.get(chain=SITE)
    assert (head.seq, head.head) == (3, rows()[-1][3])


def test_the_stored_bytes_are_the_canonical_form_of_what_happened(db: None) -> None:
    event = add("a")[0]
    event.refresh_from_db()
    body = json.loads(bytes(event.body))
    assert bytes(event.body) == canonical(body)
    assert event.head == next_head(GENESIS, bytes(event.body))
    assert {key: body[key] for key in body if key != "at"} == {
        "actor": "carol", "chain": SITE, "data": {"n": 1}, "kind": "a", "query": None, "seq": 1,
    }  # fmt: skip
    assert body["at"] == audit.stamp(event.at)


def test_the_database_writes_the_same_bytes_as_the_mechanism(db: None) -> None:
    odd = "".join(map(chr, range(1, 256))) + "\u2028\U0001f600\x00ẞ\uffff"
    data = {"texts": [odd, {odd: None}], "n": [2**63, -1, True]}
    with transaction.atomic():
        event = audit.append(SITE, [Event("a", odd.replace("\x00", "")[:150], data, uuid4())])[0]
    body = bytes(AuditEvent.objects.get(pk=event.pk).body)
    assert body == canonical(json.loads(body)) and json.loads(body)["data"] == data
    assert bytes(event.body) == body
    assert next(iter(walk(SITE))).actor == event.actor


def test_two_chains_do_not_share_numbers(db: None) -> None:
    contract = make_contract(cast())
    chain = audit.chain_of(contract)
    before = len(rows(chain))
    add("a")
    add("a", chain=chain)
    assert (rows()[0][0], rows(chain)[-1][0]) == (1, before + 1)


def test_a_chain_of_nothing_is_refused(db: None) -> None:
    for chain in ("x", str(uuid4()), ""):
        with pytest.raises(IntegrityError, match="has no chain"):
            add("a", chain=chain)
    assert not AuditHead.objects.exists()


def test_an_event_outside_a_transaction_is_a_mistake(db: None) -> None:
    with pytest.raises(transaction.TransactionManagementError):
        audit.append(SITE, [Event("a", "carol", {})])


def test_an_event_alone_cannot_be_rolled_back_with_something_else(db: None) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError):
        audit.append_alone(SITE, Event("a", "carol", {}))
    audit.append_alone(SITE, Event("a", "carol", {}))
    assert len(rows()) == 1


def test_an_event_that_is_rolled_back_leaves_no_hole(db: None) -> None:
    add("a")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        audit.append(SITE, [Event("b", "carol", {})])
        raise ZeroDivisionError
    add("c")
    assert [row[0] for row in rows()] == [1, 2] and first_break(rows()) is None


def test_a_float_never_enters_a_chain(db: None) -> None:
    with pytest.raises(TypeError), transaction.atomic():
        audit.append(SITE, [Event("a", "carol", {"rho": 0.3})])
    assert rows() == []


def test_sixteen_writers_at_once_make_one_chain_without_holes(db: None) -> None:
    start = threading.Barrier(16)

    def write(number: int) -> None:
        start.wait()
        try:
            for _ in range(5):
                add(f"a{number}", f"b{number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(16)))
    written = rows()
    assert [row[0] for row in written] == list(range(1, 161))
    assert first_break(written) is None
    kinds = [json.loads(row[1])["kind"] for row in written]
    assert all(kinds[i][0] == "a" and kinds[i + 1] == "b" + kinds[i][1:] for i in range(0, 160, 2))  # one call stays together


def test_a_tampered_byte_shows_at_its_place(owner_connection: psycopg.Connection[Any]) -> None:
    add("a", "b", "c")
    owner_connection.execute("ALTER TABLE curator_auditevent DISABLE TRIGGER USER")
    other = "convert_to(replace(convert_from(body, 'UTF8'), 'carol', 'craol'), 'UTF8')"
    owner_connection.execute(f"UPDATE curator_auditevent SET body = {other} WHERE seq = 2")
    assert first_break(rows()) == 2
