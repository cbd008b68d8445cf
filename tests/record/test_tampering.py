"""Tampering is evident: eight ways at fifty places each, on the exported record and on the rows of the database."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from curator.mechanism import receipts
from curator.mechanism.receipts import Receipt
from curator.selectors import exports
from curator.services.audit import chain_of
from curator.services.verification import verify
from tests.fixtures.figures import Figure
from tests.record.exported import Told, difference, edited, load, rehashed
from tests.record.story import OVER_40, Story, busy_week
from tests.record.tampered import WAYS

Owner = psycopg.Connection[Any]
PLACES = 50


@pytest.fixture
def story(db: None, settings: Any) -> Story:
    """A busy week, and some more questions: a record with room for fifty places."""
    settings.TICK_MS = 0
    made = busy_week()
    for number in range(8):
        where = {"all": [OVER_40, {"column": "age", "at_most": 60 + number}]}
        made.ask(made.people.bob, where, {"within": 60})
    return made


def places(events: Sequence[Told]) -> list[int]:
    """Fifty places spread over the record; neither the first event nor the last two, so that each way can be gone there."""
    last = len(events) - 3
    found = sorted({1 + round(number * (last - 1) / (PLACES - 1)) for number in range(PLACES)})
    assert len(found) == PLACES, f"{len(events)} events are too few"
    return found


@pytest.mark.trust
def test_with_a_head_noted_elsewhere_no_tampering_passes(story: Story, figure: Figure) -> None:
    chain = chain_of(story.contract)
    events, noted = load(chain), [asdict(receipt) for receipt in exports.newest([chain])]
    assert not difference(chain, events, {chain: noted})
    tried = [
        (way, at, difference(chain, change(events, at), {chain: noted})) for way, change in WAYS.items() for at in places(events)
    ]
    missed = [(way, at) for way, at, said in tried if not said]
    assert (len(tried), missed) == (8 * PLACES, [])
    figure(
        row=14, n=len(tried), seen=f"{len(tried) - len(missed)} of {len(tried)} found by the stand-alone verifier with an anchor"
    )


@pytest.mark.trust
def test_without_one_a_cut_and_a_rewritten_chain_pass(story: Story, figure: Figure) -> None:
    """What the chain alone cannot tell, measured: this is why heads have to be noted elsewhere."""
    chain = chain_of(story.contract)
    events = load(chain)
    missed = Counter(way for way, change in WAYS.items() for at in places(events) if not difference(chain, change(events, at)))
    assert set(missed) == {"edit and rehash", "delete and rehash", "cut tail", "fork"}
    assert missed["cut tail"] == missed["fork"] == PLACES
    told = ", ".join(f"{way} {number}" for way, number in sorted(missed.items()))
    figure(row=14, n=8 * PLACES, mutant=f"without an anchor {missed.total()} of {8 * PLACES} pass: {told}")


def test_a_charge_that_was_changed_and_rehashed_contradicts_the_arithmetic(story: Story) -> None:
    """Even without an anchor, an amount cannot be changed alone."""
    chain = chain_of(story.contract)
    events = load(chain)
    checked = 0
    for at, event in enumerate(events):
        data = event.data["data"]
        for name in ("load", "available", "spent_after", "charge", "est_after", "after", "rho_ans"):
            if isinstance(data.get(name), int):
                other = rehashed([*events[:at], edited(event, data=data | {name: data[name] + 1}), *events[at + 1 :]])
                allowed = event.data["kind"] == "allotment.set"  # a larger allotment shows where it binds, or not at all
                assert difference(chain, other) or allowed, (event.data["kind"], name)
                checked += 1
    assert checked > 50


@contextmanager
def rows_of(owner: Owner, chain: str, events: Sequence[Told], honest: Sequence[Told]) -> Iterator[None]:
    """A chain's rows and head replaced, with every column made to fit, and put back."""
    _write(owner, chain, events)
    yield
    _write(owner, chain, honest)


def _write(owner: Owner, chain: str, events: Sequence[Told]) -> None:
    head = events[-1].head if events else "0" * 64
    with owner.transaction(), owner.cursor() as cursor:
        cursor.execute("DELETE FROM curator_auditevent WHERE chain = %s", [chain])
        cursor.executemany(
            "INSERT INTO curator_auditevent (chain, seq, kind, actor, query, at, body, previous, head) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (chain, e.seq, e.data["kind"], e.data["actor"], e.data["query"], e.data["at"], e.body, e.previous, e.head)
                for e in events
            ],
        )
        cursor.execute("UPDATE curator_audithead SET seq = %s, head = %s WHERE chain = %s", [len(events), head, chain])


def unlocked(owner: Owner) -> None:
    """What somebody with the owner's password does first."""
    for table in ("curator_auditevent", "curator_audithead"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")


def found_in_rows(story: Story, owner: Owner, at: Sequence[int], noted: Sequence[Receipt]) -> tuple[int, list[str]]:
    """How many ways were tried on the rows, and which passed."""
    chain = chain_of(story.contract)
    events = load(chain)
    unlocked(owner)
    passed = []
    for way, change in WAYS.items():
        for place in at:
            with rows_of(owner, chain, change(events, place), events):
                if verify([story.contract], receipts=noted).ok:
                    passed.append(f"{way} at {place}")
    assert verify([story.contract], receipts=noted).ok
    return len(at) * len(WAYS), passed


def test_the_products_own_verification_finds_each_way_too(story: Story, owner_connection: Owner) -> None:
    noted = exports.newest([chain_of(story.contract)])
    at = places(load(chain_of(story.contract)))
    n, passed = found_in_rows(story, owner_connection, [at[20], at[-1]], noted)
    assert (n, passed) == (16, [])


@pytest.mark.slow
@pytest.mark.trust
def test_no_tampering_with_rows_passes_verification_at_any_place(story: Story, owner_connection: Owner, figure: Figure) -> None:
    noted = exports.newest([chain_of(story.contract)])
    n, passed = found_in_rows(story, owner_connection, places(load(chain_of(story.contract))), noted)
    assert (n, passed) == (8 * PLACES, [])
    figure(row=14, n=n, seen=f"{n - len(passed)} of {n} found in the rows by `manage.py verify` with an anchor")


def test_verify_takes_anchors_from_files(story: Story, owner_connection: Owner, tmp_path: Any) -> None:
    chain = chain_of(story.contract)
    path = tmp_path / "anchors.jsonl"
    kept = exports.newest([chain])
    path.write_bytes(b"".join(map(receipts.line, kept)))
    call_command("verify", "--anchor", str(path))
    events = load(chain)
    unlocked(owner_connection)
    extra = {**events[-1].data, "kind": "record.verified", "actor": "dora", "query": None, "data": {"ok": True}}
    longer = rehashed([*events, edited(events[-1], **extra)])
    with rows_of(owner_connection, chain, longer, events):
        call_command("verify", "--anchor", str(path))  # the record has grown since
        path.write_bytes(b"".join(map(receipts.line, exports.newest([chain]))))
    with pytest.raises(CommandError, match=f"it ends at event {len(events)}, a receipt of"):
        call_command("verify", "--anchor", str(path))
    path.write_bytes(b"{}\n")
    with pytest.raises(CommandError, match="line 1 is not an object"):
        call_command("verify", "--anchor", str(path))
    with pytest.raises(CommandError, match="No such file"):
        call_command("verify", "--anchor", str(path) + "x")
    for wrong, words in (({"spent": kept[0].spent + 1}, "were spent by event"), ({"head": "a" * 64}, "its head after event")):
        path.write_bytes(receipts.line(Receipt(**(asdict(kept[0]) | wrong))))
        with pytest.raises(CommandError, match=words):
            call_command("verify", "--anchor", str(path))
