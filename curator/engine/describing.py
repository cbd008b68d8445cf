"""A file described to its curator before anything is declared or frozen: its format, its columns, what their cells look like.

With columns declared already, their cells are also read by the declared rules, so that what would be bad shows before it is
frozen. Everything here is a function of the records: for the curator of the file alone.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from curator.engine.coding import Coder
from curator.engine.offending import Offenders
from curator.engine.reading import AS_FOUND, open_table
from curator.engine.sealing import sealed
from curator.engine.shapes import count_shapes
from curator.engine.suggesting import Suggester
from curator.engine.tables import Format, Reading
from curator.mechanism.schema import Column, Schema


@dataclass(frozen=True, slots=True)
class Description:
    """Rows, cells by column and shape (`shapes.SHAPES`), and by column and verdict (`coding.verdict`) where it is declared.

    `dates` has cells by column and form of date; `checked` what was declared of each column when its cells were judged.
    """

    format: Format
    rows: int
    foreign_bytes: int
    unreadable: Mapping[str, str]  # columns that hold no single cells (lists, bytes), with what they hold
    shapes: Mapping[str, Mapping[str, int]]
    cells: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    dates: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    checked: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> str:
        """The description as a JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Described:
    """A description, and domains suggested for the columns that were asked about (None: nothing to suggest).

    `offenders` has by column texts that do not fit what is declared, where they are asked for: values of the records.
    """

    description: Description
    suggestions: Mapping[str, Mapping[str, object] | None]
    offenders: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@sealed("describe_failed")
def describe(
    path: Path, *, reading: Reading = AS_FOUND, columns: Sequence[Column] = (), suggest: Sequence[str] = (),
    texts: bool = False, alive: Callable[[], object] = lambda: None,
) -> Described:  # fmt: skip
    """Read the file at `path` once; refuses what is no table. Declared `columns` and those to `suggest` for may be absent.

    `texts`: collect those that do not fit, as the curator acknowledged. `alive` is called as it gets on.
    """
    table = open_table(path, None, reading)
    comma = table.format.decimal_comma
    shapes: dict[str, Counter[str]] = {name: Counter() for name in table.format.header if name not in table.unreadable}
    dates: dict[str, Counter[str]] = {name: Counter() for name in shapes}
    declared = [column for column in columns if column.name in shapes]
    coders = {column.name: Coder(column, decimal_comma=comma, offenders=Offenders() if texts else None) for column in declared}
    suggesters = {name: Suggester(name, decimal_comma=comma) for name in suggest if name in shapes}
    rows = 0
    for batch in table.batches():
        for name, cells in batch.items():
            count_shapes(cells, shapes[name], dates[name], decimal_comma=comma)
            if name in coders:
                coders[name].encode(cells)
            if name in suggesters:
                suggesters[name].take(cells)
        alive()
        rows += len(next(iter(batch.values()), ()))
    description = Description(
        table.format, rows, table.foreign_bytes, table.unreadable, {name: dict(tally) for name, tally in shapes.items()},
        {name: dict(coder.tally) for name, coder in coders.items()},
        {name: dict(tally) for name, tally in dates.items() if tally}, _as_declared(declared),
    )  # fmt: skip
    bad = {name: coder.offenders.to_json() for name, coder in coders.items() if coder.offenders and coder.offenders.texts}
    return Described(description, {name: suggester.suggestion() for name, suggester in suggesters.items()}, bad)


def _as_declared(columns: Sequence[Column]) -> Mapping[str, object]:
    """Each column as a schema's JSON has it, by its name."""
    entries: Any = Schema(tuple(columns)).to_json()["columns"] if columns else []
    return {entry["name"]: entry for entry in entries}
