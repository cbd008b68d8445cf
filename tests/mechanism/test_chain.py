"""The hash chain: one form of bytes for one event, and every edit, deletion and swap found where it is."""

import json
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.chain import GENESIS, canonical, first_break, next_head

Row = tuple[int, bytes, str, str]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


def rows(n: int = 50, *, first: int = 1) -> list[Row]:
    chained: list[Row] = []
    head = GENESIS
    for seq in range(first, first + n):
        body = canonical({"seq": seq, "kind": "query.decided", "data": {"charge": 1000 + seq}})
        previous, head = head, next_head(head, body)
        chained.append((seq, body, previous, head))
    return chained


@given(values)
def test_canonical_bytes_read_back_and_do_not_depend_on_the_order_of_keys(value: object) -> None:
    written = canonical(value)
    assert json.loads(written) == value
    assert canonical(reversed_keys(value)) == written


def reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(list(value))}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


class Kind(StrEnum):
    PARTIAL = "partial"


def test_canonical_form() -> None:
    assert canonical({"b": [1, True, None], "a": "é\n"}) == '{"a":"é\\n","b":[1,true,null]}'.encode()
    assert canonical({"kind": Kind.PARTIAL, "pair": (1, 2)}) == b'{"kind":"partial","pair":[1,2]}'
    assert canonical(10**30) == b"1" + b"0" * 30


@pytest.mark.parametrize(
    "value", [1.0, float("nan"), Decimal(1), b"x", {1, 2}, object(), {1: 2}, {None: 1}, [[[0.5]]], {"a": {"b": 1.5}}]
)
def test_what_has_no_single_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)


def test_a_head_is_the_hash_of_the_head_before_and_the_bytes() -> None:
    assert next_head(GENESIS, b"{}") == sha256(b"0" * 64 + b"{}").hexdigest()
    assert next_head(GENESIS, b"{}") == "5508d2b710e64bc470079e1b211d9c58e21011e59d0559e422345dc19d659a75"


def test_an_untouched_chain_has_no_break() -> None:
    assert first_break(rows()) is None
    assert first_break(rows(first=0)) is None
    assert first_break([]) is None


@pytest.mark.parametrize("place", range(50))
def test_an_edited_row_is_found(place: int) -> None:
    chained = rows()
    seq, body, previous, head = chained[place]
    edited = body.replace(b'"charge":1', b'"charge":2')
    chained[place] = (seq, edited, previous, head)
    assert first_break(chained) == seq
    chained[place] = (seq, edited, previous, next_head(previous, edited))  # and rehashed: the next one gives it away
    assert first_break(chained) == (seq + 1 if place < 49 else None)


@pytest.mark.parametrize("place", range(49))
def test_a_deleted_row_is_found(place: int) -> None:
    chained = rows()
    del chained[place]
    assert first_break(chained) == place + 2


@pytest.mark.parametrize("place", range(49))
def test_swapped_rows_are_found(place: int) -> None:
    chained = rows()
    chained[place], chained[place + 1] = chained[place + 1], chained[place]
    assert first_break(chained) == place + 2


@pytest.mark.parametrize("place", range(49))
def test_rows_that_swap_their_bodies_or_places_in_time_are_found(place: int) -> None:
    chained = rows()
    one, other = chained[place], chained[place + 1]
    chained[place], chained[place + 1] = (one[0], other[1], one[2], one[3]), (other[0], one[1], other[2], other[3])
    assert first_break(chained) == one[0]


@pytest.mark.parametrize("place", range(1, 50))
def test_a_row_whose_number_alone_is_changed_is_found(place: int) -> None:
    chained = rows()
    chained[place] = (1000, *chained[place][1:])
    assert first_break(chained) == 1000


def test_a_row_added_between_two_is_found() -> None:
    chained = rows()
    chained.insert(10, chained[9])
    assert first_break(chained) == 10


def test_what_the_chain_alone_cannot_see_needs_a_head_noted_elsewhere() -> None:
    """A cut tail and a chain rehashed as a whole are consistent; their last head differs from the one on a receipt."""
    whole, cut = rows(), rows()[:40]
    assert first_break(cut) is None
    assert cut[-1][3] != whole[-1][3]
