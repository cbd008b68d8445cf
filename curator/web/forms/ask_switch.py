"""From a question to the Ask form: what rows can show becomes rows, anything deeper a row with SQL in it. Nothing is lost."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curator.language import Question, write_sql
from curator.mechanism import accuracy
from curator.mechanism.accuracy import Exactly, Relative, StandardError, Target, Within
from curator.mechanism.rho import text as rho_text
from curator.mechanism.schema import Schema
from curator.web.forms.ask_state import SQL_ROW, AskState, Group, Row, find, tests

Tree = Mapping[str, Any]


def with_question(state: AskState, question: Question, *, schema: Schema, table: str) -> AskState:
    """The form showing `question` as rows and, for the other view, as SQL."""
    obj = question.to_json()
    match, parts = _parts(obj.get("where"))
    return replace(
        state,
        view="conditions",
        match=match,
        rows=tuple(_row(part, schema=schema, table=table) for part in parts),
        groups=tuple(_group(group) for group in _list(obj.get("group_by"))),
        sql=write_sql(question, schema=schema, table=table),
    )


def with_target(state: AskState, target: Target) -> AskState:
    """The form asking for this accuracy."""
    sure = percent(accuracy.confidence_of(target))
    match target:
        case Within():
            return replace(state, kind="within", amount=str(target.bound), confidence=sure, simultaneous=target.simultaneous)
        case StandardError():
            return replace(state, kind="standard_error", amount=f"{target.value:f}")
        case Relative():
            return replace(state, kind="relative", amount=percent(target.share), confidence=sure)
        case Exactly():
            return replace(state, kind="rho", amount=rho_text(target.rho))


def percent(share: Any) -> str:
    """A share in percent, without the sign: 0.95 is 95."""
    return f"{(share * 100).normalize():f}"


def _parts(where: object) -> tuple[str, list[Tree]]:
    """The outermost conjunction or alternative and its parts."""
    if not isinstance(where, Mapping) or where.get("always") is True:
        return "all", []
    if "all" in where:
        return "all", list(where["all"])
    if "any" in where:
        return "any", list(where["any"])
    return "all", [where]


def _list(value: object) -> list[Tree]:
    return list(value) if isinstance(value, list) else []


def _row(tree: Tree, *, schema: Schema, table: str) -> Row:
    plain = _plain_row(tree)
    column = find(schema, plain.column) if plain else None
    if plain is not None and column is not None and plain.test in tests(column):
        return plain
    return Row(test=SQL_ROW, text=condition_sql(tree, schema=schema, table=table))


def _plain_row(tree: Tree) -> Row | None:
    """A row for one test of one column, or None."""
    inner = tree.get("not")
    if isinstance(inner, Mapping):
        return _negated(_plain_row(inner)) if "column" in inner else None
    if "column" not in tree:
        return None
    column, test = tree["column"], next(name for name in tree if name != "column")
    if test in ("is_missing", "is_other"):
        return Row(column, test if tree[test] else test.replace("is_", "not_"))
    if test == "between":
        low, high = _texts(tree[test])
        return Row(column, test, low=low, high=high)
    return Row(column, test, _texts(tree[test] if test == "in" else [tree[test]]))


#: Tests whose opposite is a test too. Comparisons are not: NOT age < 30 counts values outside the domain, age >= 30 does not.
OPPOSITES = {
    "in": "not_in", "between": "not_between", "equals": "not_equals", "not_equals": "equals", "is_missing": "not_missing",
    "not_missing": "is_missing", "is_other": "not_other", "not_other": "is_other",
}  # fmt: skip


def _negated(row: Row | None) -> Row | None:
    return replace(row, test=OPPOSITES[row.test]) if row and row.test in OPPOSITES else None


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def condition_sql(tree: Tree, *, schema: Schema, table: str) -> str:
    """One condition as SQL, as it stands after WHERE."""
    sql = write_sql(Question.from_json({"where": tree}), schema=schema, table=table)
    return sql.partition(" WHERE ")[2]


def _group(group: Tree) -> Group:
    if "bins" in group:
        return Group(group["column"], "bins", str(group["bins"]))
    if "edges" in group:
        return Group(group["column"], "edges", ", ".join(str(edge) for edge in group["edges"]))
    return Group(group["column"], "each")
