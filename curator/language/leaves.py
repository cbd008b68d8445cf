"""What one column condition selects: intervals of codes that match, and of codes that do not.

The third outcome of SQL, *unknown*, is the `missing` element for every condition but `is_missing`: it is in neither. The `other`
element (values outside the declared domain, kept apart) is a value that equals nothing declared and lies nowhere in the order, so
`=`, IN, <, > and BETWEEN do not match it and their negations do: `NOT age < 30` selects it, `age >= 30` does not.
"""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from curator.language.conditions import Leaf
from curator.mechanism import intervals as iv
from curator.mechanism.columns import Column
from curator.mechanism.errors import BadInput
from curator.mechanism.intervals import Intervals
from curator.mechanism.schema import Schema
from curator.mechanism.values import Literal, read_number

_BOUNDS = ("between", "at_least", "at_most", "more_than", "less_than")


def resolve(leaf: Leaf, field: str, schema: Schema) -> Leaf:
    """The same condition, column and values in canonical spelling; refuses (with the field) what the schema does not know."""
    try:
        column = schema.column(leaf.column)
        if leaf.operator.endswith("is_other") and column.other_code is None:
            raise BadInput("no_other", f'Values outside the domain are not kept apart in "{column.name}".', column=column.name)
        ordered = leaf.operator in _BOUNDS
        values = tuple(bound(column, value) if ordered else _value(column, value) for value in leaf.values)
    except BadInput as refusal:
        raise BadInput(refusal.code, refusal.detail, field=_where(leaf, field, refusal), **refusal.operands) from refusal
    return replace(leaf, column=column.name, values=tuple(dict.fromkeys(values)) if leaf.operator == "in" else values)


def _where(leaf: Leaf, field: str, refusal: BadInput) -> str:
    return f"{field}.column" if refusal.code in ("unknown_column", "no_other") else f"{field}.{leaf.operator}"


def _value(column: Column, value: Literal) -> Literal:
    return spelled(column, column.encode_literal(value))


def spelled(column: Column, code: int) -> Literal:
    """A declared value as a question stores it: a whole number, true or false, else a text."""
    if column.kind == "boolean":
        return code == 1
    return int(column.label(code)) if column.kind == "integer" else column.label(code)


def bound(column: Column, value: Literal) -> Literal:
    """A value to compare with, which need be no element of the domain: `age < 29.5` and `age < 200` have a meaning."""
    column.position(value)
    if column.kind == "date":
        return date.fromisoformat(str(value).strip()).isoformat()
    number = read_number(value)
    return value if number is None else int(number) if number.denominator == 1 else format(Decimal(str(value)).normalize(), "f")


def matching(leaf: Leaf, column: Column) -> tuple[Intervals, Intervals]:
    """(codes for which the condition is true, codes for which it is false) of a leaf whose column this is."""
    if leaf.operator.endswith("is_missing"):
        yes = _point(column.missing_code)
        no = iv.complement(yes, column.size)
    else:
        known = ((0, column.size - 1 - column.missing),)
        yes = _true_codes(leaf, column)
        no = iv.intersection(iv.complement(yes, column.size), known)
    return (no, yes) if leaf.operator.startswith("not_") else (yes, no)


def _point(code: int | None) -> Intervals:
    return () if code is None else ((code, code),)


def _true_codes(leaf: Leaf, column: Column) -> Intervals:
    match leaf.operator.removeprefix("not_"):
        case "is_other":
            return _point(column.other_code)
        case "equals" | "in":
            return iv.tidy((code, code) for code in map(column.encode_literal, leaf.values))
        case operator:
            last = column.value_count - 1
            low, high = _range(operator, [column.position(value) for value in leaf.values], last)
            return iv.tidy([(max(low, 0), min(high, last))])


def _range(operator: str, places: list[Fraction], last: int) -> tuple[int, int]:
    """First and last code in the range (perhaps outside the domain, or none), from exact positions between or on grid points."""
    match operator:
        case "between":
            return ceil(places[0]), floor(places[1])
        case "at_least":
            return ceil(places[0]), last
        case "more_than":
            return floor(places[0]) + 1, last
        case "at_most":
            return 0, floor(places[0])
        case _:
            return 0, ceil(places[0]) - 1
