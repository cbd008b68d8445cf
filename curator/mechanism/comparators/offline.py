"""The offline optimum (Definition 5): what an allocator that knows the whole stream would spend, and how much it could meet.

It has the whole pool, no caps and no diagnostics to pay, so it bounds every other allocator from above. Scalar streams only: with
histograms one charge buys several bins at once, and the best plan is another problem (`reason` says so). With raises the pool is
the last one: an optimum that may use it from the start is still an upper bound.

Front-loading decides the form: whoever wants to meet a threshold of some descriptor buys it at the first occurrence and meets
every lower threshold of that descriptor as well. So a plan is one *level* per descriptor, bought once. The least spend that
meets everything takes the highest level of each (the sum in Theorem 7's proof); the most thresholds that a pool can meet is a
multiple-choice knapsack, solved exactly over the number of thresholds met. Descriptors with one threshold need no table: the
cheapest ones are always the right ones, so they are added greedily afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from curator.mechanism.comparators.events import Asked
from curator.mechanism.rho import Units

MAX_REPEATED = 20_000  # thresholds on descriptors asked more than once, affordable ones: the table's work grows with its square

NOT_SCALAR = "the stream contains histograms; the optimum is computed for single counts only"
TOO_LARGE = f"more than {MAX_REPEATED} affordable thresholds on repeated descriptors: past the size of the exact computation"

Table = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Optimum:
    """What foresight could do: `met` is the most thresholds that the pool can meet, `spent` the least that meets so many.

    Both are None with a `reason`. `least_spend` meets everything, affordable or not (None for a stream with histograms).
    """

    asked: int
    least_spend: Units | None
    met: int | None
    spent: Units | None
    reason: str | None = None


class Thresholds:
    """The thresholds of a stream by descriptor, kept as it goes by; the running least spend costs nothing to keep."""

    __slots__ = ("_by_descriptor", "_highest", "_least", "asked", "scalar")

    def __init__(self) -> None:
        self._by_descriptor: dict[str, list[Units]] = {}
        self._highest: dict[str, Units] = {}
        self._least: Units = 0
        self.asked = 0
        self.scalar = True

    @property
    def least_spend(self) -> Units | None:
        """Sum over descriptors of the highest threshold so far, in units; None once a histogram was asked."""
        return self._least if self.scalar else None

    def add(self, asked: Asked) -> None:
        """Take one question in."""
        self.asked += 1
        self.scalar = self.scalar and len(asked.bins) == 1
        if not self.scalar:
            return
        key, threshold = asked.bins[0].key, asked.bins[0].rho_min
        self._by_descriptor.setdefault(key, []).append(threshold)
        self._least += max(0, threshold - self._highest.get(key, 0))
        self._highest[key] = max(threshold, self._highest.get(key, 0))

    def optimum(self, pool: Units) -> Optimum:
        """The optimum of the stream so far with `pool` units to spend."""
        if not self.scalar:
            return Optimum(asked=self.asked, least_spend=None, met=None, spent=None, reason=NOT_SCALAR)
        if self._least <= pool:
            return Optimum(asked=self.asked, least_spend=self._least, met=self.asked, spent=self._least)
        found = most_met(self._by_descriptor.values(), pool)
        if found is None:
            return Optimum(asked=self.asked, least_spend=self._least, met=None, spent=None, reason=TOO_LARGE)
        return Optimum(asked=self.asked, least_spend=self._least, met=found[0], spent=found[1])


def most_met(by_descriptor: Iterable[Sequence[Units]], pool: Units) -> tuple[int, Units] | None:
    """The most thresholds that `pool` units can meet, and the least spend that meets so many; None past `MAX_REPEATED`.

    `by_descriptor` holds the thresholds of each descriptor in any order. Exact: multiple-choice knapsack by dynamic programming.
    """
    affordable = [kept for group in by_descriptor if (kept := sorted(t for t in group if t <= pool))]
    repeated = [group for group in affordable if len(group) > 1]
    if sum(map(len, repeated)) > MAX_REPEATED:
        return None
    prices = _affordable_sums(sorted(group[0] for group in affordable if len(group) == 1), pool)
    return _best(_table(repeated, pool), prices, pool)


def _affordable_sums(prices: list[Units], pool: Units) -> Table:
    """Cost of the j cheapest, j = 0, 1, …, while the pool can pay."""
    sums = [total for total in accumulate(prices, initial=0) if total <= pool]
    return np.array(sums, dtype=np.uint64)


def _table(groups: Iterable[list[Units]], pool: Units) -> Table:
    """Least cost of meeting exactly c thresholds of these descriptors, by c; `pool + 1` where the pool cannot pay.

    Unsigned on purpose: a cost is at most pool + 1 and a level at most pool, so their sum stays below 2^64 for any pool of units.
    """
    costs = np.zeros(1, dtype=np.uint64)
    unaffordable = np.uint64(pool + 1)
    for group in groups:
        size = len(costs)
        best = np.full(size + len(group), unaffordable)
        best[:size] = costs
        for met, level in _levels(group):
            reach = best[met : met + size]
            np.minimum(reach, costs + np.uint64(level), out=reach)
        within = np.flatnonzero(best <= np.uint64(pool))
        costs = np.minimum(best[: within[-1] + 1], unaffordable)
    return costs


def _levels(group: list[Units]) -> list[tuple[int, Units]]:
    """(thresholds met, level) for each level worth buying, from sorted thresholds."""
    counts = Counter(group)
    return list(zip(accumulate(counts.values()), counts, strict=True))


def _best(costs: Table, prices: Table, pool: Units) -> tuple[int, Units]:
    """Fill what the table leaves of the pool with the cheapest single thresholds; the most met, then the least spent."""
    counts = np.flatnonzero(costs <= np.uint64(pool))
    left = np.uint64(pool) - costs[counts]
    singles = np.searchsorted(prices, left, side="right") - 1
    met = counts + singles
    spent = costs[counts] + prices[singles]
    most = int(met.max())
    return most, int(spent[met == most].min())
