"""The public schema of a dataset version: its columns in order, as a value and as JSON.

It is public: nothing in it may come from looking at records. What each text of a file becomes is decided in `columns`,
completely, so that no value can raise an error later. JSON form: `{"columns": [{"name": "age", "kind": "integer", "low": 0,
"high": 99, "missing": false, "out_of_domain": "clamp"}, …]}`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import prod
from typing import Self

from curator.mechanism.columns import FALSE_TEXTS, TRUE_TEXTS, Column
from curator.mechanism.dates import ISO
from curator.mechanism.errors import BadInput
from curator.mechanism.values import echo, harmless, hint, normalise, read_number

__all__ = ["Column", "Schema"]

MAX_COLUMNS = 1_000

_TEXT_FIELDS = ("name", "kind", "out_of_domain", "title", "date_format")
_BOUND_FIELDS = ("low", "high", "step")
_LIST_FIELDS = ("values", "missing_texts", "true_texts", "false_texts")
_FIELDS = (*_TEXT_FIELDS, *_BOUND_FIELDS, *_LIST_FIELDS, "missing", "spellings")


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in the order of the file; names are distinct and case-sensitive."""

    columns: tuple[Column, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.columns) <= MAX_COLUMNS:
            raise BadInput(
                "bad_schema", f"A schema has 1 to {MAX_COLUMNS:,} columns, not {len(self.columns):,}.", field="columns"
            )
        places: dict[str, int] = {}
        for place, column in enumerate(self.columns):
            if column.name in places:
                raise BadInput("bad_schema", f"The column {echo(column.name)} is declared twice.", field=f"columns[{place}].name")
            places[column.name] = place
        object.__setattr__(self, "_places", places)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def cells(self) -> int:
        """Number of cells of the whole domain."""
        return prod(column.size for column in self.columns)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def size(self, place: int) -> int:
        """Number of codes of the column at a place."""
        return self.columns[place].size

    def place(self, name: str) -> int:
        """Where a column stands; refuses an unknown name (unknown_column) and suggests the near one."""
        tidy = normalise(name)
        if (place := self._places.get(tidy)) is None:
            raise BadInput("unknown_column", f"There is no column {echo(name)}.{hint(tidy, self.names)}")
        return place

    def column(self, name: str) -> Column:
        """The column of that name; refuses an unknown one (unknown_column)."""
        return self.columns[self.place(name)]

    def to_json(self) -> dict[str, object]:
        """Plain strings, whole numbers, booleans and lists, fit for hashing; `from_json` gives an equal schema back."""
        return {"columns": [_column_json(column) for column in self.columns]}

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Validates a schema written by a curator; refuses (bad_schema) with the field, for example "columns[3].low"."""
        if not isinstance(obj, Mapping) or set(obj) != {"columns"} or not isinstance(obj["columns"], list):
            raise BadInput("bad_schema", 'Expected {"columns": [...]}, one object per column.', field="columns")
        if len(obj["columns"]) > MAX_COLUMNS:
            raise BadInput("bad_schema", f"At most {MAX_COLUMNS:,} columns, not {len(obj['columns']):,}.", field="columns")
        return cls(tuple(_column_from(entry, place) for place, entry in enumerate(obj["columns"])))


def _column_json(column: Column) -> dict[str, object]:
    entry: dict[str, object] = {"name": column.name, "kind": column.kind}
    if column.title:
        entry["title"] = column.title
    if column.kind == "category":
        entry["values"] = list(column.values)
    if column.spellings:
        entry["spellings"] = {value: list(texts) for value, texts in column.spellings}
    if column.ordered:
        entry |= {name: _bound_json(column, name) for name in (_BOUND_FIELDS if column.kind == "decimal" else ("low", "high"))}
    if column.date_format != ISO:
        entry["date_format"] = column.date_format
    if column.kind == "boolean" and (column.true_texts, column.false_texts) != (TRUE_TEXTS, FALSE_TEXTS):
        entry |= {"true_texts": list(column.true_texts), "false_texts": list(column.false_texts)}
    if column.missing_texts != ("",):
        entry["missing_texts"] = list(column.missing_texts)
    return entry | {"missing": column.missing, "out_of_domain": column.out_of_domain}


def _bound_json(column: Column, name: str) -> int | str:
    text: str = getattr(column, name)
    return int(text) if column.kind == "integer" else text


def _column_from(entry: object, place: int) -> Column:
    where = f"columns[{place}]"
    if not isinstance(entry, Mapping):
        raise BadInput("bad_schema", "Expected an object with the name and kind of a column.", field=where)
    for key in entry:
        if key not in _FIELDS:
            raise BadInput(
                "bad_schema", f"A column has no {echo(key)}.{hint(str(key), _FIELDS)}", field=f"{where}.{harmless(str(key))}"
            )
    for key in ("name", "kind"):
        if key not in entry:
            raise BadInput("bad_schema", f"The {key} of the column is needed.", field=f"{where}.{key}")
    arguments = {str(key): _part(str(key), value, f"{where}.{key}") for key, value in entry.items() if value is not None}
    try:
        return Column(**arguments)  # type: ignore[arg-type]  # each part was checked by _part
    except BadInput as refusal:
        raise BadInput(refusal.code, refusal.detail, field=f"{where}.{refusal.field}" if refusal.field else where) from refusal


def _part(key: str, value: object, where: str) -> object:
    if key == "missing":
        if isinstance(value, bool):
            return value
        raise BadInput("bad_schema", f"Expected true or false, not {echo(value)}.", field=where)
    if key == "spellings":
        if isinstance(value, Mapping):
            return tuple((str(name), tuple(_text(item, where) for item in _list(texts, where))) for name, texts in value.items())
        raise BadInput("bad_schema", f"Expected an object with a list of texts for each value, not {echo(value)}.", field=where)
    if key in _LIST_FIELDS:
        return tuple(_text(item, where) for item in _list(value, where))
    return _text(value, where) if key in _BOUND_FIELDS or isinstance(value, str) else _not_text(value, where)


def _list(value: object, where: str) -> list[object]:
    if isinstance(value, list):
        return value
    raise BadInput("bad_schema", f"Expected a list of texts, not {echo(value)}.", field=where)


def _text(value: object, where: str) -> str:
    """A text, or a number as its text (categories and bounds may be typed as numbers)."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        if read_number(number) is not None:
            return format(number, "d" if isinstance(number, int) else "f")
    return _not_text(value, where)


def _not_text(value: object, where: str) -> str:
    raise BadInput("bad_schema", f"Expected a text, not {echo(value)}.", field=where)
