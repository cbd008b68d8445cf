"""SQL that is understood: one region for one meaning, however it is spelled."""

import pytest

from curator.language import parse_sql, region_of, write_sql
from curator.language.question import GroupBy
from curator.mechanism.region import Region, descriptor_digest
from curator.mechanism.schema import Schema
from tests.language.people import PEOPLE, grouped, question, region, region_json

EVERYBODY = Region.full(PEOPLE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age >= 30 AND sex = 'F'", "sex = 'F' AND age >= 30"),
        ("city IN ('Rome', 'Paris')", "city IN ('Paris', 'Rome', 'Paris', 'Rome')"),
        ("age = 5", "age = 5.0"),
        ("age = 5", "age = '5'"),
        ("age = 5", "5 = age"),
        ("age = 5", "people.age = 5"),
        ("age = 5", "age IN (5) -- in other words\n"),
        ("NOT NOT age = 5", "age = 5"),
        ("age < 30 OR age >= 30", "age < 50 OR age >= 50"),
        ("income < 30 OR income >= 30", "TRUE"),
        ("30 <= age AND 40 > age", "age BETWEEN 30 AND 39"),
        ("age < 29.5", "age <= 29"),
        ("age <> 5", "NOT age = 5"),
        ("age != 5", "age NOT IN (5)"),
        ("NOT age BETWEEN 5 AND 9", "age NOT BETWEEN 5 AND 9"),
        ("NOT age < 30", "age >= 30 OR IS_OTHER(age)"),
        ("age IS NOT NULL", "NOT age IS NULL"),
        ("NOT (age > 30 AND sex = 'F')", "NOT age > 30 OR NOT sex = 'F'"),
        ("eligible", "eligible = TRUE"),
        ("NOT eligible", "eligible = FALSE"),
        ("eligible = 1", "eligible = 'yes'"),
        ("share = .25", "share = 0.250"),
        ("share < 1e-1", "share <= 0.05"),
        ("born >= DATE '2000-02-29'", "born > '2000-02-28'"),
        ("age < 0", "FALSE"),
        ("age > -5 OR age IS NULL OR IS_OTHER(age)", "TRUE"),
        ("age = +5", "age = 5"),
        ("age BETWEEN 9 AND 5", "FALSE"),
        ("city = 1", "city = '1'"),
        ("city = 'Rome' OR city = 'rome'", "city IN ('Rome', 'rome')"),
        ("sex IN ('F', 'M')", "NOT IS_OTHER(sex)"),
        ("sex IS NULL", "FALSE"),
        ("age = 5 OR (sex = 'F' AND (age = 5 OR age = 6))", "age = 5 OR sex = 'F' AND age = 6"),
    ],
)
def test_two_spellings_of_one_meaning_are_one_descriptor(one: str, other: str) -> None:
    assert region(one) == region(other)
    assert descriptor_digest("v", "count", region(one)) == descriptor_digest("v", "count", region(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age >= 30", "age > 30"),
        ("city = 'Rome'", "city = 'rome'"),
        ("age IS NOT NULL", "TRUE"),
        ("age < 30 OR age >= 30", "age IS NOT NULL"),  # `other` is neither below nor above
        ("NOT age < 30", "age >= 30"),
        ("share < 0.5 OR share >= 0.5", "TRUE"),  # missing is allowed
    ],
)
def test_conditions_that_differ_in_a_cell_never_share_a_descriptor(one: str, other: str) -> None:
    assert region(one) != region(other)


def test_no_other_declared_means_a_split_is_not_missing() -> None:
    assert region("share < 0.5 OR share >= 0.5") == region("share IS NOT NULL")


def test_only_is_missing_selects_missing_records() -> None:
    for where in ("age = 5", "NOT age = 5", "age < 30", "NOT age < 30", "age NOT IN (5)", "IS_OTHER(age)", "NOT IS_OTHER(age)"):
        assert region(where).is_disjoint(region("age IS NULL")), where
    assert region("age = 5 OR age IS NULL") != region("age = 5")


def test_without_a_condition_everybody_is_counted() -> None:
    asked = parse_sql("select count(*) from PEOPLE;", schema=PEOPLE, table="people")
    assert asked.where is None
    assert region_of(asked, PEOPLE) == EVERYBODY


def test_a_bin_is_the_same_region_as_the_count_of_it() -> None:
    assert grouped("GROUP BY BIN(age, 10)")["30 to 39",] == region("30 <= age AND age < 40")


ODD = [
    "capital-gain",
    "a.b",
    "a b",
    "order",
    '"q"',
    "100%",
    "年齢",
    "date",
    "select",
    "not",
    "in",
    "count",
    "bin",
    "x",
    "people",
    "true",
    "🙂",
    "o'x",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_work_in_sql_and_json(name: str) -> None:
    schema = Schema.from_json(
        {"columns": [{"name": other, "kind": "integer", "low": 0, "high": 9, "missing": True} for other in ODD]}
    )
    quoted = '"' + name.replace('"', '""') + '"'
    asked = question(f"{quoted} >= 3 AND NOT {quoted} = 7", schema)
    wanted = Region.of(schema, name, [(3, 6), (8, 9)])
    assert region_of(asked, schema) == wanted
    assert region_json({"all": [{"column": name, "at_least": 3}, {"column": name, "not_equals": 7}]}, schema) == wanted
    assert region(wanted.text(), schema) == wanted
    assert len(grouped(f"GROUP BY BIN({quoted}, 5)", schema)) == 6
    again = write_sql(asked, schema=schema, table="people")
    assert region_of(parse_sql(again, schema=schema, table="people"), schema) == wanted


@pytest.mark.parametrize(
    "name", ["order", "date", "年齢", "x", "count", "people", "rank", "end", "interval", "values", "year", "key"]
)
def test_words_that_sql_keeps_for_itself_are_names_where_the_schema_says_so(name: str) -> None:
    schema = Schema.from_json({"columns": [{"name": name, "kind": "integer", "low": 0, "high": 9}]})
    assert region(f"{name} >= 3 AND {name} < 5 OR NOT {name} IN (1, 2)", schema) == Region.of(schema, name, [(0, 0), (3, 9)])
    assert len(grouped(f"GROUP BY {name}", schema)) == 10


def test_names_in_other_unicode_forms_are_the_same_column() -> None:
    schema = Schema.from_json({"columns": [{"name": "café", "kind": "category", "values": ["é"], "out_of_domain": "other"}]})
    assert region("\"cafe\u0301\" = 'e\u0301'", schema) == Region.of(schema, "café", [(0, 0)])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people",
        "SELECT COUNT(*) FROM people WHERE age >= 40 AND (sex = 'F' OR city IN ('Rome', 'O''Hare')) AND NOT share < 0.35",
        "SELECT COUNT(*) FROM people WHERE NOT (age IS NULL OR born BETWEEN DATE '1950-01-01' AND DATE '1959-12-31')",
        "SELECT COUNT(*) FROM people WHERE NOT NOT eligible = FALSE AND age NOT BETWEEN 5 AND 7 AND city NOT IN ('Rome')",
        "SELECT COUNT(*) FROM people WHERE IS_OTHER(sex) OR TRUE AND NOT FALSE",
        "SELECT BIN(age, 7), sex, COUNT(*) FROM people WHERE income > 1000 GROUP BY BIN(age, 7), sex",
        "SELECT EDGES(share, 0, 0.25, 1.0), COUNT(*) FROM people GROUP BY EDGES(share, 0, 0.25, 1.0)",
        "SELECT COUNT(*) FROM people GROUP BY EDGES(born, (DATE '1950-01-01', DATE '1960-01-01'), ('1970-01-01', '1980-01-01'))",
    ],
)
def test_what_we_write_reads_back_as_the_same_question(sql: str) -> None:
    asked = parse_sql(sql, schema=PEOPLE, table="people")
    again = write_sql(asked, schema=PEOPLE, table="people")
    assert parse_sql(again, schema=PEOPLE, table="people") == asked
    assert write_sql(parse_sql(again, schema=PEOPLE, table="people"), schema=PEOPLE, table="people") == again


def test_grouped_columns_may_stand_beside_the_count_in_any_order() -> None:
    asked = parse_sql("SELECT sex, COUNT(*), BIN(age, 2) FROM people GROUP BY BIN(age, 2), sex", schema=PEOPLE, table="people")
    assert asked.group_by == (GroupBy("age", bins=2), GroupBy("sex"))


def test_a_long_list_of_conditions_is_one_flat_list() -> None:
    many = "SELECT COUNT(*) FROM people WHERE " + " OR ".join(f"income={n * 20}" for n in range(2_000))
    kept = region_of(parse_sql(many, schema=PEOPLE, table="people", of_record=True), PEOPLE)  # asked before there was a limit
    assert kept.cells == region("income = 0").cells * 2_000
    listed = ",".join(str(n * 20) for n in range(2_000))
    assert region(f"income IN ({listed})") == kept


def test_deep_but_allowed_nesting_is_read_and_written() -> None:
    where = "age = 5"
    for number in range(15):
        where = f"NOT (sex = 'F' AND income > {number} OR {where})"
    asked = question(where)
    again = write_sql(asked, schema=PEOPLE, table="people")
    assert region_of(parse_sql(again, schema=PEOPLE, table="people"), PEOPLE) == region_of(asked, PEOPLE)
