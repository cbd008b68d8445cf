"""An exported record in memory, and what somebody can do to it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from curator.mechanism.chain import GENESIS, canonical
from curator.selectors import exports
from curator.services.verification import standalone

Anchors = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Told:
    """One event: its place in the chain and its bytes."""

    seq: int
    previous: str
    head: str
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        """The body, read."""
        found: dict[str, Any] = json.loads(self.body)
        return found


def load(chain: str) -> list[Told]:
    """The events of one chain as the product exports them, without the closing line."""
    lines = list(exports.record([chain]))[:-1]
    matches = [standalone.LINE.fullmatch(line) for line in lines]
    return [Told(int(m[2]), m[3].decode(), m[4].decode(), m[5]) for m in matches if m is not None]


def spent_of(events: Sequence[Told], upto: int) -> int:
    """All that was charged by an event."""
    contract = standalone.Contract()
    for event in events:
        if event.seq <= upto:
            contract.apply("", event.data)
    return contract.spent + contract.est_spent


def written(chain: str, events: Sequence[Told]) -> list[tuple[str, bytes]]:
    """Lines of a file as somebody would write it who wants to be believed: with a closing line that fits."""
    lines = [
        f'{{"chain":"{chain}","seq":{e.seq},"previous":"{e.previous}","head":"{e.head}","body":'.encode() + e.body + b"}\n"
        for e in events
    ]
    last = events[-1] if events else Told(0, "", GENESIS, b"")
    closing = {"at": "now", "chain": chain, "head": last.head, "seq": last.seq, "spent": believable(events)}
    return [(f"line {number}", line) for number, line in enumerate([*lines, canonical(closing) + b"\n"], start=1)]


def believable(events: Sequence[Told]) -> int:
    """The total that a tampered record leads to; 0 where it leads nowhere."""
    try:
        return spent_of(events, 10**9)
    except (standalone.Difference, KeyError, TypeError):
        return 0


def rehashed(events: Sequence[Told]) -> list[Told]:
    """The same bytes numbered and hashed anew from the beginning, numbers inside included."""
    made: list[Told] = []
    head = GENESIS
    for seq, event in enumerate(events, start=1):
        body = canonical(event.data | {"seq": seq})
        made.append(Told(seq, head, sha256(head.encode() + body).hexdigest(), body))
        head = made[-1].head
    return made


def edited(event: Told, **members: object) -> Told:
    """An event with other members in its body, its hash left as it was."""
    return replace(event, body=canonical(event.data | members))


def difference(chain: str, events: Sequence[Told], anchors: Anchors | None = None) -> str:
    """What the stand-alone verifier says; "" where it finds nothing."""
    try:
        standalone.verify(written(chain, events), anchors or {})
    except standalone.Difference as found:
        return str(found)
    return ""
