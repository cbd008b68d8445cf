"""What each text of a file becomes, and which schemas and question values are refused."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.errors import BadInput
from curator.mechanism.schema import Column, Schema

AGE = {"name": "age", "kind": "integer", "low": 0, "high": 99}
WRITTEN = {
    "columns": [
        AGE,
        {
            "name": "age band",
            "kind": "category",
            "values": ["young", "old"],
            "missing": True,
            "missing_texts": ["", "NA"],
            "title": "Band",
        },
        {"name": "rate", "kind": "decimal", "low": "-1.50", "high": 2, "step": "0.25", "missing": True, "out_of_domain": "other"},
        {"name": "born", "kind": "date", "low": "2020-01-01", "high": "2020-12-31", "missing": True, "out_of_domain": "missing"},
        {"name": "eligible", "kind": "boolean", "true_texts": ["Y"], "false_texts": ["N"]},
    ]
}


def columns(*entries: dict[str, object]) -> Schema:
    return Schema.from_json({"columns": list(entries)})


def labels(column: Column, *texts: str | None) -> list[str]:
    return [column.label(column.encode_text(text)) for text in texts]


def test_a_schema_survives_json_and_its_digest_is_stable() -> None:
    schema = Schema.from_json(WRITTEN)
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    assert again.digest == schema.digest
    assert again.to_json() == schema.to_json()
    assert schema.cells == 100 * 3 * 17 * 367 * 3


def test_codes_run_through_values_then_other_then_missing() -> None:
    rate = Schema.from_json(WRITTEN).column("rate")
    assert (rate.value_count, rate.other_code, rate.missing_code, rate.size) == (15, 15, 16, 17)
    assert [rate.label(code) for code in (0, 1, 6, 14, 15, 16)] == ["-1.50", "-1.25", "0.00", "2.00", "other", "missing"]


def test_whole_numbers_clamp_to_the_bounds_and_fall_to_the_value_below() -> None:
    age = columns(AGE).column("age")
    assert labels(age, " 34 ", "34.0", "3.4e1", "5.7", "-3", "1e309", "-1e999", "99.5") == [
        "34",
        "34",
        "34",
        "5",
        "0",
        "99",
        "0",
        "99",
    ]


def test_unreadable_and_blank_texts_fall_to_the_lowest_value_where_nothing_else_is_declared() -> None:
    age = columns(AGE).column("age")
    assert labels(age, "abc", "nan", "inf", "", None, "0x1f", "1_000", "٣") == ["0"] * 8


def test_blank_is_missing_and_unreadable_is_other_where_both_are_declared() -> None:
    rate = Schema.from_json(WRITTEN).column("rate")
    assert labels(rate, "", None, "  ", "abc", "NaN", "9") == ["missing", "missing", "missing", "other", "other", "other"]
    assert labels(rate, "-1.5", "0.3", "2.0") == ["-1.50", "0.25", "2.00"]


def test_a_declared_missing_number_is_missing_however_it_is_spelled() -> None:
    wage = columns({**AGE, "name": "wage", "missing": True, "missing_texts": ["", "-9", "none"]}).column("wage")
    assert labels(wage, "-9", "-9.0", "none", "-8") == ["missing", "missing", "missing", "0"]


def test_dates_are_read_with_or_without_a_time_and_out_of_range_follows_the_rule() -> None:
    born = Schema.from_json(WRITTEN).column("born")
    assert labels(born, "2020-02-29", "2020-02-29 10:30:00", "2021-01-01", "29/02/2020") == [
        "2020-02-29",
        "2020-02-29",
        "missing",
        "missing",
    ]


def test_categories_match_by_exact_text_after_the_trim_rule() -> None:
    band = Schema.from_json(WRITTEN).column("age band")
    assert labels(band, " young", "old ", "Young", "NA", "") == ["young", "old", "missing", "missing", "missing"]
    cafe = columns({"name": "x", "kind": "category", "values": ["café"], "out_of_domain": "other"}).column("x")
    assert labels(cafe, "café", "cafe") == ["café", "other"]


def test_words_like_na_stay_text_unless_they_are_declared_as_missing() -> None:
    word = columns({"name": "x", "kind": "category", "values": ["NA", "None", "null", "nan"], "missing": True}).column("x")
    assert labels(word, "NA", "None", "null", "nan", "") == ["NA", "None", "null", "nan", "missing"]


def test_categories_typed_as_numbers_match_whole_numbers() -> None:
    code = columns({"name": "x", "kind": "category", "values": [1, "2", "02"], "out_of_domain": "other"}).column("x")
    assert labels(code, "1", "1.0", "2.00", "02", "01", "1.5") == ["1", "1", "2", "02", "other", "other"]
    both = columns({"name": "x", "kind": "category", "values": ["1", "1.0"], "out_of_domain": "other"}).column("x")
    assert labels(both, "1", "1.0", "1.00") == ["1", "1.0", "other"]


def test_booleans_take_the_texts_that_the_curator_maps() -> None:
    eligible = Schema.from_json(WRITTEN).column("eligible")
    assert labels(eligible, "Y", "n", "true", "") == ["true", "false", "other", "other"]
    usual = columns({"name": "x", "kind": "boolean", "missing": True}).column("x")
    assert labels(usual, "true", "FALSE", "1", "0.0", "") == ["true", "false", "true", "false", "missing"]


@given(st.text() | st.none())
def test_every_text_has_a_code_in_every_column(text: str | None) -> None:
    for column in Schema.from_json(WRITTEN).columns:
        assert 0 <= column.encode_text(text) < column.size


@given(st.integers(0, 2**31 - 6))
def test_labels_of_a_large_column_read_back_as_their_codes(code: int) -> None:
    column = columns({"name": "x", "kind": "decimal", "low": "-7.5", "high": "214748356.8", "step": "0.1"}).column("x")
    assert column.encode_text(column.label(code)) == column.encode_literal(column.label(code)) == code


def test_a_value_called_other_does_not_share_its_label_with_the_other_element() -> None:
    column = columns(
        {"name": "x", "kind": "category", "values": ["other", "missing"], "missing": True, "out_of_domain": "other"}
    ).column("x")
    assert [column.label(code) for code in range(4)] == ["other", "missing", "(other)", "(missing)"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (100, "from 0 to 99"),
        (-1, "from 0 to 99"),
        ("5.5", "whole number"),
        ("abc", "whole number"),
        (True, "whole number"),
        pytest.param(10**9999, "30 digits", id="huge"),
    ],
)
def test_alice_hears_what_was_expected_of_a_value_outside_the_domain(value: object, said: str) -> None:
    with pytest.raises(BadInput, match=said) as refusal:
        columns(AGE).column("age").encode_literal(value)  # type: ignore[arg-type]  # any JSON value
    assert refusal.value.code == "out_of_domain"


@pytest.mark.parametrize("value", [5, "5", "5.0", Decimal("5.00"), " 5 ", "0.5e1"])
def test_a_number_is_the_same_value_however_it_is_spelled(value: str | int | Decimal) -> None:
    assert columns(AGE).column("age").encode_literal(value) == 5


def test_a_near_category_is_suggested_and_missing_is_pointed_to_is_null() -> None:
    band = Schema.from_json(WRITTEN).column("age band")
    with pytest.raises(BadInput, match='Did you mean "young"'):
        band.encode_literal("Young")
    with pytest.raises(BadInput, match="IS NULL"):
        band.encode_literal("NA")


@pytest.mark.parametrize("value", ["1e400", "nan", "inf", "-inf", "1e-400", "", "a"])
def test_what_is_no_number_cannot_be_compared_with(value: str) -> None:
    with pytest.raises(BadInput) as refusal:
        columns(AGE).column("age").position(value)
    assert refusal.value.code == "bad_value"


def test_an_unknown_column_suggests_the_near_name_and_names_are_case_sensitive() -> None:
    schema = columns(AGE, {**AGE, "name": "AGE"}, {**AGE, "name": "a-b"}, {**AGE, "name": "a_b"})
    assert schema.column("AGE") != schema.column("age")
    assert schema.place("a-b") != schema.place("a_b")
    for name, near in [("Age", "age"), ("a_B", "a_b"), ("agee", "age")]:
        with pytest.raises(BadInput, match=f'Did you mean "{near}"') as refusal:
            schema.column(name)
        assert refusal.value.code == "unknown_column"


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({**AGE, "low": 100}, "columns[1].high"),
        ({**AGE, "low": "abc"}, "columns[1].low"),
        ({**AGE, "low": 0.5, "high": 1.5}, "columns[1].low"),
        ({**AGE, "high": "1e400"}, "columns[1].high"),
        ({**AGE, "high": float("inf")}, "columns[1].high"),
        ({**AGE, "high": 2**31}, "columns[1].step"),
        ({**AGE, "high": 10**9999}, "columns[1].high"),
        ({**AGE, "colour": "red"}, "columns[1].colour"),
        ({**AGE, "kind": "float"}, "columns[1].kind"),
        ({**AGE, "name": " "}, "columns[1].name"),
        ({**AGE, "name": "a\nb"}, "columns[1].name"),
        ({**AGE, "name": "age"}, "columns[1].name"),
        ({**AGE, "missing": "yes"}, "columns[1].missing"),
        ({**AGE, "out_of_domain": "drop"}, "columns[1].out_of_domain"),
        ({**AGE, "out_of_domain": "missing"}, "columns[1].out_of_domain"),
        ({**AGE, "values": ["1"]}, "columns[1].values"),
        ({"name": "x", "kind": "integer", "low": 0}, "columns[1].high"),
        ({"name": "x", "kind": "decimal", "low": 0, "high": 1}, "columns[1].step"),
        ({"name": "x", "kind": "decimal", "low": 0, "high": 1, "step": 0}, "columns[1].step"),
        ({"name": "x", "kind": "decimal", "low": 0, "high": 1, "step": "0.3"}, "columns[1].high"),
        ({"name": "x", "kind": "date", "low": "2020-01-01", "high": "2020-13-01"}, "columns[1].high"),
        ({"name": "x", "kind": "category", "values": []}, "columns[1].values"),
        ({"name": "x", "kind": "category", "values": ["a", "a "]}, "columns[1].values"),
        ({"name": "x", "kind": "category", "values": "ab"}, "columns[1].values"),
        ({"name": "x", "kind": "category", "values": ["a"], "out_of_domain": "clamp"}, "columns[1].out_of_domain"),
        ({"name": "x", "kind": "category", "values": ["NA"], "missing_texts": ["NA"]}, "columns[1].missing_texts"),
        ({"name": "x", "kind": "boolean", "true_texts": ["1"], "false_texts": ["1"]}, "columns[1].false_texts"),
        ({"kind": "integer"}, "columns[1].name"),
        ("age", "columns[1]"),
    ],
)
def test_carol_is_told_which_part_of_her_schema_is_wrong(entry: object, field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        Schema.from_json({"columns": [AGE, entry]})
    assert (refusal.value.code, refusal.value.field) == ("bad_schema", field)


@pytest.mark.parametrize("written", [None, [], {}, {"columns": {}}, {"columns": []}, {"columns": [AGE], "rows": 3}])
def test_something_else_is_no_schema(written: object) -> None:
    with pytest.raises(BadInput):
        Schema.from_json(written)
