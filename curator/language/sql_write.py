"""A question as SQL text that reads back as the same question's regions; brackets only where AND and OR need them."""

from decimal import Decimal

from curator.language.conditions import AllOf, Always, AnyOf, Condition, Leaf, Not
from curator.language.question import Edge, GroupBy, Question
from curator.mechanism.columns import Column
from curator.mechanism.region_text import name_text
from curator.mechanism.schema import Schema
from curator.mechanism.values import Literal

_SIGNS = {"equals": "=", "not_equals": "<>", "at_least": ">=", "at_most": "<=", "more_than": ">", "less_than": "<"}
_WORDS = {
    "is_missing": "{} IS NULL",
    "not_is_missing": "{} IS NOT NULL",
    "is_other": "IS_OTHER({})",
    "not_is_other": "NOT IS_OTHER({})",
}


def write_sql(question: Question, *, schema: Schema, table: str) -> str:
    """`SELECT … FROM … [WHERE …] [GROUP BY …]` in one line."""
    groups = [_group(group, schema) for group in question.group_by]
    words = ["SELECT", ", ".join([*groups, "COUNT(*)"]), "FROM", name_text(table)]
    if question.where is not None:
        words += ["WHERE", _condition(question.where, schema)]
    return " ".join([*words, "GROUP BY", ", ".join(groups)] if groups else words)


def _condition(condition: Condition, schema: Schema) -> str:
    match condition:
        case Leaf():
            return _leaf(condition, schema.column(condition.column))
        case Always(value):
            return "TRUE" if value else "FALSE"
        case Not(Leaf(operator="in" | "between" | "is_missing") as leaf):
            return _leaf(leaf, schema.column(leaf.column), negated=True)
        case Not(part):
            return f"NOT {_bracketed(part, schema, AllOf, AnyOf)}"
        case AllOf(parts):
            return " AND ".join(_bracketed(part, schema, AnyOf) for part in parts)
        case AnyOf(parts):
            return " OR ".join(_condition(part, schema) for part in parts)


def _bracketed(part: Condition, schema: Schema, *loose: type) -> str:
    """A part in brackets where it binds less tightly; a list of one part binds like that part."""
    while isinstance(part, AllOf | AnyOf) and len(part.parts) == 1:
        part = part.parts[0]
    return f"({_condition(part, schema)})" if isinstance(part, loose) else _condition(part, schema)


def _leaf(leaf: Leaf, column: Column, *, negated: bool = False) -> str:
    name, word = name_text(column.name), "NOT " if negated else ""
    if leaf.operator in _WORDS:
        return _WORDS[f"not_{leaf.operator}" if negated else leaf.operator].format(name)
    values = [_literal(value, column) for value in leaf.values]
    if leaf.operator == "in":
        return f"{name} {word}IN ({', '.join(values)})"
    if leaf.operator == "between":
        return f"{name} {word}BETWEEN {values[0]} AND {values[1]}"
    return f"{name} {_SIGNS[leaf.operator]} {values[0]}"


def _literal(value: Literal, column: Column) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | Decimal) or column.kind in ("integer", "decimal"):
        return str(value)
    return ("DATE " if column.kind == "date" else "") + "'" + value.replace("'", "''") + "'"


def _group(group: GroupBy, schema: Schema) -> str:
    column = schema.column(group.column)
    name = name_text(column.name)
    if group.bins is not None:
        return f"BIN({name}, {group.bins})"
    if group.edges is not None:
        return f"EDGES({', '.join([name, *(_edge(edge, column) for edge in group.edges)])})"
    return name


def _edge(edge: Edge, column: Column) -> str:
    if isinstance(edge, tuple):
        return f"({_literal(edge[0], column)}, {_literal(edge[1], column)})"
    return _literal(edge, column)
