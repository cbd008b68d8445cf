"""Cells that no spreadsheet takes for a formula. Numbers stay numbers, negative ones too."""

import re
from collections.abc import Iterable

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)

Cell = str | int | None


def safe(cell: Cell) -> Cell:
    """The cell with an apostrophe in front where it would start a formula, also behind leading spaces."""
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}" if cell.startswith(STARTS) or cell.lstrip().startswith(STARTS) else cell


def safe_row(row: Iterable[Cell]) -> list[Cell]:
    """All cells of a row made safe."""
    return [safe(cell) for cell in row]
