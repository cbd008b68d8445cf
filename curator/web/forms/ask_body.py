"""From the Ask form to the body that the API takes, and from a refusal back to the place in the form it is about."""

import re
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from curator.language import Question, parse_sql
from curator.mechanism.errors import BadInput, Refused
from curator.mechanism.region_text import name_text
from curator.mechanism.schema import Schema
from curator.web.fields import with_point
from curator.web.forms.ask_state import SQL_ROW, AskState, Group, Row
from curator.web.problems import Problem

Body = dict[str, Any]

FLAGS = {"is_missing": True, "not_missing": False, "is_other": True, "not_other": False}


def body_of(state: AskState, *, schema: Schema, table: str) -> Body:
    """The request body that the form stands for. Refused where a row's own SQL is none; the rest is the language's to judge."""
    body: Body = {"sql": state.sql} if state.view == "sql" else _conditions(state, schema=schema, table=table)
    body |= {"accuracy": _accuracy(state), "under_scarcity": state.under_scarcity}
    return body | {"label": state.label} if state.label.strip() else body


def _conditions(state: AskState, *, schema: Schema, table: str) -> Body:
    body: Body = {}
    if state.rows:
        leaves = [_leaf(row, f"where.{state.match}[{place}]", schema=schema, table=table) for place, row in enumerate(state.rows)]
        body["where"] = {state.match: leaves}
    if state.groups:
        body["group_by"] = [_grouping(group, f"group_by[{place}]") for place, group in enumerate(state.groups)]
    return body or {"where": {"always": True}}


def _leaf(row: Row, field: str, *, schema: Schema, table: str) -> Body:
    if row.test == SQL_ROW:
        return _written(row.text, field, schema=schema, table=table)
    if row.test in FLAGS:
        return {"column": row.column, row.test.replace("not_", "is_"): FLAGS[row.test]}
    if row.test in ("not_in", "not_between"):
        return {"not": _leaf(replace(row, test=row.test.removeprefix("not_")), field, schema=schema, table=table)}
    if row.test == "between":
        return {"column": row.column, "between": [_given(row.low, field), _given(row.high, field)]}
    if row.test == "in":
        return {"column": row.column, "in": list(row.values)}
    return {"column": row.column, row.test: _given(row.values[0] if row.values else "", field)}


def _given(text: str, field: str) -> str:
    if not text:
        raise BadInput("missing_value", "This condition still needs a value.", field=field)
    return text


def _written(text: str, field: str, *, schema: Schema, table: str) -> Body:
    """The tree of a condition written as SQL."""
    if not text.strip():
        raise BadInput("empty_condition", "This condition is empty: write one, or remove it.", field=field)
    try:
        question = read_condition(text, schema=schema, table=table)
    except Refused as refused:
        refused.field = field
        raise
    if question.where is None or question.group_by:
        raise BadInput("bad_sql", "Expected a condition only, as after WHERE.", field=field)
    where = question.to_json()["where"]
    assert isinstance(where, dict)
    return where


def read_condition(text: str, *, schema: Schema, table: str, of_record: bool = False) -> Question:
    """The question that counts whom a condition selects, as it stands after WHERE; `of_record`: as `parse_sql` means it."""
    # parsed by the language, never sent to a database: whatever else it holds than a condition is refused
    sql = f"SELECT COUNT(*) FROM {name_text(table)} WHERE ({text}\n)"  # noqa: S608 — as above
    return parse_sql(sql, schema=schema, table=table, of_record=of_record)


def _grouping(group: Group, field: str) -> Body:
    if group.how == "bins":
        return {"column": group.column, "bins": _whole(group.text, f"{field}.bins")}
    if group.how == "edges":
        edges = [text for part in re.split(r"[,;\s]+", group.text) if (text := part.strip())]
        return {"column": group.column, "edges": edges}
    return {"column": group.column}


def _whole(text: str, field: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
        raise BadInput("bad_group", "Expected a whole number of bins.", field=field)
    return int(text)


def _accuracy(state: AskState) -> Body:
    amount = typed(state.amount, "accuracy")
    if state.kind == "rho":
        return {"rho": amount}
    if state.kind == "standard_error":
        return {"standard_error": amount}
    confidence = hundredth(typed(state.confidence, "accuracy.confidence"))
    if state.kind == "relative":
        return {"relative": hundredth(amount), "confidence": confidence}
    if state.kind != "within":
        raise BadInput("bad_choice", "Expected one of the kinds of accuracy in the list.", field="accuracy")
    body: Body = {"within": amount, "confidence": confidence}
    return body | {"simultaneous": True} if state.simultaneous else body


def typed(text: str, field: str) -> str:
    """A number as the API writes it; BadInput for one that may be two."""
    try:
        return with_point(text)
    except BadInput as refused:
        raise BadInput(refused.code, refused.detail, field=field) from None


def hundredth(text: str) -> str:
    """A percentage as a share, exactly; what is no number stays as it is, for the mechanism to refuse."""
    try:
        share = Decimal(text) / 100
    except InvalidOperation:
        return text
    return f"{share:f}" if share.is_finite() and abs(share.adjusted()) < 40 else text


def problem_of(refused: Refused) -> Problem:
    """What to tell, and which control it is about."""
    field = refused.field or ""
    if match := re.match(r"where\.(?:all|any)\[(\d+)\]", field):
        return Problem(f"row-{match[1]}", f"row-{match[1]}-column", f"Condition {int(match[1]) + 1}: {_plain(refused)}")
    if match := re.match(r"group_by\[(\d+)\]", field):
        return Problem(f"group-{match[1]}", f"group-{match[1]}-column", f"Group by: {_plain(refused)}")
    place = PLACES.get(field, PLACES.get(field.split(".")[0], ""))
    return Problem(place, place, _plain(refused))


PLACES = {
    "sql": "sql",
    "accuracy": "amount",
    "accuracy.confidence": "confidence",
    "label": "label",
    "under_scarcity": "under_scarcity",
    "group_by": "group-0",
    "where": "builder",
}


def _plain(refused: Refused) -> str:
    """The sentence without the API's name of the field in front of it; confidence in percent, as the form has it."""
    if refused.code == "bad_confidence":
        return "Expected a confidence between 50 % and 100 %, both excluded."
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    return detail[:1].upper() + detail[1:]
