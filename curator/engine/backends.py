"""A frozen version as an Ibis table: the same three questions for every engine that Ibis speaks to.

Engines are imported and opened in the process that uses them, because threads do not survive a fork. Conditions compare codes
with the ends of intervals and are shared between the regions of one scan; there are no nulls among codes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path

import ibis
import ibis.backends.polars  # with the parent, or the first question would wait for it
import polars as pl
import pyarrow.parquet as pq

from curator.engine.cells import Cells
from curator.engine.files import PERSON, column_name
from curator.mechanism.diagram import INSIDE, OUTSIDE
from curator.mechanism.intervals import Intervals
from curator.mechanism.region import Region

TABLE = "version"


@dataclass(slots=True)
class Source:
    """One version in one engine: `table` holds its codes, `rows` of them."""

    table: ibis.Table
    rows: int

    def totals(self, regions: Sequence[Region], *, persons: bool) -> list[int]:
        """Distinct persons (or records) in each region, in a single scan."""
        conditions = _Conditions(self.table)
        aggregates = [self._total(conditions.of(region), persons).name(f"r{place}") for place, region in enumerate(regions)]
        row = self.table.aggregate(aggregates).to_pyarrow().to_pylist()[0]
        return [row[f"r{place}"] or 0 for place in range(len(regions))]  # a sum over no rows is null in SQL

    def _total(self, condition: ibis.expr.types.BooleanValue | None, persons: bool) -> ibis.expr.types.IntegerScalar:
        if persons:
            return self.table[PERSON].nunique(where=condition)
        return self.table.count() if condition is None else condition.sum()

    def marginal(self, places: Sequence[int]) -> Cells:
        """Each combination of codes of some columns (at least one) that occurs, and how many records have it."""
        names = {place: column_name(place) for place in places}
        groups = self.table.group_by(*names.values()).aggregate(records=self.table.count()).to_pyarrow()
        codes = {place: groups[name].to_numpy() for place, name in names.items()}
        return Cells(groups.num_rows, codes, records=groups["records"].to_numpy())

    def rows_of(self, places: Sequence[int], *, persons: bool) -> Cells:
        """All rows: codes of some columns, and their persons."""
        names = {place: column_name(place) for place in places}
        wanted = [*names.values(), *([PERSON] if persons else [])]
        if not wanted:
            return Cells(self.rows, {})
        rows = self.table.select(*wanted).to_pyarrow()
        codes = {place: rows[name].to_numpy() for place, name in names.items()}
        return Cells(rows.num_rows, codes, persons=rows[PERSON].to_numpy() if persons else None)


@dataclass(slots=True)
class _Conditions:
    """Boolean expressions of one table, each condition on a column built once."""

    table: ibis.Table
    leaves: dict[tuple[int, Intervals], ibis.expr.types.BooleanValue] = field(default_factory=dict)

    def of(self, region: Region) -> ibis.expr.types.BooleanValue | None:
        """Whether a row lies in the region, which is not empty; None for all rows."""
        if region.diagram.root == INSIDE:
            return None
        inside: list[ibis.expr.types.BooleanValue] = []
        for node in region.nodes:
            parts = [
                self._leaf(node[0], runs) if child == INSIDE else self._leaf(node[0], runs) & inside[child - 2]
                for child, runs in region.edges(node).items()
                if child != OUTSIDE
            ]
            inside.append(reduce(or_, parts))
        return inside[-1]

    def _leaf(self, place: int, runs: Intervals) -> ibis.expr.types.BooleanValue:
        key = (place, runs)
        if key not in self.leaves:
            codes = self.table[column_name(place)]
            self.leaves[key] = reduce(
                or_, (codes == low if low == high else (codes >= low) & (codes <= high) for low, high in runs)
            )
        return self.leaves[key]


def open_polars(path: Path) -> Source:
    """The version in this process's memory."""
    frame = pl.read_parquet(path, use_statistics=False)
    return Source(ibis.polars.connect({TABLE: frame}).table(TABLE), frame.height)


def open_duckdb(path: Path) -> Source:
    """The version in an in-memory DuckDB, for tables that should not be held by Python."""
    connection = ibis.duckdb.connect(temp_directory="")
    return Source(connection.read_parquet(path, table_name=TABLE), pq.read_metadata(path).num_rows)


OPENERS: dict[str, Callable[[Path], Source]] = {"polars": open_polars, "duckdb": open_duckdb}
