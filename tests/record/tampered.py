"""Eight ways to tamper with a chain, at a position each: a list of events in, a list of events out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from curator.mechanism.chain import canonical
from tests.record.exported import Told, edited, rehashed

Events = Sequence[Told]


def edit(events: Events, at: int) -> list[Told]:
    """Another actor in one event."""
    return [*events[:at], edited(events[at], actor="mallory"), *events[at + 1 :]]


def edit_and_rehash(events: Events, at: int) -> list[Told]:
    """The same, and every later head made to fit."""
    return rehashed(edit(events, at))


def delete(events: Events, at: int) -> list[Told]:
    """One event missing."""
    return [*events[:at], *events[at + 1 :]]


def delete_and_rehash(events: Events, at: int) -> list[Told]:
    """The same, renumbered, and every later head made to fit."""
    return rehashed(delete(events, at))


def swap(events: Events, at: int) -> list[Told]:
    """Two neighbours in each other's places."""
    first, second = events[at], events[at + 1]
    return [*events[:at], replace(second, seq=first.seq), replace(first, seq=second.seq), *events[at + 2 :]]


def backdate(events: Events, at: int) -> list[Told]:
    """One event a day earlier, and every later head made to fit."""
    earlier = (datetime.fromisoformat(events[at].data["at"]) - timedelta(days=1)).isoformat(timespec="microseconds")
    return rehashed([*events[:at], edited(events[at], at=earlier), *events[at + 1 :]])


def cut_tail(events: Events, at: int) -> list[Told]:
    """Nothing from some event on."""
    return list(events[:at])


def fork(events: Events, at: int) -> list[Told]:
    """Another history from some event on, longer than the true one."""
    verified: dict[str, object] = {"actor": "dora", "kind": "record.verified", "query": None}
    verified |= {"data": {"ok": True, "checked": {}, "first_difference": None}, "chain": events[0].data["chain"]}
    when = events[at].data["at"]
    other = [Told(0, "", "", canonical(verified | {"at": when, "seq": number})) for number in range(len(events) - at + 2)]
    return rehashed([*events[:at], *other])


WAYS: dict[str, Callable[[Events, int], list[Told]]] = {
    "edit": edit, "edit and rehash": edit_and_rehash, "delete": delete, "delete and rehash": delete_and_rehash, "swap": swap,
    "backdate": backdate, "cut tail": cut_tail, "fork": fork,
}  # fmt: skip
