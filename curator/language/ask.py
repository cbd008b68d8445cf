"""The request body of the API, read whole: the question, how exact, what to do under scarcity, and a label."""

from collections.abc import Mapping
from dataclasses import dataclass

from curator.language.conditions import unknown_field
from curator.language.question import Question, parse_json
from curator.language.sql_read import parse_sql
from curator.mechanism.accuracy import Target, parse_target
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.errors import BadInput
from curator.mechanism.schema import Schema
from curator.mechanism.values import MAX_TEXT, echo, has_control, hint, normalise

FIELDS = ("sql", "where", "group_by", "accuracy", "under_scarcity", "label")


@dataclass(frozen=True, slots=True)
class Ask:
    """One question with what is wanted of its answer."""

    question: Question
    target: Target
    under_scarcity: UnderScarcity
    label: str


def parse_ask(body: object, *, schema: Schema, table: str) -> Ask:
    """The body `{"sql" | "where" and "group_by", "accuracy", "under_scarcity", "label"}`; refuses (BadInput) with the field."""
    if not isinstance(body, Mapping):
        raise BadInput("bad_json", f"Expected an object with sql or where, and accuracy, not {echo(body)}.")
    for key in body:
        if key not in FIELDS:
            raise unknown_field("A request", key, hint(str(key), FIELDS))
    question = _question(body, schema, table)
    if "accuracy" not in body:
        raise BadInput("no_accuracy", 'Say how exact: for example {"within": 25, "confidence": 0.95}.', field="accuracy")
    target = parse_target(body["accuracy"])
    return Ask(question, target, _under_scarcity(body.get("under_scarcity", "partial")), _label(body.get("label", "")))


def _question(body: Mapping[str, object], schema: Schema, table: str) -> Question:
    if "sql" not in body:
        parts = {key: body[key] for key in ("where", "group_by") if key in body}
        if not parts:
            detail = 'Say whom to count: where, group_by or sql. Everybody is {"always": true}.'
            raise BadInput("empty_condition", detail, field="where")
        return parse_json(parts, schema=schema)
    for key in ("where", "group_by"):
        if key in body:
            raise BadInput("bad_sql", f"Expected sql or {key}, not both.", field=key)
    if not isinstance(body["sql"], str):
        raise BadInput("bad_sql", f"Expected SQL text, not {echo(body['sql'])}.", field="sql")
    return parse_sql(body["sql"], schema=schema, table=table)


def _under_scarcity(value: object) -> UnderScarcity:
    choices = [str(choice.value) for choice in UnderScarcity]
    if not isinstance(value, str) or value not in choices:
        raise BadInput("bad_choice", f"Expected {' or '.join(choices)}, not {echo(value)}.", field="under_scarcity")
    return UnderScarcity(value)


def _label(value: object) -> str:
    if not isinstance(value, str):
        raise BadInput("bad_label", f"Expected a text, not {echo(value)}.", field="label")
    label = normalise(value)
    if len(label) > MAX_TEXT or has_control(label):
        detail = f"A label has at most {MAX_TEXT} characters and no control characters."
        raise BadInput("bad_label", detail, field="label", maximum=MAX_TEXT)
    return label
