"""SQL that is refused: with its place, its reason and what was expected; and nothing but a refusal on any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curator.language import bins_of, parse_sql, region_of
from curator.mechanism.errors import BadInput, Refused, TooLarge
from curator.mechanism.schema import Schema
from tests.language.people import PEOPLE, question


def refused(sql: str) -> Refused:
    with pytest.raises(Refused) as caught:
        bins_of(parse_sql(sql, schema=PEOPLE, table="people"), PEOPLE)
    return caught.value


@pytest.mark.parametrize(
    ("sql", "code", "said"),
    [
        ("", "empty_condition", "Expected SELECT COUNT(*) FROM people"),
        (" -- nothing\n", "empty_condition", "Expected SELECT COUNT(*) FROM people"),
        ("SELECT 1", "not_a_count", "expected COUNT(*), once"),
        ("SELECT * FROM people", "not_a_count", "expected COUNT(*), once"),
        ("SELECT COUNT(*), COUNT(*) FROM people", "not_a_count", "once"),
        ("SELECT COUNT(age) FROM people", "not_a_count", "write COUNT(*)"),
        ("SELECT COUNT(DISTINCT age) FROM people", "bad_sql", "distinct persons already"),
        ("SELECT COUNT(*), age FROM people", "not_a_count", 'column 18 near "age": only COUNT(*) and grouped columns'),
        ("SELECT COUNT(*) AS n FROM people", "bad_sql", "results need no names"),
        ("SELECT COUNT(*) + 1 FROM people", "not_a_count", "expected COUNT(*)"),
        ("SELECT SUM(income) FROM people", "not_a_count", 'near "SUM(income)"'),
        ("SELECT COUNT(*) FROM persons", "unknown_table", "expected FROM people"),
        ("SELECT COUNT(*) FROM other.people", "bad_sql", "DB is not part of a question"),
        ("SELECT COUNT(*) FROM people p", "bad_sql", "ALIAS is not part of a question"),
        ("SELECT COUNT(*) FROM people, people", "bad_sql", "JOINS is not part of a question"),
        ("SELECT COUNT(*) FROM people JOIN people", "bad_sql", "a question is about one table"),
        ("SELECT COUNT(*) FROM (SELECT 1)", "unknown_table", "expected FROM people"),
        ("SELECT COUNT(*)", "unknown_table", "expected FROM people"),
        ("DELETE FROM people", "bad_sql", 'column 1 near "DELETE"'),
        ("SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people", "bad_sql", "one SELECT"),
        ("SELECT COUNT(*) FROM people; DROP TABLE people", "bad_sql", 'near "DROP"'),
        ("SELECT COUNT(*) FROM people LIMIT 5", "bad_sql", "every bin is answered"),
        ("SELECT COUNT(*) FROM people ORDER BY age", "bad_sql", "order of the domain"),
        ("SELECT COUNT(*) FROM people GROUP BY sex HAVING COUNT(*) > 3", "bad_sql", "exact counts"),
        ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", "bad_sql", "one SELECT"),
        ("WITH people AS (SELECT 1) SELECT COUNT(*) FROM people", "bad_sql", 'near "WITH"'),
        ("SELECT COUNT(*) FROM people WHERE", "bad_sql", "something is missing here"),
        ("SELECT COUNT(*) FROM people WHERE (age = 1", "bad_sql", "closing bracket is missing"),
        ("SELECT COUNT(*) FROM people WHERE age = 1 5", "bad_sql", 'near "5": this is not expected here'),
        ("SELECT COUNT(*) FROM people WHERE age = 'x", "bad_sql", "breaks off"),
        ("SELECT COUNT(*)\nFROM people\nWHERE age = 1\n  AND city LIKE 'R%'", "bad_sql", 'line 4, column 12 near "LIKE"'),
        ("SELECT COUNT(*) FROM people WHERE age", "bad_sql", "boolean"),
        ("SELECT COUNT(*) FROM people WHERE 1", "bad_sql", "expected a condition such as"),
        ("SELECT COUNT(*) FROM people WHERE age = income", "bad_sql", "columns are not compared"),
        ("SELECT COUNT(*) FROM people WHERE age = age + 1", "bad_sql", "this is not expected here|expected a text"),
        ("SELECT COUNT(*) FROM people WHERE capital-gain = 1", "bad_sql", "double quotes"),
        ('SELECT COUNT(*) FROM people WHERE city = "Rome"', "bad_sql", "single quotes"),
        ("SELECT COUNT(*) FROM people WHERE age = NULL", "null_value", "IS NULL"),
        ("SELECT COUNT(*) FROM people WHERE age IN (1, NULL)", "null_value", "IS NULL"),
        ("SELECT COUNT(*) FROM people WHERE age NOT IN (NULL)", "null_value", "IS NULL"),
        ("SELECT COUNT(*) FROM people WHERE age IN ()", "empty_condition", "at least one value"),
        ("SELECT COUNT(*) FROM people WHERE age IN (SELECT 1)", "bad_sql", "QUERY is not part of a question"),
        ("SELECT COUNT(*) FROM people WHERE eligible IS TRUE", "bad_sql", "IS takes NULL"),
        ("SELECT COUNT(*) FROM people WHERE ABS(age) = 1", "bad_sql", "name of a column"),
        ("SELECT COUNT(*) FROM people WHERE AGE(age)", "bad_sql", "only function"),
        ("SELECT COUNT(*) FROM people WHERE agee = 1", "unknown_column", 'Did you mean "age"'),
        ("SELECT COUNT(*) FROM people WHERE Age = 1", "unknown_column", 'Did you mean "age"'),
        ("SELECT COUNT(*) FROM people WHERE dogs.age = 1", "unknown_column", "expected a column of people"),
        ("SELECT COUNT(*) FROM people WHERE age = 100", "out_of_domain", "from 0 to 99"),
        ("SELECT COUNT(*) FROM people WHERE age IN (5, 5.5)", "out_of_domain", "whole number"),
        ("SELECT COUNT(*) FROM people WHERE age <> 100", "out_of_domain", "from 0 to 99"),
        ("SELECT COUNT(*) FROM people WHERE sex = 'f'", "out_of_domain", 'Did you mean "F"'),
        ("SELECT COUNT(*) FROM people WHERE share = 0.33", "out_of_domain", "steps of 0.05"),
        ("SELECT COUNT(*) FROM people WHERE born = '2000-02-30'", "out_of_domain", "a date from 1920-01-01"),
        ("SELECT COUNT(*) FROM people WHERE born < '29/02/2000'", "bad_value", "YYYY-MM-DD"),
        ("SELECT COUNT(*) FROM people WHERE age < 'abc'", "bad_value", "expected a number"),
        ("SELECT COUNT(*) FROM people WHERE age < 1e309", "bad_number", "between -10^30 and 10^30"),
        ("SELECT COUNT(*) FROM people WHERE sex < 'M'", "not_ordered", "no order"),
        ("SELECT COUNT(*) FROM people WHERE IS_OTHER(city)", "no_other", "not kept apart"),
        ("SELECT COUNT(*) FROM people GROUP BY age, sex, city", "bad_group", "at most 2"),
        ("SELECT COUNT(*) FROM people GROUP BY sex, sex", "bad_group", "twice"),
        ("SELECT COUNT(*) FROM people GROUP BY 1", "not_a_count", "expected a column"),
        ("SELECT COUNT(*) FROM people GROUP BY ROLLUP(sex)", "bad_sql|not_a_count", "expected a column|not understood|part of"),
        ("SELECT COUNT(*) FROM people GROUP BY BIN(age)", "bad_group", "whole number of bins"),
        ("SELECT COUNT(*) FROM people GROUP BY BIN(age, 2.5)", "bad_group", "whole number of bins"),
        ("SELECT COUNT(*) FROM people GROUP BY BIN(sex, 2)", "not_ordered", "grouped by its values"),
        ("SELECT COUNT(*) FROM people GROUP BY BIN(age, 1000000)", "too_many_bins", "at most 100 bins"),
    ],
)
def test_what_is_no_count_is_refused_with_place_and_reason(sql: str, code: str, said: str) -> None:
    refusal = refused(sql)
    assert refusal.code in code.split("|")
    assert any(part in refusal.detail for part in said.split("|")), refusal.detail
    assert isinstance(refusal, BadInput)
    assert refusal.field is not None
    if (
        refusal.field == "sql"
        and refusal.code not in ("empty_condition",)
        and "breaks off" not in said
        and "one SELECT" not in said
    ):
        assert refusal.detail.startswith("SQL line ")


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("NOT " * 10_000 + "age = 1", "too_deep"),
        ("(" * 10_000 + "age = 1" + ")" * 10_000, "too_deep"),
        ("NOT (" * 33 + "age = 1" + ")" * 33, "too_deep"),
        ("age = " + "- " * 9_000 + "1", "too_deep"),
        ("age IN (" + ",".join(["1"] * 10**6) + ")", "body_too_large"),
        ("city = '" + "é" * 40_000 + "'", "body_too_large"),
        (" OR ".join(["age = 1"] * 501), "condition_too_long"),
        (" AND ".join(["(age = 1 OR age BETWEEN 2 AND 3)"] * 251), "condition_too_long"),
        (" OR ".join(["TRUE"] * 6_000), "condition_too_long"),
        (" OR ".join(["(" * 30 + "age = 1" + ")" * 30] * 100), "condition_too_long"),
        ("age IN (" + ",".join(["1"] * 8_001) + ")", "condition_too_long"),
        ("born IN (" + ",".join(["DATE ''"] * 4_000) + ")", "condition_too_long"),
    ],
)
def test_parser_bombs_are_refused_before_the_parser_sees_them(where: str, code: str) -> None:
    refusal = refused(f"SELECT COUNT(*) FROM people WHERE {where}")
    assert isinstance(refusal, TooLarge)
    assert (refusal.code, refusal.field) == (code, "sql")


def test_as_many_conditions_as_may_be_are_read() -> None:
    assert question(" OR ".join(f"people.age IS NOT NULL AND NOT (age BETWEEN 2 AND {n % 9 + 2})" for n in range(250)))
    assert question(" OR ".join(["age = 1"] * 500))
    assert question("age IN (" + ",".join(["1"] * 7_500) + ")")


def test_a_condition_past_the_cap_is_refused_and_the_next_one_is_served() -> None:
    schema = Schema.from_json({"columns": [{"name": f"c{n}", "kind": "integer", "low": 0, "high": 3} for n in range(40)]})
    tangled = " AND ".join(f"(c{n} = 1 OR c{n + 20} = 1)" for n in range(20))
    with pytest.raises(TooLarge, match="too intricate") as caught:
        region_of(question(tangled, schema), schema)
    assert caught.value.code == "region_too_large"
    untangled = " AND ".join(f"(c{2 * n} = 1 OR c{2 * n + 1} = 1)" for n in range(20))
    assert len(region_of(question(untangled, schema), schema).nodes) == 40


def test_a_refusal_echoes_no_control_characters_and_no_long_text() -> None:
    refusal = refused("SELECT COUNT(*) FROM people WHERE city = 'x\nINFO ok\x1b" + "y" * 500 + "'")
    assert "\n" not in refusal.detail
    assert "\x1b" not in refusal.detail
    assert len(refusal.detail) < 400


LANGUAGE = r"""
SELECT COUNT(*) FROM people WHERE age sex city share born eligible = <> < >= AND OR NOT IN BETWEEN IS NULL ( ) , . ; * +
- 5 0.5 1e9 'F' 'Rome' "age" TRUE FALSE DATE '2000-01-01' GROUP BY BIN EDGES IS_OTHER LIKE CASE -- /* */ :: || [ ] { }
$x ? @ ` # \ ' " 0x1 12ab é 年 CAST ANY ALL ESCAPE OVER ROLLUP INTERVAL VALUES
"""
WORDS = [*LANGUAGE.split(), "\x00", "\ud800"]
pieces = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=14)


@settings(max_examples=1_500)
@given(st.booleans(), pieces, st.sampled_from([" ", "", "\n"]))
@example(False, ["--", "?"], " ")
def test_any_text_is_a_question_or_a_refusal(begun: bool, words: list[str], between: str) -> None:
    sql = ("SELECT COUNT(*) FROM people WHERE " if begun else "") + between.join(words)
    try:
        bins_of(parse_sql(sql, schema=PEOPLE, table="people"), PEOPLE)
    except Refused as refusal:
        assert refusal.detail.encode()
        assert refusal.code
