"""The body of a request, from bytes to a question with its accuracy."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.language import Ask, guard_text, parse_ask, region_of
from curator.language.guard import MAX_BODY, MAX_JSON_DEPTH
from curator.mechanism.accuracy import Within
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.errors import BadInput, Refused, TooLarge
from tests.language.people import PEOPLE, region

WHERE = {"column": "age", "at_least": 40}
ACCURACY = {"within": 25, "confidence": "0.95"}
GOOD = {"where": WHERE, "accuracy": ACCURACY}


def ask(body: object) -> Ask:
    return parse_ask(body, schema=PEOPLE, table="people")


def refused(body: object) -> Refused:
    with pytest.raises(Refused) as caught:
        ask(body)
    return caught.value


def test_alice_asks_by_conditions_or_by_sql_and_means_the_same() -> None:
    by_json = ask(guard_text(json.dumps({"where": WHERE, "accuracy": {"within": 25, "confidence": 0.95}}).encode()))
    by_sql = ask({"sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "accuracy": ACCURACY})
    assert by_json.target == by_sql.target == Within(25, Decimal("0.95"))
    assert region_of(by_json.question, PEOPLE) == region_of(by_sql.question, PEOPLE) == region("age >= 40")
    assert (by_json.under_scarcity, by_json.label) == (UnderScarcity.PARTIAL, "")


def test_all_parts_of_a_request_are_read() -> None:
    asked = ask({**GOOD, "group_by": [{"column": "sex"}], "under_scarcity": "all_or_nothing", "label": "  Café  "})
    assert asked.under_scarcity is UnderScarcity.ALL_OR_NOTHING
    assert asked.label == "Café"
    assert [group.column for group in asked.question.group_by] == ["sex"]


def test_everybody_can_be_counted_on_purpose() -> None:
    for body in ({"sql": "SELECT COUNT(*) FROM people"}, {"where": {"always": True}}):
        assert region_of(ask({**body, "accuracy": ACCURACY}).question, PEOPLE).is_full
    assert ask({"group_by": [{"column": "sex"}], "accuracy": ACCURACY}).question.where is None


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"accuracy": ACCURACY}, "empty_condition", "where"),
        ({"where": {}, "accuracy": ACCURACY}, "empty_condition", "where"),
        ({"where": {"all": []}, "accuracy": ACCURACY}, "empty_condition", "where.all"),
        ({"where": None, "accuracy": ACCURACY}, "bad_condition", "where"),
        ({"sql": "", "accuracy": ACCURACY}, "empty_condition", "sql"),
        ({"sql": 3, "accuracy": ACCURACY}, "bad_sql", "sql"),
        ({"sql": "SELECT COUNT(*) FROM people", **GOOD}, "bad_sql", "where"),
        ({"sql": "SELECT COUNT(*) FROM people", "group_by": [], "accuracy": ACCURACY}, "bad_sql", "group_by"),
        ({"where": WHERE}, "no_accuracy", "accuracy"),
        ({"where": WHERE, "accuracy": 25}, "bad_bound", "accuracy"),
        ({"where": WHERE, "accuracy": {"within": 0, "confidence": "0.95"}}, "bad_bound", "accuracy.within"),
        ({"where": WHERE, "accuracy": {"within": 5, "confidence": "1.2"}}, "bad_confidence", "accuracy.confidence"),
        ({**GOOD, "under_scarcity": "some"}, "bad_choice", "under_scarcity"),
        ({**GOOD, "under_scarcity": None}, "bad_choice", "under_scarcity"),
        ({**GOOD, "label": "x" * 201}, "bad_label", "label"),
        ({**GOOD, "label": "x\nINFO ok"}, "bad_label", "label"),
        ({**GOOD, "label": "\x00"}, "bad_label", "label"),
        ({**GOOD, "label": 3}, "bad_label", "label"),
        ({**GOOD, "acuracy": 3}, "unknown_field", "acuracy"),
        ([GOOD], "bad_json", None),
        (None, "bad_json", None),
    ],
)
def test_a_bad_request_is_refused_with_its_field(body: object, code: str, field: str | None) -> None:
    refusal = refused(body)
    assert (refusal.code, refusal.field) == (code, field)


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ('{"accuracy": {"within": NaN}}', "bad_number", "accuracy.within"),
        ('{"accuracy": {"within": -Infinity}}', "bad_number", "accuracy.within"),
        ('{"where": {"all": [{"column": "age", "equals": 1e309}]}}', "bad_number", "where.all[0].equals"),
        ('{"x": 1e99999999999999999999}', "bad_number", "x"),
        ('{"x": ' + "9" * 5_000 + "}", "bad_number", "x"),
        ('{"x": 1e-400}', "bad_number", "x"),
        (r'{"label": "\ud800"}', "bad_text", "label"),
        (r'{"label": "a\u0000b"}', "bad_text", "label"),
        (r'{"\u0000": 1}', "bad_text", None),
        ('{"a": 1, "a": 2}', "bad_json", "a"),
        ("{", "bad_json", None),
        ("", "bad_json", None),
        ("{'a': 1}", "bad_json", None),
        ('{"a": 01}', "bad_json", None),
        ("[1] 2", "bad_json", None),
    ],
)
def test_bytes_that_are_no_request_are_refused_with_their_place(text: str, code: str, field: str | None) -> None:
    with pytest.raises(BadInput) as caught:
        guard_text(text.encode())
    assert (caught.value.code, caught.value.field) == (code, field)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    for data in (b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16")):
        with pytest.raises(BadInput) as caught:
            guard_text(data)
        assert caught.value.code == "bad_json"


def test_size_and_depth_are_bounded_before_parsing() -> None:
    assert guard_text(b"[" * MAX_JSON_DEPTH + b"]" * MAX_JSON_DEPTH)
    for data, code in [
        (b"[" * (MAX_JSON_DEPTH + 1) + b"]" * (MAX_JSON_DEPTH + 1), "too_deep"),
        (b'{"a":' * 9_000, "too_deep"),
        (b'"' + b"x" * MAX_BODY, "body_too_large"),
        (b"[" * 2_000_000, "body_too_large"),
    ]:
        with pytest.raises(TooLarge) as caught:
            guard_text(data)
        assert caught.value.code == code


def test_brackets_inside_texts_are_no_nesting() -> None:
    text = '"' + "[{" * 500 + r"\"" + "[" * 500 + r"\\" + '"'
    assert guard_text(text.encode()) == json.loads(text)


def test_numbers_stay_exact() -> None:
    assert guard_text(b"[0.1, 5.0, 5, -0, 1e3]") == [Decimal("0.1"), Decimal("5.0"), 5, 0, Decimal("1e3")]
    assert isinstance(guard_text(b"7"), int)


@given(
    st.binary(max_size=40)
    | st.text(alphabet='{}[]",:\\0123456789.eE+-truefalsn \ud800', max_size=40).map(lambda text: text.encode(errors="replace"))
)
def test_any_bytes_are_a_value_or_a_refusal(data: bytes) -> None:
    try:
        value = guard_text(data)
    except Refused as refusal:
        assert refusal.detail.encode()
    else:
        assert value == json.loads(data, parse_float=Decimal)
