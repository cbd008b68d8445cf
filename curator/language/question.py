"""A question: whom to count (a condition or everybody) and how to group the count; a value with a JSON form."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from curator.language.conditions import (
    Condition,
    Resolve,
    check_length,
    condition_from_json,
    condition_to_json,
    keep,
    unknown_field,
)
from curator.language.leaves import bound, resolve
from curator.mechanism.columns import Column
from curator.mechanism.errors import BadInput
from curator.mechanism.schema import Schema
from curator.mechanism.values import Literal, echo, hint, read_number

MAX_GROUPED = 2
MAX_BINS = 10_000

Edge = Literal | tuple[Literal, Literal]


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One grouped column: each declared value, `bins` equal bins, or `edges` (cut points, or pairs from–to)."""

    column: str
    bins: int | None = None
    edges: tuple[Edge, ...] | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Count the persons with a record where `where` holds (None: everybody), by the groups of `group_by` (none: one number)."""

    where: Condition | None = None
    group_by: tuple[GroupBy, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Texts, whole numbers, booleans and lists only; `from_json` gives an equal question back."""
        result: dict[str, object] = {}
        if self.where is not None:
            result["where"] = condition_to_json(self.where)
        if self.group_by:
            result["group_by"] = [_group_json(group) for group in self.group_by]
        return result

    @classmethod
    def from_json(cls, obj: object) -> "Question":
        """The question that `to_json` wrote; the names and values in it are not checked again."""
        return _read(obj, keep)


def parse_json(obj: object, *, schema: Schema) -> Question:
    """The question of `{"where": …, "group_by": […]}`; refuses, with the field, what the schema does not know."""
    if isinstance(obj, Mapping) and "where" in obj:
        check_length(obj["where"])
    question = _read(obj, partial(resolve, schema=schema))
    return replace(
        question,
        group_by=tuple(resolve_group(group, f"group_by[{place}]", schema) for place, group in enumerate(question.group_by)),
    )


def resolve_group(group: GroupBy, field: str, schema: Schema) -> GroupBy:
    """The same grouping, column and edges in canonical spelling; refuses (with the field) what the schema does not know."""
    part = "column"
    try:
        column = schema.column(group.column)
        part = "bins" if group.edges is None else "edges"
        if not column.ordered and (group.bins is not None or group.edges is not None):
            detail = f"{echo(column.name)} is a {column.kind}: it is grouped by its values, without bins or edges."
            raise BadInput("not_ordered", detail, column=column.name)
        edges = None if group.edges is None else tuple(_spelled_edge(column, edge) for edge in group.edges)
    except BadInput as refusal:
        raise BadInput(refusal.code, refusal.detail, field=f"{field}.{part}", **refusal.operands) from refusal
    return replace(group, column=column.name, edges=edges)


def _spelled_edge(column: Column, edge: Edge) -> Edge:
    return (bound(column, edge[0]), bound(column, edge[1])) if isinstance(edge, tuple) else bound(column, edge)


def _read(obj: object, resolve_leaf: Resolve) -> Question:
    if not isinstance(obj, Mapping):
        raise BadInput("bad_condition", f"Expected an object with where and group_by, not {echo(obj)}.")
    for key in obj:
        if key not in ("where", "group_by"):
            raise unknown_field("A question", key, hint(str(key), ("where", "group_by")))
    where = condition_from_json(obj["where"], resolve=resolve_leaf) if "where" in obj else None
    return Question(where, groups_from_json(obj["group_by"]) if "group_by" in obj else ())


def groups_from_json(obj: object) -> tuple[GroupBy, ...]:
    """The grouping of `[{"column": …, "bins": n | "edges": […]}]`, its shape only."""
    if not isinstance(obj, list) or not 1 <= len(obj) <= MAX_GROUPED:
        detail = f"Expected a list of one or {MAX_GROUPED} columns to group by."
        raise BadInput("bad_group", detail, field="group_by", maximum=MAX_GROUPED)
    groups = tuple(_group(entry, f"group_by[{place}]") for place, entry in enumerate(obj))
    check_distinct(groups)
    return groups


def check_distinct(groups: tuple[GroupBy, ...]) -> None:
    """Refuses more columns than can be grouped by, and one column twice."""
    if len(groups) > MAX_GROUPED:
        raise BadInput("bad_group", f"Group by at most {MAX_GROUPED} columns.", field="group_by", maximum=MAX_GROUPED)
    if len({group.column for group in groups}) < len(groups):
        raise BadInput("bad_group", f"{echo(groups[0].column)} is grouped by twice.", field="group_by")


def _group(entry: object, field: str) -> GroupBy:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("column"), str):
        raise BadInput("bad_group", "Expected an object with the name of a column.", field=f"{field}.column")
    for key in entry:
        if key not in ("column", "bins", "edges"):
            raise unknown_field("A grouping", key, hint(str(key), ("column", "bins", "edges")), field)
    if "bins" in entry and "edges" in entry:
        raise BadInput("bad_group", "Expected bins or edges, not both.", field=f"{field}.edges")
    bins = whole_bins(entry["bins"], f"{field}.bins") if "bins" in entry else None
    return GroupBy(entry["column"], bins, _edges(entry["edges"], f"{field}.edges") if "edges" in entry else None)


def whole_bins(value: object, field: str) -> int:
    """A number of bins; refuses what is no whole number of at least 1 (no_bins). How many fit, the column knows."""
    number = read_number(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if number is None or number.denominator != 1:
        raise BadInput("bad_group", f"Expected a whole number of bins from 1 to {MAX_BINS:,}, not {echo(value)}.", field=field)
    if number < 1:
        raise BadInput("no_bins", f"Expected at least one bin, not {echo(value)}.", field=field)
    return int(number)


def _edges(value: object, field: str) -> tuple[Edge, ...]:
    if not isinstance(value, list):
        raise BadInput("bad_group", f"Expected a list of edges, not {echo(value)}.", field=field)
    return tuple(_edge(item, f"{field}[{place}]") for place, item in enumerate(value))


def _edge(item: object, field: str) -> Edge:
    if isinstance(item, list) and len(item) == 2:
        return _edge_value(item[0], f"{field}[0]"), _edge_value(item[1], f"{field}[1]")
    return _edge_value(item, field)


def _edge_value(item: object, field: str) -> Literal:
    if isinstance(item, str | int | Decimal) and not isinstance(item, bool):
        return item
    raise BadInput("bad_group", f"Expected a number, a date, or a pair from–to of them, not {echo(item)}.", field=field)


def _group_json(group: GroupBy) -> dict[str, object]:
    result: dict[str, object] = {"column": group.column}
    if group.bins is not None:
        result["bins"] = group.bins
    if group.edges is not None:
        result["edges"] = [list(map(_plain, edge)) if isinstance(edge, tuple) else _plain(edge) for edge in group.edges]
    return result


def _plain(value: Literal) -> str | int:
    return str(value) if isinstance(value, Decimal) else value
