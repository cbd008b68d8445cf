"""A region written as an SQL condition that reads back as the same region.

Conditions follow SQL's rule for missing values, so a set of codes with `missing` ends in OR … IS NULL, and one without it
never matches missing records. NOT selects `other` (and not `missing`), so a set with `other` is written as what it is not.
"""

import re

from curator.mechanism import intervals as iv
from curator.mechanism.columns import Column
from curator.mechanism.diagram import INSIDE, OUTSIDE, Diagram
from curator.mechanism.intervals import Intervals
from curator.mechanism.schema import Schema

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = """
all and any as asc between bin by case cast check column constraint count create cross current date default delete desc
distinct drop else end except exists false fetch for foreign from full grant group having in inner insert intersect
interval into is is_other join key left like limit natural not null offset on or order outer over partition primary
references right select set some table then time timestamp to true union unique update user using values when where with
"""
_RESERVED = frozenset(_WORDS.split())
MAX_LENGTH = 20_000  # characters of a condition
MAX_BOXES = 200


def name_text(name: str) -> str:
    """A column name as SQL: plain where possible, else in double quotes."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED else '"' + name.replace('"', '""') + '"'


def value_text(column: Column, code: int) -> str:
    """A declared value as an SQL literal."""
    label = column.label(code)
    if column.kind == "boolean":
        return label.upper()
    if column.kind in ("integer", "decimal"):
        return label
    return ("DATE " if column.kind == "date" else "") + "'" + label.replace("'", "''") + "'"


def condition(schema: Schema, diagram: Diagram) -> str | None:
    """The whole condition, or None past `MAX_LENGTH`; a node with several parents is written once for each: bound paths first."""
    done = ["FALSE", "TRUE"]
    for level, cuts in diagram.nodes:
        column = schema.columns[level]
        ends = [*(start - 1 for start, _ in cuts[1:]), column.size - 1]
        runs: dict[int, list[tuple[int, int]]] = {}
        for (start, child), end in zip(cuts, ends, strict=True):
            runs.setdefault(child, []).append((start, end))
        parts = [
            _branch(codes_text(column, tuple(codes)), done[child], child) for child, codes in runs.items() if child != OUTSIDE
        ]
        done.append(parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts))
        if len(done[-1]) > MAX_LENGTH:
            return None
    return done[diagram.root]


def _branch(here: str, below: str, child: int) -> str:
    if child == INSIDE:
        return here
    left, right = (f"({part})" if " OR " in part else part for part in (here, below))
    return f"{left} AND {right}"


def codes_text(column: Column, codes: Intervals) -> str:
    """The condition that a column's code lies in canonical intervals (not all of them)."""
    missing = column.missing_code
    known = iv.intersection(codes, ((0, column.value_count - 1),)) if column.value_count else ()
    other = column.other_code is not None and _holds(codes, column.other_code)
    text = _known_text(column, known, other=other)
    if missing is None or not _holds(codes, missing):
        return text
    return f"{text} OR {name_text(column.name)} IS NULL" if text else f"{name_text(column.name)} IS NULL"


def _holds(codes: Intervals, code: int) -> bool:
    return any(low <= code <= high for low, high in codes)


def _known_text(column: Column, known: Intervals, *, other: bool) -> str:
    """Declared values and perhaps `other`, never missing; empty text for nothing."""
    name, absent = name_text(column.name), iv.complement(known, column.value_count)
    if not known:
        return f"IS_OTHER({name})" if other else ""
    if not absent:
        return f"{name} IS NOT NULL" if other or column.other_code is None else f"NOT IS_OTHER({name})"
    if other:
        return _negative(column, absent)
    if column.other_code is None and not column.ordered and iv.count(absent) < iv.count(known):
        return _negative(column, absent)
    return _positive(column, known)


def _negative(column: Column, absent: Intervals) -> str:
    if _few(absent):
        values = [value_text(column, code) for low, high in absent for code in range(low, high + 1)]
        name = name_text(column.name)
        return f"{name} <> {values[0]}" if len(values) == 1 else f"{name} NOT IN ({', '.join(values)})"
    return f"NOT ({_positive(column, absent)})"


def _few(runs: Intervals) -> bool:
    return all(low == high for low, high in runs)


def _positive(column: Column, known: Intervals) -> str:
    name = name_text(column.name)
    singles = (
        [code for low, high in known for code in range(low, high + 1)]
        if not column.ordered
        else [low for low, high in known if low == high]
    )
    parts = [_run(column, name, low, high) for low, high in known if column.ordered and low != high]
    values = [value_text(column, code) for code in singles]
    if values:
        parts.append(f"{name} = {values[0]}" if len(values) == 1 else f"{name} IN ({', '.join(values)})")
    return " OR ".join(parts)


def _run(column: Column, name: str, low: int, high: int) -> str:
    if low == 0:
        return f"{name} <= {value_text(column, high)}"
    if high == column.value_count - 1:
        return f"{name} >= {value_text(column, low)}"
    return f"{name} BETWEEN {value_text(column, low)} AND {value_text(column, high)}"
