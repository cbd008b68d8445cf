"""What each button of the Ask form does to it, short of sending it."""

import re
from dataclasses import replace

from curator.language import Question, parse_json, parse_sql, write_sql
from curator.mechanism.schema import Schema
from curator.models import Contract
from curator.selectors.workspace import schema_of
from curator.web.forms.ask_body import body_of
from curator.web.forms.ask_state import AskState
from curator.web.forms.ask_switch import with_question


def rebuilt(state: AskState, step: str, contract: Contract) -> AskState:
    """The form after one button. Refused where the other view cannot be made of what is there."""
    schema, table = schema_of(contract), contract.version.table
    state = state.settled(schema)
    if match := re.fullmatch(r"(remove|ungroup)-(\d{1,3})", step, re.ASCII):
        place = int(match[2])
        return state.without_row(place) if match[1] == "remove" else state.without_group(place)
    if step == "add":
        return state.add_row(schema)
    if step == "group":
        return state.add_group(schema)
    if step == "to-sql":
        return to_sql(state, schema, table)
    if step == "to-conditions":
        return to_conditions(state, schema, table)
    return state


def to_sql(state: AskState, schema: Schema, table: str) -> AskState:
    """The same request, written as SQL."""
    if state.view == "sql":
        return state
    body = body_of(state, schema=schema, table=table)
    parts = {key: body[key] for key in ("where", "group_by") if key in body}
    question = parse_json(parts, schema=schema)
    return replace(state, view="sql", sql=write_sql(question, schema=schema, table=table))


def to_conditions(state: AskState, schema: Schema, table: str) -> AskState:
    """The same request, as rows."""
    if state.view == "conditions":
        return state
    question: Question = parse_sql(state.sql, schema=schema, table=table)
    return with_question(state, question, schema=schema, table=table)
