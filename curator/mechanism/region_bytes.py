"""Canonical bytes of a diagram, and back.

A format byte, the number of nodes, then for each node its level, its number of cuts, the first child, and for every further
cut the distance of its start and the child; without nodes one byte for the terminal. Numbers are LEB128 (seven bits a byte,
low bits first). Reading checks canonicity in the plainest way: what was read is rebuilt, written again and must be the same
bytes.
"""

from collections.abc import Sequence
from itertools import pairwise

from curator.mechanism.diagram import MAX_CUTS, MAX_NODES, Diagram, Node, build

FORMAT = 1


def encode(diagram: Diagram) -> bytes:
    """Canonical bytes of a canonical diagram."""
    numbers = [FORMAT, len(diagram.nodes)]
    if not diagram.nodes:
        numbers.append(diagram.root)
    for level, cuts in diagram.nodes:
        numbers += [level, len(cuts), cuts[0][1]]
        for (before, _), (start, child) in pairwise(cuts):
            numbers += [start - before, child]
    return b"".join(map(_number, numbers))


def decode(data: bytes, sizes: Sequence[int]) -> Diagram:
    """The diagram over columns of these sizes; ValueError unless the bytes are exactly what `encode` gives for it."""
    reader = _Reader(data)
    if reader.number() != FORMAT:
        raise ValueError("not the bytes of a region")
    count = reader.number(MAX_NODES)
    nodes: list[Node] = []
    for _ in range(count):
        nodes.append(_node(reader, nodes, sizes))
    diagram = build(nodes, len(nodes) + 1 if nodes else reader.number(1))
    if encode(diagram) != data:
        raise ValueError("these bytes are not the canonical form of a region")
    return diagram


def _node(reader: "_Reader", before: Sequence[Node], sizes: Sequence[int]) -> Node:
    level = reader.number(len(sizes) - 1)
    count = reader.number(MAX_CUTS)
    cuts, start = [], 0
    for place in range(count):
        if place:
            start += reader.number(sizes[level])
        child = reader.number(len(before) + 1)
        if child > 1 and before[child - 2][0] <= level:
            raise ValueError("a node leads back to an earlier column")
        cuts.append((start, child))
    if start >= sizes[level] or any(left[0] >= right[0] for left, right in pairwise(cuts)) or not cuts:
        raise ValueError("the cuts of a node do not fit its column")
    return level, tuple(cuts)


def _number(value: int) -> bytes:
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


class _Reader:
    """Numbers one after the other, each at most a stated maximum."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def number(self, maximum: int = 127) -> int:
        value = shift = 0
        while True:
            if self._place >= len(self._data) or shift > 63:
                raise ValueError("the bytes of a region end early")
            byte = self._data[self._place]
            self._place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if value > maximum:
            raise ValueError(f"a number in a region is {value}, at most {maximum} fits")
        return value
