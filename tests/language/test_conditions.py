"""The JSON form of conditions: what it means, and which field is named when it is wrong."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.language import Question, bins_of, parse_json
from curator.language.conditions import MAX_DEPTH
from curator.mechanism.errors import BadInput, Refused, TooLarge
from tests.language.people import PEOPLE, region, region_json


@pytest.mark.parametrize(
    ("obj", "sql"),
    [
        ({"column": "age", "between": [30, 39]}, "age BETWEEN 30 AND 39"),
        ({"column": "city", "in": ["Rome", "Paris", "Rome"]}, "city IN ('Paris', 'Rome')"),
        ({"column": "age", "in": [5, "5", Decimal("5.0")]}, "age = 5"),
        ({"column": "age", "is_missing": True}, "age IS NULL"),
        ({"column": "age", "is_missing": False}, "age IS NOT NULL"),
        ({"column": "age", "is_other": True}, "IS_OTHER(age)"),
        ({"column": "age", "is_other": False}, "NOT IS_OTHER(age)"),
        ({"column": "sex", "equals": "F"}, "sex = 'F'"),
        ({"column": "sex", "not_equals": "F"}, "sex <> 'F'"),
        ({"column": "eligible", "equals": True}, "eligible"),
        ({"column": "share", "at_least": Decimal("0.30")}, "share >= 0.3"),
        ({"column": "share", "at_most": "0.3"}, "share <= 0.3"),
        ({"column": "age", "more_than": 30}, "age > 30"),
        ({"column": "age", "less_than": Decimal("29.5")}, "age < 29.5"),
        ({"column": "born", "between": ["2000-01-01", "2000-12-31"]}, "born BETWEEN '2000-01-01' AND '2000-12-31'"),
        ({"all": [{"column": "age", "at_least": 3}, {"not": {"column": "sex", "equals": "F"}}]}, "age >= 3 AND NOT sex = 'F'"),
        (
            {"any": [{"column": "age", "at_least": 3}, {"all": [{"always": True}, {"column": "sex", "equals": "F"}]}]},
            "age >= 3 OR sex = 'F'",
        ),
        ({"not": {"not": {"column": "age", "equals": 3}}}, "age = 3"),
        ({"always": True}, "TRUE"),
        ({"always": False}, "FALSE"),
    ],
)
def test_a_json_condition_and_the_same_in_sql_are_one_region(obj: object, sql: str) -> None:
    assert region_json(obj) == region(sql)


@pytest.mark.parametrize(
    ("obj", "code", "field"),
    [
        ({}, "empty_condition", "where"),
        (None, "bad_condition", "where"),
        ("age = 3", "bad_condition", "where"),
        ({"all": []}, "empty_condition", "where.all"),
        ({"any": {}}, "bad_condition", "where.any"),
        ({"all": [{"column": "age", "equals": 3}, {}]}, "empty_condition", "where.all[1]"),
        ({"all": [{}], "any": [{}]}, "bad_condition", "where"),
        ({"and": []}, "unknown_field", "where.and"),
        ({"not": [{"column": "age", "equals": 3}]}, "bad_condition", "where.not"),
        ({"always": 1}, "bad_condition", "where.always"),
        ({"equals": 3}, "unknown_field", "where.equals"),
        ({"column": "age"}, "bad_condition", "where"),
        ({"column": "age", "equals": 3, "in": [3]}, "bad_condition", "where"),
        ({"column": "age", "like": "3%"}, "unknown_field", "where.like"),
        ({"column": 3, "equals": 3}, "bad_condition", "where.column"),
        ({"column": "agee", "equals": 3}, "unknown_column", "where.column"),
        ({"column": "age", "in": []}, "empty_condition", "where.in"),
        ({"column": "age", "in": 3}, "bad_condition", "where.in"),
        ({"column": "age", "in": [3, None]}, "null_value", "where.in[1]"),
        ({"column": "age", "equals": None}, "null_value", "where.equals"),
        ({"column": "age", "equals": [3]}, "bad_value", "where.equals"),
        ({"column": "age", "equals": 0.5}, "bad_value", "where.equals"),
        ({"column": "age", "equals": 100}, "out_of_domain", "where.equals"),
        ({"column": "age", "not_equals": "x"}, "out_of_domain", "where.not_equals"),
        ({"any": [{"not": {"column": "sex", "in": ["F", "f"]}}]}, "out_of_domain", "where.any[0].not.in"),
        ({"column": "age", "between": [1, 2, 3]}, "bad_condition", "where.between"),
        ({"column": "age", "between": 3}, "bad_condition", "where.between"),
        ({"column": "age", "at_least": Decimal("NaN")}, "bad_value", "where.at_least"),
        ({"column": "age", "at_least": Decimal("Infinity")}, "bad_value", "where.at_least"),
        ({"column": "age", "at_least": Decimal("1e400")}, "bad_value", "where.at_least"),
        ({"column": "age", "at_least": True}, "bad_value", "where.at_least"),
        ({"column": "sex", "at_least": "F"}, "not_ordered", "where.at_least"),
        ({"column": "age", "is_missing": "yes"}, "bad_condition", "where.is_missing"),
        ({"column": "city", "is_other": True}, "no_other", "where.column"),
    ],
)
def test_alice_is_told_which_field_is_wrong(obj: object, code: str, field: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_json({"where": obj}, schema=PEOPLE)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert caught.value.detail


def nested(depth: int) -> object:
    obj: object = {"column": "age", "equals": 3}
    for _ in range(depth):
        obj = {"not": obj}
    return obj


def test_nesting_is_allowed_to_a_stated_depth() -> None:
    assert region_json(nested(MAX_DEPTH)) == region("age = 3")
    for depth in (MAX_DEPTH + 1, 900):
        with pytest.raises(TooLarge) as caught:
            region_json(nested(depth))
        assert (caught.value.code, caught.value.operands["maximum"]) == ("too_deep", MAX_DEPTH)


def test_unknown_parts_of_a_question_are_refused() -> None:
    with pytest.raises(BadInput) as caught:
        parse_json({"wher": {}}, schema=PEOPLE)
    assert (caught.value.code, caught.value.field) == ("unknown_field", "wher")
    assert 'Did you mean "where"' in caught.value.detail


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | st.text(max_size=5) | st.sampled_from(["age", "sex", "F", 5]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["where", "group_by", "column", "all", "any", "not", "in", "between", "equals", "bins", "edges", "x"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(anything)
def test_any_value_is_a_question_or_a_refusal(obj: object) -> None:
    for body in (
        obj,
        {"where": obj},
        {"group_by": [obj]},
        {"group_by": [{"column": "age", "edges": obj}]},
        {"where": {"column": "age", "in": obj}},
    ):
        try:
            asked = parse_json(body, schema=PEOPLE)
            bins_of(asked, PEOPLE)
        except Refused as refusal:
            assert refusal.detail.encode()
        else:
            assert Question.from_json(asked.to_json()) == asked


@pytest.mark.parametrize(
    "tree",
    [
        {"any": [{"column": "age", "equals": 1}] * 501},
        {"all": [{"not": {"any": [{"always": True}] * 2}}] * 251},
        {"any": [{"all": [{"column": "age", "equals": n}] * 50} for n in range(11)]},
    ],
)
def test_a_tree_of_too_many_conditions_is_refused_before_it_is_read(tree: dict[str, object]) -> None:
    with pytest.raises(TooLarge, match="at most 500 conditions") as caught:
        parse_json({"where": tree}, schema=PEOPLE)
    assert (caught.value.code, caught.value.field, caught.value.operands["maximum"]) == ("condition_too_long", "where", 500)


def test_five_hundred_conditions_and_a_long_list_of_values_are_read() -> None:
    assert parse_json({"where": {"any": [{"column": "age", "equals": 1}] * 500}}, schema=PEOPLE).where
    assert parse_json({"where": {"column": "age", "in": [1] * 7_500}}, schema=PEOPLE).where
