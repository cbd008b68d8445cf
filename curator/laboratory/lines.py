"""Reads a workload: JSON lines, in order, each an allotment or a question.

    {"allotment": "a1", "rho": "0.5"}                       "rho": null = explicitly no limit
    {"analyst": "a1", "query": "q7", "rho_min": "0.3"}      or "within": 25, "confidence": 0.95 in place of "rho_min"
        optional: "weight" (default 1), "under_scarcity" ("partial", the default, or "all_or_nothing"),
        "cells": [{"query", "rho_min", "weight"}, …] for a histogram: each cell a descriptor of its own; what a cell does not say
        (its accuracy, its weight) is taken from the line

The descriptor is the name in "query": equal names are the same question, whoever asks, as a count or as a cell. Numbers may be
written as text, which keeps them exact. Whatever does not parse is refused with its line number; unknown keys too, since a
misspelled "weight" would silently be 1. Blank lines are skipped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import cast

from curator.mechanism import accuracy, rho
from curator.mechanism.comparators.events import ONE, AllotmentSet, Asked, Bin, Event
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.errors import BadInput, Refused
from curator.mechanism.rho import Units
from curator.mechanism.values import has_control

ALLOTMENT = frozenset({"allotment", "rho"})
CELL = frozenset({"query", "rho_min", "within", "confidence", "weight"})
QUESTION = CELL | {"analyst", "under_scarcity", "cells"}
LEAST_WEIGHT, MOST_WEIGHT = Decimal("0.000001"), Decimal(1_000_000)
MAX_NAME = 200
MAX_CELLS = 10_000

Row = Mapping[str, object]


class Reader:
    """Reads lines into events; equal accuracies are priced once."""

    def __init__(self) -> None:
        self._prices: dict[tuple[object, object, object], Units] = {}

    def events(self, lines: Iterable[str]) -> Iterator[Event]:
        """The events of these lines. Raises BadInput, with the line number, at the first that does not parse."""
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield self._numbered(number, line)

    def _numbered(self, number: int, line: str) -> Event:
        try:
            return self._event(_object(line))
        except Refused as refused:
            field = f"line {number}" if refused.field is None else f"line {number}, {refused.field}"
            raise BadInput(refused.code, f"line {number}: {refused.detail}", field=field, **refused.operands) from None

    def _event(self, row: Row) -> Event:
        if "allotment" in row:
            return _allotment(row)
        _known(row, QUESTION)
        return Asked(
            analyst=_name(row, "analyst"),
            query=_name(row, "query"),
            bins=self._bins(row),
            under_scarcity=_under_scarcity(row.get("under_scarcity", "partial")),
        )

    def _bins(self, row: Row) -> tuple[Bin, ...]:
        if "cells" not in row:
            return (self._bin(row, row),)
        cells = row["cells"]
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise BadInput("bad_line", "cells: a list of objects was expected", field="cells")
        if not 1 <= len(cells) <= MAX_CELLS:
            raise BadInput("no_bins" if not cells else "too_many_bins", f"cells: 1 to {MAX_CELLS} were expected", field="cells")
        bins = tuple(self._bin(_known(cell, CELL), row) for cell in cells)
        if len({b.key for b in bins}) < len(bins):
            raise BadInput("bins_overlap", "cells: a descriptor is named twice in one histogram", field="cells")
        return bins

    def _bin(self, cell: Row, line: Row) -> Bin:
        stated = cell if cell.keys() & {"rho_min", "within", "confidence"} else line
        key = stated.get("rho_min"), stated.get("within"), stated.get("confidence")
        try:
            price = self._prices.get(key)
        except TypeError:  # a list or an object where a number belongs: priced below, which refuses it
            price = None
        if price is None:
            price = _price(stated)
            self._prices[key] = price
        return Bin(
            key=_name(cell, "query"), rho_min=price, weight=_weight(cell["weight"] if "weight" in cell else line.get("weight"))
        )


def _price(stated: Row) -> Units:
    """The support that the stated accuracy needs from scratch; both spellings are read by the rules of every other request."""
    if ("rho_min" in stated) == bool(stated.keys() & {"within", "confidence"}):
        raise BadInput("bad_line", 'an accuracy was expected: "rho_min", or "within" and "confidence"', field="rho_min")
    if "rho_min" in stated:
        target = {"rho": stated["rho_min"]}
    else:
        target = {name: stated[name] for name in ("within", "confidence") if name in stated}
    try:
        parsed = accuracy.parse_target(target)
    except Refused as refused:
        raise BadInput(refused.code, _as_written(refused.detail), field=_as_written(refused.field or "rho_min")) from None
    if isinstance(parsed, accuracy.Relative):  # cannot be: neither spelling says "relative"
        raise BadInput("bad_line", "a relative accuracy has no price without data", field="rho_min")
    return accuracy.rho_min(parsed)


def _as_written(said: str) -> str:
    """A refusal of an accuracy object in the words of a line."""
    return said.replace("accuracy.rho", "rho_min").replace("accuracy.", "")


def _allotment(row: Row) -> AllotmentSet:
    _known(row, ALLOTMENT)
    if "rho" not in row:
        raise BadInput("bad_line", 'an allotment has a "rho": an amount, or null for explicitly none', field="rho")
    amount = row["rho"]
    units = None if amount is None else rho.parse(rho.number(amount, field="rho"), field="rho")
    return AllotmentSet(analyst=_name(row, "allotment"), rho=units)


def _under_scarcity(value: object) -> UnderScarcity:
    for choice in UnderScarcity:
        if value == choice.value:
            return choice
    raise BadInput("bad_line", 'under_scarcity: "partial" or "all_or_nothing" was expected', field="under_scarcity")


def _weight(value: object) -> Decimal:
    if value is None:
        return ONE
    weight = rho.number(value, field="weight")
    if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise BadInput("bad_number", f"weight: a number from {LEAST_WEIGHT:f} to {MOST_WEIGHT:f} was expected", field="weight")
    return weight


def _name(row: Row, key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_NAME or has_control(value):
        raise BadInput("bad_line", f"{key}: a name of 1 to {MAX_NAME} plain characters was expected", field=key)
    return value


def _known(row: Row, keys: frozenset[str]) -> Row:
    unknown = sorted(row.keys() - keys)
    if unknown:
        raise BadInput("bad_line", f"unknown key {unknown[0][:40]!r}; expected: {', '.join(sorted(keys))}", field=unknown[0][:40])
    return row


def _object(line: str) -> Row:
    try:
        value = _decode(line)
    except RecursionError:
        raise BadInput("bad_line", "nested too deeply") from None
    except json.JSONDecodeError as wrong:
        raise BadInput("bad_line", f"not JSON: {wrong.msg} at column {wrong.colno}") from None
    except ValueError as wrong:
        raise BadInput("bad_line", f"not JSON: {wrong}") from None
    if not isinstance(value, dict):
        raise BadInput("bad_line", "an object was expected: an allotment or a question")
    return cast("Row", value)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key is given twice")
    return row


_decode: Callable[[str], object] = json.JSONDecoder(
    parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_once
).decode


def read(lines: Iterable[str]) -> list[Event]:
    """All events of a workload. Raises BadInput with the line number; a workload without a question is refused."""
    events = list(Reader().events(lines))
    if not any(isinstance(event, Asked) for event in events):
        raise BadInput("bad_line", "the workload has no question")
    return events
