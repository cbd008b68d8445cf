"""Rehearsals: made-up people from the public schema alone, real noise on them, and a bounded amount of work."""

from typing import Any

import pytest

from curator.laboratory import people
from curator.laboratory.people import PEOPLE
from curator.laboratory.rehearsal import BINS, DRAWS, Rehearsal, rehearse
from curator.language import parse_ask
from curator.mechanism.errors import BadInput
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from tests.cast import SCHEMA

SCHEMA_OF_PEOPLE = Schema.from_json(SCHEMA)


def tried(body: dict[str, Any], schema: Schema = SCHEMA_OF_PEOPLE) -> Rehearsal:
    return rehearse(parse_ask(body, schema=schema, table="people"), schema)


def within(bound: int, **body: Any) -> dict[str, Any]:
    return body | {"accuracy": {"within": bound, "confidence": "0.95"}}


def test_the_people_come_from_the_schema_alone_and_are_the_same_each_time() -> None:
    made = people.made_up(SCHEMA_OF_PEOPLE, SCHEMA_OF_PEOPLE.names)
    people._drawn.cache_clear()
    assert made == people.made_up(SCHEMA_OF_PEOPLE, SCHEMA_OF_PEOPLE.names)
    assert len(made) == PEOPLE
    assert all(Region.full(SCHEMA_OF_PEOPLE).contains(person) for person in made)
    for place, column in enumerate(SCHEMA_OF_PEOPLE.columns):
        codes = {person[place] for person in made}
        assert codes == set(range(column.size)), column.name  # every declared value, missing and other too


def test_everybody_are_a_thousand_and_the_count_is_shown_beside_the_noise() -> None:
    found = tried(within(25, where={"always": True}))
    assert (found.people, found.bins, found.tried[0].count, len(found.draws)) == (1000, 1, 1000, DRAWS)
    assert found.tried[0].bound == 25
    assert found.draws[0] == found.tried[0]
    assert len({draw.value for draw in found.draws}) > 5  # drawn afresh: at a standard deviation of 13 twenty are never all alike


def test_the_noise_is_that_of_an_answer_from_scratch() -> None:
    """Of n draws at ±25, 95 %, the share within is at least 95 % up to chance (5 standard errors)."""
    draws = [draw for _ in range(100) for draw in tried(within(25, sql="SELECT COUNT(*) FROM people WHERE age >= 40")).draws]
    share = sum(draw.within for draw in draws) / len(draws)
    assert len(draws) == 2000
    assert 0.95 - 5 * (0.95 * 0.05 / 2000) ** 0.5 <= share < 1


def test_a_histogram_is_tried_bin_by_bin_and_only_its_first_bins() -> None:
    found = tried(within(10, group_by=[{"column": "age"}]))
    assert (found.bins, len(found.tried), found.draws) == (100, BINS, ())
    assert found.tried[3].label == ("3",)
    small = tried(within(10, group_by=[{"column": "city"}]))
    assert sum(bin_.count for bin_ in small.tried) == PEOPLE


def test_the_work_is_bounded_whatever_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand bins cost as many looks at made-up people as sixty."""
    schema = Schema.from_json(
        {"columns": [{"name": name, "kind": "integer", "low": 0, "high": 99, "out_of_domain": "clamp"} for name in "ab"]}
    )
    looks = 0
    contains = Region.contains

    def counted(self: Region, codes: Any) -> bool:
        nonlocal looks
        looks += 1
        return contains(self, codes)

    monkeypatch.setattr(Region, "contains", counted)
    found = tried(within(10, group_by=[{"column": "a"}, {"column": "b"}]), schema)
    assert (found.bins, looks) == (10_000, BINS * PEOPLE)


def test_what_nobody_can_match_is_nought_without_noise() -> None:
    found = tried(within(3, sql="SELECT COUNT(*) FROM people WHERE age < 20 AND age > 30"))
    assert (found.tried[0].empty, found.tried[0].value, found.draws) == (True, 0, ())


@pytest.mark.parametrize(
    ("accuracy", "bound"),
    [
        ({"relative": "0.1", "confidence": "0.95"}, 100),
        ({"relative": "0.0005", "confidence": "0.95"}, None),
        ({"standard_error": "10"}, 20),
        ({"rho": "0.5"}, 2),
    ],
)
def test_every_kind_of_accuracy_can_be_rehearsed(accuracy: dict[str, str], bound: int | None) -> None:
    found = tried({"where": {"always": True}, "accuracy": accuracy})
    assert found.tried[0].bound == bound
    assert (found.tried[0].value is None) is (bound is None)


def test_bins_that_do_not_fit_are_refused_as_in_asking() -> None:
    with pytest.raises(BadInput, match="at most 100 bins"):
        tried(within(10, group_by=[{"column": "age", "bins": 101}]))
