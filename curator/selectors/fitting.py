"""Columns of a file of which most cells would not fit what is declared: nobody should freeze those without meaning to.

Told from the report that the curator saw, for that curator alone: what does not fit is a function of the records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curator.mechanism.schema import Column, Schema

MISFITS = ("unreadable", "outside")
NOTHING = ("blank", "missing")


@dataclass(frozen=True, slots=True)
class Misfit:
    """A column of which `bad` of the `filled` cells do not fit; `becomes` is what happens to them."""

    name: str
    bad: int
    filled: int
    becomes: str

    @property
    def words(self) -> str:
        """What somebody says who freezes it all the same."""
        if self.bad == self.filled:
            return f"I know that every cell of {self.name} {self.becomes}."
        return f"I know that most cells of {self.name} do not fit ({self.bad:,} of {self.filled:,}): each of them {self.becomes}."


def judged(entry: Mapping[str, Any], report: Mapping[str, Any]) -> Mapping[str, int] | None:
    """A declared column's cells by verdict; None where it was not read against the file since it was declared so."""
    name = entry["name"]
    described = "shapes" in report  # else it is frozen, by what is declared
    if described and report.get("checked", {}).get(name) != entry:
        return None
    cells: Mapping[str, int] = report.get("cells", {}).get(name, {})
    return cells


def misfits(entries: Mapping[str, Mapping[str, Any]], report: Mapping[str, Any]) -> tuple[Misfit, ...]:
    """The drafted columns of which more than half of the cells that hold something do not fit, as far as it was looked at."""
    found = ((entry, judged(entry, report) or {}) for entry in entries.values())
    told = (_misfit(entry, cells, report.get("rows", 0)) for entry, cells in found)
    return tuple(one for one in told if 2 * one.bad > one.filled)


def _misfit(entry: Mapping[str, Any], cells: Mapping[str, int], rows: int) -> Misfit:
    bad, nothing = (sum(cells.get(name, 0) for name in names) for names in (MISFITS, NOTHING))
    column = Schema.from_json({"columns": [dict(entry)]}).columns[0]
    return Misfit(column.name, bad, rows - nothing, _fate(column, outside=2 * cells.get("outside", 0) > bad))


def _fate(column: Column, *, outside: bool) -> str:
    if outside and column.out_of_domain == "clamp":
        return "is moved to a bound"
    if column.other_code is not None:
        return "becomes “other”"
    return "becomes “missing”" if column.missing else "becomes the lowest value"
