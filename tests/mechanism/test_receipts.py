"""Receipts: one form of a line, files that grow at their end, and what a noted head proves about a chain."""

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism import receipts
from curator.mechanism.chain import GENESIS, next_head
from curator.mechanism.errors import BadInput
from curator.mechanism.receipts import Receipt

HEADS = {seq: next_head(GENESIS, str(seq).encode()) for seq in range(1, 10)}
KEPT = Receipt(chain="site", seq=7, head=HEADS[7], spent=0, at="2030-01-01T00:00:00.000000+00:00")


@given(st.text(max_size=20), st.integers(1, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_a_receipt_reads_back_as_it_was_written(chain: str, seq: int, spent: int) -> None:
    receipt = Receipt(chain=chain.encode(errors="replace").decode(), seq=seq, head=HEADS[1], spent=spent, at="now")
    written = receipts.line(receipt)
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert list(receipts.read([written])) == [receipt]


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "7"}, {"seq": True}, {"seq": -1}, {"seq": 7.5}, {"seq": None}, {"spent": -1}, {"spent": 2**63}, {"head": "ab"},
        {"head": "G" * 64}, {"head": HEADS[7].upper()}, {"chain": 5}, {"at": None}, {"more": 1}, {"seq": 0}, {"state": 1},
    ],
)  # fmt: skip
def test_a_line_that_is_no_receipt_is_refused_with_its_number(change: dict[str, object]) -> None:
    text = json.dumps({**asdict(KEPT), **change}).encode() + b"\n"
    with pytest.raises(BadInput, match="line 2") as refusal:
        list(receipts.read([receipts.line(KEPT), text]))
    assert refusal.value.code == "bad_receipt"


def test_a_receipt_tells_the_state_of_its_contract_where_it_was_noted() -> None:
    closed = replace(KEPT, state="closed")
    assert list(receipts.read([receipts.line(KEPT), receipts.line(closed)])) == [KEPT, closed]
    assert b"state" not in receipts.line(KEPT) and b'"state":"closed"' in receipts.line(closed)


@pytest.mark.parametrize("text", [b"{\n", b"[]\n", b"\xff\n", b"[" * 100_000 + b"\n", b'{"seq": NaN}\n', b"7\n"])
def test_bytes_that_are_no_object_are_refused(text: bytes) -> None:
    with pytest.raises(BadInput):
        list(receipts.read([text]))


def test_a_line_that_was_being_written_when_the_machine_stopped_says_nothing() -> None:
    whole = receipts.line(KEPT)
    for cut in range(len(whole)):
        assert list(receipts.read([whole, whole[:cut]])) == [KEPT]


def test_the_newest_receipt_of_each_chain_counts() -> None:
    older, other = replace(KEPT, seq=3, head=HEADS[3]), replace(KEPT, chain="another", seq=1, head=HEADS[1])
    assert receipts.newest([older, KEPT, other, older, KEPT]) == {"site": KEPT, "another": other}


def test_two_receipts_of_one_event_that_differ_show_a_fork() -> None:
    for change in ({"head": HEADS[8]}, {"spent": 1}):
        with pytest.raises(BadInput, match="forked"):
            receipts.newest([KEPT, replace(KEPT, **change)])


def test_a_receipt_tells_a_cut_a_rewritten_and_a_cheaper_chain_from_its_own() -> None:
    assert receipts.contradiction(KEPT, last=9, heads=HEADS) is None
    assert receipts.contradiction(KEPT, last=7, heads=HEADS, spent=0) is None
    assert "ends at event 6" in str(receipts.contradiction(KEPT, last=6, heads=HEADS))
    assert "its head after event 7" in str(receipts.contradiction(KEPT, last=9, heads={7: HEADS[8]}))
    assert "its head after event 7 is None" in str(receipts.contradiction(KEPT, last=9, heads={}))
    assert "5 units were spent" in str(receipts.contradiction(KEPT, last=9, heads=HEADS, spent=5))
    empty = replace(KEPT, seq=0, head=GENESIS)
    assert receipts.contradiction(empty, last=0, heads={}) is None
