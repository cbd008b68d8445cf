"""Reduced ordered decision diagrams over finite columns: one canonical value for each set of cells.

A node tests the column of its level. Its *cuts* split the codes 0 … size-1 into maximal runs with the same next node: `((0,
a), (30, b), (40, a))` goes to `a` for 0–29 and from 40 on, to `b` for 30–39. Node ids: 0 is "outside", 1 is "inside", `i + 2`
is `nodes[i]`. Canonical: no node goes everywhere to the same place, no two nodes are equal, and nodes are numbered in the
order in which a walk from the root, following cuts in order, finishes them. So two diagrams are equal as Python values
exactly if they hold the same cells (Bryant 1986 for the binary case; runs of codes take the place of bits).

Everything walks with an explicit stack: depth is the number of columns, which may exceed what recursion allows. Every node
that `combine` makes is part of its result, so the cap on nodes is a cap on results; `Work` bounds the steps of a whole
question.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from curator.mechanism.errors import TooLarge

Cuts = tuple[tuple[int, int], ...]
Node = tuple[int, Cuts]

OUTSIDE, INSIDE = 0, 1
MAX_NODES = 2_000
MAX_CUTS = 50_000
MAX_STEPS = 250_000  # a second or two


@dataclass(frozen=True, slots=True)
class Diagram:
    """Canonical nodes, children before parents; the root is the last one, or a terminal where there are none."""

    nodes: tuple[Node, ...]
    root: int


EMPTY = Diagram((), OUTSIDE)
FULL = Diagram((), INSIDE)


@dataclass(slots=True)
class Work:
    """Steps left for one question: bounds the time of intermediate results, which the cap on nodes alone does not."""

    left: int = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Takes steps; refuses (region_too_large) when none are left."""
        self.left -= steps
        if self.left < 0:
            detail = "These conditions take too many steps to put in canonical form: ask in simpler parts, or fewer bins."
            raise TooLarge("region_too_large", detail)


@dataclass(slots=True)
class _Table:
    """The unique table of one construction: equal nodes are one node, a node with one child is that child."""

    nodes: list[Node] = field(default_factory=list)
    ids: dict[Node, int] = field(default_factory=dict)
    cuts: int = 0

    def node(self, level: int, cuts: Iterable[tuple[int, int]]) -> int:
        merged: list[tuple[int, int]] = []
        for start, child in cuts:
            if not merged or merged[-1][1] != child:
                merged.append((start, child))
        if len(merged) == 1:
            return merged[0][1]
        key = (level, tuple(merged))
        if (known := self.ids.get(key)) is not None:
            return known
        return self._add(key)

    def absorb(self, nodes: Iterable[Node], root: int) -> int:
        """Takes over well-formed nodes, children before parents, and returns where their root went."""
        place = [OUTSIDE, INSIDE]
        for level, cuts in nodes:
            place.append(self.node(level, [(start, place[child]) for start, child in cuts]))
        return place[root]

    def _add(self, key: Node) -> int:
        self.cuts += len(key[1])
        if len(self.nodes) >= MAX_NODES or self.cuts > MAX_CUTS:
            limits = f"at most {MAX_NODES:,} nodes and {MAX_CUTS:,} cuts"
            detail = f"This combination of conditions is too intricate ({limits}): ask in simpler parts."
            raise TooLarge("region_too_large", detail, maximum=MAX_NODES)
        self.nodes.append(key)
        self.ids[key] = len(self.nodes) + 1
        return self.ids[key]


def leaf(level: int, intervals: Sequence[tuple[int, int]], size: int) -> Diagram:
    """The cells whose code at `level` lies in canonical intervals."""
    cuts, start = [], 0
    for low, high in intervals:
        if low > start:
            cuts.append((start, OUTSIDE))
        cuts.append((low, INSIDE))
        start = high + 1
    if start < size:
        cuts.append((start, OUTSIDE))
    table = _Table()
    root = table.node(level, cuts) if cuts else OUTSIDE
    return Diagram(tuple(table.nodes), root)


def build(nodes: Iterable[Node], root: int) -> Diagram:
    """The canonical form of any well-formed nodes, children before parents (ids as in `Diagram`)."""
    table = _Table()
    return _renumber(table.nodes, table.absorb(nodes, root))


def forget(diagram: Diagram, levels: Container[int], work: Work) -> Diagram:
    """The cells that some cell of the diagram agrees with everywhere but at `levels`: those columns no longer matter."""
    done = [EMPTY, FULL]
    for level, cuts in diagram.nodes:
        below = [(start, done[child]) for start, child in cuts]
        work.spend(sum(len(part.nodes) + 1 for _, part in below))
        done.append(fold([part for _, part in below], union, work) if level in levels else _join(level, below))
    return done[diagram.root]


def _join(level: int, below: Sequence[tuple[int, Diagram]]) -> Diagram:
    table = _Table()
    cuts = [(start, table.absorb(part.nodes, part.root)) for start, part in below]
    return _renumber(table.nodes, table.node(level, cuts))


def complement(diagram: Diagram) -> Diagram:
    """The cells outside: terminals swapped, everything else as it was."""
    swap = (INSIDE, OUTSIDE)
    nodes = tuple(
        (level, tuple((start, swap[child] if child <= INSIDE else child) for start, child in cuts))
        for level, cuts in diagram.nodes
    )
    return Diagram(nodes, swap[diagram.root] if diagram.root <= INSIDE else diagram.root)


def union(left: Diagram, right: Diagram, work: Work) -> Diagram:
    """The cells of either."""
    return _combine(left, right, INSIDE, work)


def intersection(left: Diagram, right: Diagram, work: Work) -> Diagram:
    """The cells of both."""
    return _combine(left, right, OUTSIDE, work)


def fold(diagrams: Sequence[Diagram], operation: Callable[[Diagram, Diagram, Work], Diagram], work: Work) -> Diagram:
    """One operation over many diagrams, pairwise in rounds, so that a long list stays n log n."""
    while len(diagrams) > 1:
        pairs = zip(diagrams[::2], diagrams[1::2], strict=False)
        odd = diagrams[len(diagrams) // 2 * 2 :]
        diagrams = [*(operation(left, right, work) for left, right in pairs), *odd]
    return diagrams[0]


def _combine(left: Diagram, right: Diagram, absorbing: int, work: Work) -> Diagram:
    """Union (absorbing INSIDE) or intersection (absorbing OUTSIDE) by walking both at once, each pair of nodes a single time."""
    if left.root <= INSIDE or left == right:
        return left if left.root == absorbing else right
    if right.root <= INSIDE:
        return right if right.root == absorbing else left
    table, memo = _Table(), {}
    opened: dict[tuple[int, int], tuple[int, list[tuple[int, tuple[int, int]]]]] = {}
    stack = [(left.root, right.root)]
    while stack:
        pair = stack[-1]
        if pair in memo:
            stack.pop()
        elif (known := _terminal(pair, absorbing)) is not None:
            memo[pair] = known
        elif pair in opened:
            level, cuts = opened.pop(pair)
            memo[pair] = table.node(level, [(start, memo[below]) for start, below in cuts])
        else:
            opened[pair] = level, cuts = _side_by_side(left, right, pair)
            work.spend(len(cuts))
            stack.extend(below for _, below in reversed(cuts) if below not in memo)
    return _renumber(table.nodes, memo[(left.root, right.root)])


def _terminal(pair: tuple[int, int], absorbing: int) -> int | None:
    if absorbing in pair:
        return absorbing
    return pair[0] if pair[0] <= INSIDE and pair[1] <= INSIDE else None


def _side_by_side(left: Diagram, right: Diagram, pair: tuple[int, int]) -> tuple[int, list[tuple[int, tuple[int, int]]]]:
    """The first level either node tests, and its runs of codes with the pair of nodes below each."""
    a = left.nodes[pair[0] - 2] if pair[0] > INSIDE else None
    b = right.nodes[pair[1] - 2] if pair[1] > INSIDE else None
    level = min(node[0] for node in (a, b) if node is not None)
    cuts_a: Cuts = a[1] if a is not None and a[0] == level else ((0, pair[0]),)
    cuts_b: Cuts = b[1] if b is not None and b[0] == level else ((0, pair[1]),)
    result, i, j = [], 0, 0
    while True:
        result.append((max(cuts_a[i][0], cuts_b[j][0]), (cuts_a[i][1], cuts_b[j][1])))
        next_a = cuts_a[i + 1][0] if i + 1 < len(cuts_a) else None
        next_b = cuts_b[j + 1][0] if j + 1 < len(cuts_b) else None
        if next_a is None and next_b is None:
            return level, result
        if next_b is None or (next_a is not None and next_a <= next_b):
            i += 1
        if next_a is None or (next_b is not None and next_b <= next_a):
            j += 1


def _renumber(nodes: Sequence[Node], root: int) -> Diagram:
    """The nodes reachable from the root, numbered in the order in which the walk from it finishes them."""
    place = {OUTSIDE: OUTSIDE, INSIDE: INSIDE}
    result: list[Node] = []
    stack = [root]
    while stack:
        here = stack[-1]
        if here in place:
            stack.pop()
            continue
        level, cuts = nodes[here - 2]
        waiting = [child for _, child in reversed(cuts) if child not in place]
        if waiting:
            stack.extend(waiting)
            continue
        place[here] = len(result) + 2
        result.append((level, tuple((start, place[child]) for start, child in cuts)))
    return Diagram(tuple(result), place[root])
