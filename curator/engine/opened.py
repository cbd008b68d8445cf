"""A version opened for counting, and the cheapest way to each count.

Which way is taken depends on the questions, the schema and whether the table is small. Each way looks at every row (or at every
cell of a marginal): nothing ends early because of what is found.

- A small table is read into memory once; counts are comparisons of whole columns.
- One record per person: where columns are asked for often together and their domain is small, one GROUP BY makes their marginal,
  which is kept.
- An intricate region (more conditions than a scan should carry) is counted from the rows of its columns.
- Everything else is one scan with many conditional sums (distinct persons where a person may have several records), in batches.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from curator.engine.backends import Source
from curator.engine.cells import Cells
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

Places = tuple[int, ...]

SMALL_TABLE = 1 << 18  # rows that are read into memory as they are
SMALL_DOMAIN = 1 << 18  # cells of a marginal that is kept
KEPT_CELLS = 1 << 22  # of all marginals kept together
OFTEN = 16  # counts over the same columns, from which on their marginal is cheaper than scanning for each
BATCH = 250  # regions in one scan
MAX_CONDITIONS = 64  # intervals that one region may bring into a scan


@dataclass(slots=True)
class Opened:
    """One version in this process; `several` says that a person may have several records."""

    source: Source
    schema: Schema
    several: bool
    rows: Cells | None = None
    marginals: dict[Places, Cells] = field(default_factory=dict)
    asked: Counter[Places] = field(default_factory=Counter)

    def count(self, regions: Sequence[Region]) -> list[int]:
        """Distinct persons in each region."""
        results = [0] * len(regions)
        scans: list[int] = []
        for places, members in _by_columns(regions).items():
            cells = self._cells(places, [regions[number] for number in members])
            if cells is None:
                scans += members
                continue
            for number in members:
                results[number] = cells.count(regions[number])
        for start in range(0, len(scans), BATCH):
            batch = scans[start : start + BATCH]
            totals = self.source.totals([regions[number] for number in batch], persons=self.several)
            for number, total in zip(batch, totals, strict=True):
                results[number] = total
        return results

    def _cells(self, places: Places, regions: Sequence[Region]) -> Cells | None:
        """Rows or a marginal in memory that hold these columns, or None where scanning is the way."""
        self.asked[places] += len(regions)
        intricate = any(conditions(region) > MAX_CONDITIONS for region in regions)
        wanted = places in self.marginals or self.asked[places] >= OFTEN or intricate
        if wanted and self._has_small_marginal(places):
            return self._marginal(places)
        if self.source.rows <= SMALL_TABLE:
            return self._everything()
        return self.source.rows_of(places, persons=self.several) if intricate else None

    def _has_small_marginal(self, places: Places) -> bool:
        if not places or self.several:
            return False
        return prod(self.schema.size(place) for place in places) <= min(SMALL_DOMAIN, self.source.rows)

    def _everything(self) -> Cells:
        if self.rows is None:
            self.rows = self.source.rows_of(range(len(self.schema.columns)), persons=self.several)
        return self.rows

    def _marginal(self, places: Places) -> Cells:
        if (kept := self.marginals.get(places)) is not None:
            return kept
        made = self.marginals[places] = self.source.marginal(places)
        while sum(cells.height for cells in self.marginals.values()) > KEPT_CELLS:
            del self.marginals[next(iter(self.marginals))]
        return made


def _by_columns(regions: Sequence[Region]) -> dict[Places, list[int]]:
    """Which regions depend on which columns; the empty region depends on no data at all and is left out."""
    found: defaultdict[Places, list[int]] = defaultdict(list)
    for number, region in enumerate(regions):
        if not region.is_empty:
            found[tuple(sorted({level for level, _ in region.nodes}))].append(number)
    return found


def conditions(region: Region) -> int:
    """How many intervals the region's condition has when it is written out."""
    below = [0, 1]
    for node in region.nodes:
        below.append(sum(len(runs) + below[child] for child, runs in region.edges(node).items() if child))
    return below[region.diagram.root]
