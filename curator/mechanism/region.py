"""Regions: sets of cells of a public schema, equal as values exactly if they mean the same cells.

Built from `Region.of` (one column, intervals of codes) with `& | ~ -`. `~` is the plain set complement, `missing` included;
SQL's three-valued NOT is made one layer up, from leaves. Operations refuse (TooLarge, region_too_large) past `MAX_NODES`;
bytes and digest are canonical, so equality of digests is equality of meaning within one schema. A region's bytes hold places
and codes, not names: the schema that they belong to is fixed by the dataset version beside them.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from operator import itemgetter
from typing import Self

from curator.mechanism import diagram as dd
from curator.mechanism import intervals as iv
from curator.mechanism.diagram import MAX_CUTS, MAX_NODES, Diagram, Node, Work
from curator.mechanism.intervals import Intervals
from curator.mechanism.region_bytes import decode, encode
from curator.mechanism.region_text import MAX_BOXES, condition
from curator.mechanism.schema import Schema

__all__ = ["MAX_CUTS", "MAX_NODES", "Region", "Work", "descriptor_digest"]

AGGREGATES = ("count",)


@dataclass(frozen=True, slots=True, repr=False)
class Region:
    """A set of cells of `schema`; hashable, and equal to another exactly if both hold the same cells of the same schema."""

    schema: Schema = field(hash=False)
    diagram: Diagram

    @classmethod
    def empty(cls, schema: Schema) -> Self:
        """No cell."""
        return cls(schema, dd.EMPTY)

    @classmethod
    def full(cls, schema: Schema) -> Self:
        """Every cell, `other` and `missing` included."""
        return cls(schema, dd.FULL)

    @classmethod
    def of(cls, schema: Schema, column: str, codes: Iterable[tuple[int, int]]) -> Self:
        """The cells whose code in `column` lies in one of the closed intervals `codes`, in any order.

        Refuses an unknown column; a code outside the column is a mistake of the caller (ValueError).
        """
        place = schema.place(column)
        runs = iv.tidy(codes)
        if runs and not 0 <= runs[0][0] <= runs[-1][1] < schema.size(place):
            raise ValueError(f"codes {runs[0][0]} to {runs[-1][1]} do not fit column {place} of {schema.size(place)} codes")
        return cls(schema, dd.leaf(place, runs, schema.size(place)))

    @classmethod
    def any_of(cls, schema: Schema, regions: Sequence["Region"], work: Work | None = None) -> "Region":
        """The union of many regions (none: empty)."""
        return cls(schema, dd.fold([region.diagram for region in regions] or [dd.EMPTY], dd.union, work or Work()))

    @classmethod
    def all_of(cls, schema: Schema, regions: Sequence["Region"], work: Work | None = None) -> "Region":
        """The intersection of many regions (none: full)."""
        return cls(schema, dd.fold([region.diagram for region in regions] or [dd.FULL], dd.intersection, work or Work()))

    def __and__(self, other: "Region") -> "Region":
        return Region(self.schema, dd.intersection(self.diagram, self._same(other), Work()))

    def __or__(self, other: "Region") -> "Region":
        return Region(self.schema, dd.union(self.diagram, self._same(other), Work()))

    def __invert__(self) -> "Region":
        return Region(self.schema, dd.complement(self.diagram))

    def __sub__(self, other: "Region") -> "Region":
        return self & ~other

    def _same(self, other: "Region") -> Diagram:
        if self.schema is not other.schema and self.schema != other.schema:
            raise ValueError("regions of different schemas cannot be combined")
        return other.diagram

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The canonical nodes, see `mechanism.diagram`."""
        return self.diagram.nodes

    @property
    def is_empty(self) -> bool:
        """Whether no cell lies inside: the answer is 0, known from the schema."""
        return self.diagram == dd.EMPTY

    @property
    def is_full(self) -> bool:
        """Whether every cell lies inside."""
        return self.diagram == dd.FULL

    def is_subset(self, other: "Region") -> bool:
        """Whether every cell of this region lies in the other."""
        return (self - other).is_empty

    def is_disjoint(self, other: "Region") -> bool:
        """Whether no cell lies in both."""
        return (self & other).is_empty

    def overlap(self, other: "Region") -> "Region":
        """The cells in both: `a & b` by its name."""
        return self & other

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that membership depends on, in schema order."""
        return tuple(self.schema.columns[level].name for level in sorted({level for level, _ in self.nodes}))

    def project(self, columns: Iterable[str]) -> "Region":
        """The cells that agree with some cell of this region in `columns`; the others no longer matter."""
        kept = {self.schema.place(name) for name in columns}
        gone = {level for level, _ in self.nodes} - kept
        return Region(self.schema, dd.forget(self.diagram, gone, Work()))

    @property
    def cells(self) -> int:
        """Exact number of cells."""
        sizes = [column.size for column in self.schema.columns]
        below = [1]
        for size in reversed(sizes):
            below.append(below[-1] * size)
        below.reverse()  # below[i]: cells of the columns from i on
        counts, levels = [0, 1], [len(sizes), len(sizes)]
        for level, cuts in self.nodes:
            runs = zip(cuts, [*(start for start, _ in cuts[1:]), sizes[level]], strict=True)
            counts.append(
                sum((end - start) * counts[child] * (below[level + 1] // below[levels[child]]) for (start, child), end in runs)
            )
            levels.append(level)
        return counts[self.diagram.root] * prod(sizes[: levels[self.diagram.root]])

    def contains(self, codes: Sequence[int]) -> bool:
        """Whether the cell with these codes, one for each column in schema order, lies inside."""
        here = self.diagram.root
        while here > dd.INSIDE:
            level, cuts = self.nodes[here - 2]
            here = cuts[bisect_right(cuts, codes[level], key=itemgetter(0)) - 1][1]
        return here == dd.INSIDE

    def edges(self, node: Node) -> dict[int, Intervals]:
        """Where a node leads: each next node with the maximal union of intervals of codes that leads there."""
        level, cuts = node
        ends = [*(start - 1 for start, _ in cuts[1:]), self.schema.size(level) - 1]
        runs: dict[int, list[tuple[int, int]]] = {}
        for (start, child), end in zip(cuts, ends, strict=True):
            runs.setdefault(child, []).append((start, end))
        return {child: tuple(intervals) for child, intervals in runs.items()}

    def boxes(self) -> Iterator[dict[str, Intervals]]:
        """Disjoint boxes whose union is this region: for each column named, intervals of codes; columns not named are free.

        One box for each path, so their number can be exponential in the number of nodes: look at `box_count` first.
        """
        stack: list[tuple[int, dict[str, Intervals]]] = [(self.diagram.root, {})]
        while stack:
            here, box = stack.pop()
            if here == dd.INSIDE:
                yield box
            elif here > dd.INSIDE:
                node = self.nodes[here - 2]
                name = self.schema.columns[node[0]].name
                stack.extend(
                    (child, box | {name: runs}) for child, runs in reversed(self.edges(node).items()) if child != dd.OUTSIDE
                )

    @property
    def box_count(self) -> int:
        """How many boxes `boxes` gives, without making them."""
        counts = [0, 1]
        for _, cuts in self.nodes:
            counts.append(sum(counts[child] for child in {child for _, child in cuts}))
        return counts[self.diagram.root]

    def to_bytes(self) -> bytes:
        """Canonical bytes: equal exactly for equal regions of one schema."""
        return encode(self.diagram)

    @classmethod
    def from_bytes(cls, schema: Schema, data: bytes) -> Self:
        """The region of canonical bytes; ValueError for any others, however close (a second key for one meaning)."""
        return cls(schema, decode(bytes(data), [column.size for column in schema.columns]))

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def text(self) -> str:
        """An SQL condition that reads back as the same region; where that gets long, a comment that says what it is."""
        written = condition(self.schema, self.diagram) if self.box_count <= MAX_BOXES else None
        return written or f"/* {self.box_count:,} boxes over {', '.join(self.columns)}: too long to write out */"

    def __repr__(self) -> str:
        return f"<Region {self.digest[:12]}: {len(self.nodes)} nodes over {', '.join(self.columns) or 'no column'}>"


def descriptor_digest(version_uid: str, aggregate: str, region: Region) -> str:
    """SHA-256 (hexadecimal) of (dataset version, aggregate, region): the key under which support is credited.

    A bin of a histogram is a count of its region, so both use the aggregate "count" and credit each other (Appendix A.2).
    """
    if aggregate not in AGGREGATES:
        raise ValueError(f"no aggregate {aggregate!r}")
    head = json.dumps(["descriptor", 1, str(version_uid), aggregate], separators=(",", ":"))
    return hashlib.sha256(head.encode() + b"\n" + region.to_bytes()).hexdigest()
