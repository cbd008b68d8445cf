"""Rows of codes in the worker's memory, and which of them a region selects: the marginals that many counts are summed from.

A region of a few runs is evaluated by comparing whole columns; an intricate one by walking all rows down its diagram at once, a
level at a time, so that its cost grows with its nodes and never with the number of its boxes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from curator.mechanism.diagram import INSIDE, OUTSIDE
from curator.mechanism.intervals import Intervals
from curator.mechanism.region import Region

Column = NDArray[np.unsignedinteger]
Mask = NDArray[np.bool_]

FEW_CUTS = 64  # up to here comparing is quicker than walking
LEAF_BYTES = 1 << 24  # of masks of conditions that are kept for the regions that follow


@dataclass(slots=True)
class Cells:
    """`height` rows: codes by place of their column, and how many records or which person each stands for.

    Without either, each row is one record.
    """

    height: int
    codes: Mapping[int, Column]
    records: NDArray[np.int64] | None = None
    persons: NDArray[np.unsignedinteger] | None = None
    leaves: dict[tuple[int, Intervals], Mask] = field(default_factory=dict)

    def count(self, region: Region) -> int:
        """How many persons have a row in the region, whose columns must be among ours."""
        inside = self.select(region)
        if self.persons is not None:
            seen = np.zeros(int(self.persons.max(initial=0)) + 1, dtype=bool)
            seen[self.persons[inside]] = True
            return int(np.count_nonzero(seen))
        return int(np.count_nonzero(inside) if self.records is None else self.records[inside].sum())

    def select(self, region: Region) -> Mask:
        """The rows in the region."""
        if region.diagram.root <= INSIDE:
            return np.full(self.height, region.diagram.root == INSIDE)
        cuts = sum(len(node_cuts) for _, node_cuts in region.nodes)
        return self._compare(region) if cuts <= FEW_CUTS else self._walk(region)

    def _compare(self, region: Region) -> Mask:
        inside: list[Mask] = []
        for node in region.nodes:
            parts = [
                self._leaf(node[0], runs) if child == INSIDE else self._leaf(node[0], runs) & inside[child - 2]
                for child, runs in region.edges(node).items()
                if child != OUTSIDE
            ]
            inside.append(np.logical_or.reduce(parts) if len(parts) > 1 else parts[0])
        return inside[-1]

    def _leaf(self, place: int, runs: Intervals) -> Mask:
        key = (place, runs)
        if (known := self.leaves.get(key)) is None:
            if len(self.leaves) * self.height > LEAF_BYTES:
                self.leaves.clear()
            known = self.leaves[key] = within(self.codes[place], runs)
        return known

    def _walk(self, region: Region) -> Mask:
        states = np.full(self.height, region.diagram.root, dtype=np.int64)
        levels = np.array([-1, -1, *(level for level, _ in region.nodes)])
        for level in sorted({level for level, _ in region.nodes}):
            starts, children = _transitions(region, level)
            here = np.flatnonzero(levels[states] == level)
            places = np.searchsorted(starts, (states[here] << 32) + self.codes[level][here], side="right") - 1
            states[here] = children[places]
        inside: Mask = states == INSIDE
        return inside


def within(codes: Column, runs: Intervals) -> Mask:
    """Which codes lie in one of the closed intervals."""
    parts = [codes == low if low == high else (codes >= low) & (codes <= high) for low, high in runs]
    inside: Mask = np.logical_or.reduce(parts) if len(parts) > 1 else parts[0]
    return inside


def _transitions(region: Region, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each (node of the level, code from here on) leads: sorted keys node * 2^32 + start, and next nodes."""
    edges = [
        ((place + 2 << 32) + start, child)
        for place, (node_level, cuts) in enumerate(region.nodes)
        if node_level == level
        for start, child in cuts
    ]
    starts, children = zip(*sorted(edges), strict=True)
    return np.array(starts, dtype=np.int64), np.array(children, dtype=np.int64)
