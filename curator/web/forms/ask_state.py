"""The Ask form as it stands: rows of conditions or a text of SQL, groups, accuracy. Two views of one request.

Read from what was posted, however incomplete; what it means is for `curator.language` to say. Every control works as a plain
submit button (`do`), so that the form needs no script.
"""

import re
import uuid
from dataclasses import dataclass, replace

from django.http import QueryDict

from curator.mechanism.columns import Column
from curator.mechanism.schema import Schema

MAX_ROWS = 60
MAX_GROUPS = 2
MAX_VALUES = 2_000
SQL_ROW = "sql"  # the test of a row that holds a condition written as SQL

ORDERED_TESTS = {
    "between": "is between",
    "equals": "is",
    "not_equals": "is not",
    "at_least": "is at least",
    "at_most": "is at most",
    "more_than": "is more than",
    "less_than": "is less than",
    "in": "is one of",
    "not_between": "is not between",
}
LISTED_TESTS = {"equals": "is", "not_equals": "is not", "in": "is one of", "not_in": "is none of"}


@dataclass(frozen=True, slots=True)
class Row:
    """One condition as typed; `values` for lists, `low` and `high` for a range, `text` for SQL."""

    column: str = ""
    test: str = ""
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """One column to group by: `each` value, a number of equal `bins`, or `edges` (cut points apart by commas)."""

    column: str = ""
    how: str = "each"
    text: str = ""


@dataclass(frozen=True, slots=True)
class AskState:
    """Everything in the form."""

    key: str
    view: str = "conditions"
    match: str = "all"
    rows: tuple[Row, ...] = ()
    groups: tuple[Group, ...] = ()
    sql: str = ""
    kind: str = "within"
    amount: str = "25"
    confidence: str = "95"
    simultaneous: bool = False
    under_scarcity: str = "partial"
    label: str = ""

    def add_row(self, schema: Schema) -> "AskState":
        """With one more condition, on the first column that has none yet."""
        used = {row.column for row in self.rows}
        column = next((each for each in schema.columns if each.name not in used), schema.columns[0])
        return replace(self, rows=(*self.rows, Row(column.name, next(iter(tests(column)))))[:MAX_ROWS])

    def without_row(self, place: int) -> "AskState":
        """Without one condition."""
        return replace(self, rows=tuple(row for at, row in enumerate(self.rows) if at != place))

    def add_group(self, schema: Schema) -> "AskState":
        """With one more column to group by."""
        used = {group.column for group in self.groups}
        column = next((each for each in schema.columns if each.name not in used), schema.columns[0])
        return replace(self, groups=(*self.groups, Group(column.name, *first_grouping(column)))[:MAX_GROUPS])

    def without_group(self, place: int) -> "AskState":
        """Without one grouping."""
        return replace(self, groups=tuple(group for at, group in enumerate(self.groups) if at != place))

    def settled(self, schema: Schema) -> "AskState":
        """With tests that fit their columns: what a change of column leaves behind is put right."""
        return replace(
            self, rows=tuple(_settled(row, schema) for row in self.rows), groups=tuple(_fitting(g, schema) for g in self.groups)
        )


def fresh_key() -> str:
    """A key for one form: whatever is sent under it makes one question."""
    return f"form-{uuid.uuid4()}"


def tests(column: Column) -> dict[str, str]:
    """The tests that a column can be put to, with their words."""
    found = dict(ORDERED_TESTS if column.ordered else LISTED_TESTS)
    if column.kind == "boolean":
        found = {"equals": "is", "not_equals": "is not"}
    if column.missing:
        found |= {"is_missing": "is missing", "not_missing": "is not missing"}
    if column.other_code is not None:
        found |= {"is_other": "is outside the domain", "not_other": "is in the domain"}
    return found


def first_grouping(column: Column) -> tuple[str, str]:
    """How a column is grouped when nobody has said: by value, or in ten equal bins where there are many."""
    return ("bins", "10") if column.ordered and column.value_count > 20 else ("each", "")


def _settled(row: Row, schema: Schema) -> Row:
    if row.test == SQL_ROW:
        return row
    column = find(schema, row.column) or schema.columns[0]
    known = tests(column)
    test = row.test if row.test in known else next(iter(known))
    same = column.name == row.column
    return replace(row, column=column.name, test=test) if same else Row(column.name, test)


def _fitting(group: Group, schema: Schema) -> Group:
    column = find(schema, group.column) or schema.columns[0]
    if column.ordered and group.how != "each" and not group.text:
        return replace(group, column=column.name, text="10" if group.how == "bins" else "")
    return Group(column.name, group.how, group.text) if column.ordered else Group(column.name, "each")


def find(schema: Schema, name: str) -> Column | None:
    """The column of exactly this name."""
    return next((column for column in schema.columns if column.name == name), None)


def read(data: QueryDict) -> AskState:
    """The form as posted."""
    kind = str(data.get("kind", ""))
    return AskState(
        key=data.get("key", "") or fresh_key(),
        view="sql" if data.get("view") == "sql" else "conditions",
        match="any" if data.get("match") == "any" else "all",
        rows=tuple(_row(data, place) for place in _places(data, "row")),
        groups=tuple(_group(data, place) for place in _places(data, "group")[:MAX_GROUPS]),
        sql=data.get("sql", ""),
        kind=kind or "within",
        amount=data.get("amount", "").strip(),
        confidence=data.get("confidence", "").strip(),
        simultaneous=data.get("simultaneous") == "yes",
        under_scarcity=data.get("under_scarcity", "partial"),
        label=data.get("label", ""),
    )


def _places(data: QueryDict, kind: str) -> list[int]:
    """Numbers of the rows that were posted, in order."""
    found = {int(match[1]) for name in data if (match := re.fullmatch(rf"{kind}-(\d{{1,3}})-(?:column|text)", name, re.ASCII))}
    return sorted(found)[:MAX_ROWS]


def _row(data: QueryDict, place: int) -> Row:
    def one(name: str) -> str:
        return data.get(f"row-{place}-{name}", "").strip()

    if f"row-{place}-text" in data:
        return Row(test=SQL_ROW, text=data.get(f"row-{place}-text", ""))
    typed = (
        data.get(f"row-{place}-lines", "").splitlines() if f"row-{place}-lines" in data else data.getlist(f"row-{place}-value")
    )
    values = tuple(value.strip() for value in typed[:MAX_VALUES] if value.strip())
    return Row(data.get(f"row-{place}-column", ""), one("test"), values, one("low"), one("high"))


def _group(data: QueryDict, place: int) -> Group:
    how = data.get(f"group-{place}-how", "each")
    return Group(
        data.get(f"group-{place}-column", ""),
        how if how in ("each", "bins", "edges") else "each",
        data.get(f"group-{place}-text", "").strip(),
    )
