"""The two views of the Ask form are one request: whatever is asked survives the way from SQL to rows and back."""

import itertools

import pytest

from curator.language import Question, bins_of, parse_ask, parse_sql
from curator.mechanism.schema import Schema
from curator.web.forms.ask_body import body_of
from curator.web.forms.ask_state import SQL_ROW, AskState
from curator.web.forms.ask_steps import to_conditions, to_sql
from tests.cast import SCHEMA

SCORE = {"name": "score", "kind": "integer", "low": 0, "high": 9, "missing": True, "out_of_domain": "other"}
PEOPLE = Schema.from_json({"columns": [*SCHEMA["columns"], SCORE]})
FROM = "SELECT COUNT(*) FROM people"

LEAVES = (
    "age = 30", "age <> 30", "age < 29.5", "age >= 40", "age BETWEEN 20 AND 40", "NOT age BETWEEN 20 AND 40", "age IN (1, 2, 3)",
    "sex = 'F'", "sex <> 'F'", "sex IN ('F', 'M')", "NOT sex IN ('F')", "city IS NULL", "city IS NOT NULL", "IS_OTHER(city)",
    "NOT IS_OTHER(city)", "member = TRUE", "member <> TRUE", "NOT member = FALSE", "city = 'Rome'", "NOT score < 5",
    "NOT score >= 5", "score < 5", "NOT score <> 5", "TRUE", "FALSE",
)  # fmt: skip
DEEP = ("NOT score < 5", "NOT score >= 5", "TRUE", "FALSE")
DEEPER = (
    "(age < 30 OR age >= 60) AND NOT (sex = 'F' AND member = TRUE)",
    "NOT (age < 30 OR (city = 'Rome' AND (sex = 'M' OR city IS NULL)))",
    "(sex = 'F') AND (member = TRUE OR NOT city IN ('Oslo', 'Lima')) AND age > 3",
)
GROUPS = ("sex, ", "BIN(age, 10), ", "EDGES(age, 0, 18, 65, 99), ", "city, member, ")


def regions(question: Question) -> list[tuple[tuple[str, ...], str]]:
    """What a question means: labels and canonical regions."""
    return [(bin_.label, bin_.region.digest) for bin_ in bins_of(question, PEOPLE)]


def asked(state: AskState) -> Question:
    """What the form asks, read as the API reads it."""
    return parse_ask(body_of(state, schema=PEOPLE, table="people"), schema=PEOPLE, table="people").question


def round_trip(sql: str) -> tuple[AskState, AskState]:
    rows = to_conditions(AskState(key="k", view="sql", sql=sql), PEOPLE, "people")
    return rows, to_sql(rows, PEOPLE, "people")


def questions() -> list[str]:
    pairs = [f"{FROM} WHERE {a} {joint} {b}" for a, b in itertools.combinations(LEAVES, 2) for joint in ("AND", "OR")]
    groups = [f"SELECT {group}COUNT(*) FROM people WHERE age >= 20 GROUP BY {group.strip(', ')}" for group in GROUPS]
    return [FROM, *(f"{FROM} WHERE {part}" for part in (*LEAVES, *DEEPER)), *pairs, *groups]


def test_no_request_changes_its_meaning_when_the_view_is_switched() -> None:
    told = questions()
    for sql in told:
        before = regions(parse_sql(sql, schema=PEOPLE, table="people"))
        rows, again = round_trip(sql)
        assert rows.view == "conditions"
        assert regions(asked(rows)) == before, sql
        assert again.view == "sql"
        assert regions(asked(again)) == before, sql
    assert len(told) > 400


def test_plain_tests_become_rows_and_only_deeper_ones_sql() -> None:
    rows, _ = round_trip(f"{FROM} WHERE " + " AND ".join(part for part in LEAVES if part not in DEEP))
    assert SQL_ROW not in {row.test for row in rows.rows}
    deep, _ = round_trip(f"{FROM} WHERE {DEEPER[0]}")
    assert [row.test for row in deep.rows] == [SQL_ROW, SQL_ROW]


@pytest.mark.parametrize("match", ["all", "any"])
def test_all_or_any_is_kept(match: str) -> None:
    joint = " AND " if match == "all" else " OR "
    rows, _ = round_trip(f"{FROM} WHERE " + joint.join(("age < 30", "sex = 'F'")))
    assert (rows.match, len(rows.rows)) == (match, 2)
