"""Histograms: which bins a grouping has, that they are disjoint and complete, and which are refused."""

import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.language import Question, bins_of, notes_of, parse_json, parse_sql
from curator.language.question import MAX_BINS, GroupBy
from curator.mechanism.errors import BadInput, TooLarge
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from tests.language.people import PEOPLE, grouped, region


def ages(low: int, high: int) -> Schema:
    return Schema.from_json({"columns": [{"name": "age", "kind": "integer", "low": low, "high": high}]})


def labels(rest: str, schema: Schema = PEOPLE) -> list[str]:
    return [" | ".join(label) for label in grouped(rest, schema)]


def refused(*groups: object, schema: Schema = PEOPLE) -> BadInput:
    with pytest.raises(BadInput) as caught:
        bins_of(parse_json({"group_by": list(groups)}, schema=schema), schema)
    return caught.value


def test_a_count_is_one_bin_without_a_label() -> None:
    assert grouped("WHERE age = 3") == {(): region("age = 3")}


def test_every_declared_category_has_a_bin_and_so_have_other_and_missing() -> None:
    assert labels("GROUP BY sex") == ["F", "M", "other"]
    assert labels("GROUP BY city") == ["Rome", "rome", "Paris", "O'Hare", "1", "missing"]
    assert labels("GROUP BY eligible") == ["false", "true", "missing"]
    assert grouped("GROUP BY sex")["other",] == region("IS_OTHER(sex)")
    assert grouped("GROUP BY eligible")["missing",] == region("eligible IS NULL")


def test_a_bin_that_the_condition_rules_out_stays_if_it_was_named_and_goes_if_not() -> None:
    bins = grouped("WHERE sex = 'F' AND age < 20 GROUP BY sex")
    assert list(bins) == [("F",), ("M",)]
    assert bins["M",].is_empty


@pytest.mark.parametrize("count", [1, 2, 5, 10, 100])
def test_equal_bins_over_1_to_100_are_exactly_as_many_and_the_last_ends_with_the_maximum(count: int) -> None:
    found = list(grouped(f"GROUP BY BIN(age, {count})", ages(1, 100)).items())
    assert len(found) == count
    assert {part.cells for _, part in found} == {100 // count}
    assert found[-1][0][0].endswith("100")
    assert found[0][0][0].startswith("1")


@pytest.mark.parametrize("count", [3, 7, 99])
def test_bins_that_do_not_divide_the_domain_differ_by_one_value_at_most(count: int) -> None:
    sizes = {part.cells for part in grouped(f"GROUP BY BIN(age, {count})", ages(1, 100)).values()}
    assert sizes <= {100 // count, 100 // count + 1}


def test_56_bins_over_20_to_75_and_not_one_more() -> None:
    schema = ages(20, 75)
    assert labels("GROUP BY BIN(age, 56)", schema) == [str(age) for age in range(20, 76)]
    refusal = refused({"column": "age", "bins": 57}, schema=schema)
    assert (refusal.code, refusal.field, refusal.operands["maximum"]) == ("too_many_bins", "group_by[0].bins", 56)
    assert "at most 56 bins" in refusal.detail


@pytest.mark.parametrize("count", [10_001, 10**6, 10**29, Decimal("1e9")])
def test_a_million_bins_are_refused_with_the_maximum(count: object) -> None:
    refusal = refused({"column": "income", "bins": count})
    assert (refusal.code, refusal.operands["maximum"]) == ("too_many_bins", MAX_BINS)


@pytest.mark.parametrize(
    ("count", "code"), [(0, "no_bins"), (-1, "no_bins"), (Decimal("2.5"), "bad_group"), ("3", "bad_group"), (True, "bad_group")]
)
def test_a_number_of_bins_is_whole_and_at_least_one(count: object, code: str) -> None:
    refusal = refused({"column": "age", "bins": count})
    assert (refusal.code, refusal.field) == (code, "group_by[0].bins")


def test_edges_are_half_open_and_the_last_bin_includes_its_upper_edge() -> None:
    bins = grouped("GROUP BY EDGES(age, 0, 18, 65)", ages(0, 65))
    assert list(bins) == [("0 to 17",), ("18 to 65",)]
    assert bins["18 to 65",].cells == 48


def test_a_gap_between_edges_is_counted_as_other_and_said() -> None:
    asked = parse_json({"group_by": [{"column": "age", "edges": [[0, 10], [20, 30]]}]}, schema=PEOPLE)
    found = {part.label[0]: part.region for part in bins_of(asked, PEOPLE)}
    assert list(found) == ["0 to 9", "20 to 30", "other", "missing"]
    assert found["other"] == region("NOT (age < 10 OR age BETWEEN 20 AND 30)")
    assert notes_of(asked, PEOPLE) == (
        'age: values in no bin (10 to 19, 31 to 99) are counted as "other".',
        'age: missing values are counted as "missing".',
    )


def test_edges_between_grid_points_and_dates() -> None:
    assert labels("GROUP BY EDGES(share, 0, 0.12, 1)") == ["0.00 to 0.10", "0.15 to 1.00", "missing"]
    found = labels("GROUP BY EDGES(born, DATE '1920-01-01', DATE '1950-01-01', DATE '2020-12-31')")
    assert found == ["1920-01-01 to 1949-12-31", "1950-01-01 to 2020-12-31"]


@pytest.mark.parametrize(
    ("edges", "code", "said"),
    [
        ([[0, 10], [5, 15]], "bins_overlap", "from 0 to 10 and from 5 to 15 overlap"),
        ([[0, 10], [9.5, 15]], "bins_overlap", "overlap"),
        ([[20, 30], [0, 10]], "bad_group", "rising order"),
        ([0, 10, 10], "bad_group", "Edges rise"),
        ([10, 5], "bad_group", "Edges rise"),
        ([0, 10, [20, 30]], "bad_group", "not both"),
        ([0, 1000], "out_of_domain", "0 to 99"),
        ([-1, 5], "out_of_domain", "0 to 99"),
        ([5.2, 5.7], "no_bins", "No value"),
        ([5], "no_bins", "two edges"),
        ([], "no_bins", "two edges"),
        (["a", "b"], "bad_value", "expected a number"),
        ([[1, 2, 3]], "bad_group", "pair"),
        ([None, 3], "bad_group", "pair"),
        ([True, 3], "bad_group", "pair"),
        ("0,10", "bad_group", "list of edges"),
    ],
)
def test_edges_that_are_no_bins_are_refused(edges: object, code: str, said: str) -> None:
    exact = [Decimal(str(edge)) if isinstance(edge, float) else edge for edge in edges] if isinstance(edges, list) else edges
    if isinstance(exact, list):
        exact = [
            [Decimal(str(end)) if isinstance(end, float) else end for end in edge] if isinstance(edge, list) else edge
            for edge in exact
        ]
    refusal = refused({"column": "age", "edges": exact})
    assert refusal.code == code
    assert said in refusal.detail
    assert str(refusal.field).startswith("group_by[0].edges")


@pytest.mark.parametrize(
    ("group", "code", "field"),
    [
        ({"column": "agee"}, "unknown_column", "group_by[0].column"),
        ({"column": "sex", "bins": 2}, "not_ordered", "group_by[0].bins"),
        ({"column": "age", "bins": 2, "edges": [1, 2]}, "bad_group", "group_by[0].edges"),
        ({"column": "age", "size": 2}, "unknown_field", "group_by[0].size"),
        ({"bins": 2}, "bad_group", "group_by[0].column"),
        ("age", "bad_group", "group_by[0].column"),
        ({"column": "income"}, "too_many_bins", "group_by[0].column"),
    ],
)
def test_a_grouping_that_is_none_is_refused_with_its_field(group: object, code: str, field: str) -> None:
    refusal = refused(group)
    assert (refusal.code, refusal.field) == (code, field)


@pytest.mark.parametrize(
    "groups", [[], [{"column": "sex"}] * 2, [{"column": "sex"}, {"column": "age"}, {"column": "city"}], "sex", None]
)
def test_one_or_two_different_columns_can_be_grouped_by(groups: object) -> None:
    with pytest.raises(BadInput) as caught:
        parse_json({"group_by": groups}, schema=PEOPLE)
    assert caught.value.code == "bad_group"


def test_two_columns_give_every_pair_whichever_comes_first() -> None:
    one, other = grouped("WHERE income > 5 GROUP BY sex, BIN(age, 2)"), grouped("WHERE income > 5 GROUP BY BIN(age, 2), sex")
    assert {(a, b): part for (b, a), part in other.items()} == one
    assert one["F", "0 to 49"] == region("income > 5 AND sex = 'F' AND age < 50")


def test_ten_thousand_bins_are_served_and_more_are_refused() -> None:
    square = Schema.from_json({"columns": [{"name": name, "kind": "integer", "low": 0, "high": 99} for name in ("a", "b")]})
    assert len(grouped("GROUP BY a, b", square)) == MAX_BINS
    wide = Schema.from_json(
        {"columns": [{"name": name, "kind": "integer", "low": 0, "high": 99, "missing": True} for name in ("a", "b")]}
    )
    refusal = refused({"column": "a"}, {"column": "b"}, schema=wide)
    assert (refusal.code, refusal.field) == ("too_many_bins", "group_by")
    assert "10,201 (101 times 101" in refusal.detail


def test_many_bins_of_an_intricate_condition_are_refused_in_good_time() -> None:
    names = [f"c{n}" for n in range(16)] + ["a", "b"]
    schema = Schema.from_json({"columns": [{"name": name, "kind": "integer", "low": 0, "high": 99} for name in names]})
    tangled = " OR ".join(f"(c{n} = 1 AND c{n + 8} = 2)" for n in range(8))
    asked = parse_sql(f"SELECT COUNT(*) FROM people WHERE {tangled} GROUP BY a, b", schema=schema, table="people")
    with pytest.raises(TooLarge, match="too many steps"):
        bins_of(asked, schema)


groupings = st.sampled_from(
    [
        GroupBy("age"),
        GroupBy("age", bins=7),
        GroupBy("age", edges=((3, 9), (20, 40))),
        GroupBy("sex"),
        GroupBy("share", edges=(0, "0.5", 1)),
        GroupBy("eligible"),
        GroupBy("born", bins=3),
    ]
)
conditions = st.sampled_from(
    ["TRUE", "FALSE", "age < 30 OR sex = 'F'", "NOT eligible AND age IS NULL", "share > 0.3 OR NOT city = 'Rome'"]
)


@given(conditions, st.lists(groupings, min_size=1, max_size=2, unique_by=lambda group: group.column))
def test_bins_are_disjoint_and_together_are_the_condition(where: str, groups: list[GroupBy]) -> None:
    whole = region(where)
    asked = Question(parse_sql(f"SELECT COUNT(*) FROM people WHERE {where}", schema=PEOPLE, table="people").where, tuple(groups))
    parts = [part.region for part in bins_of(asked, PEOPLE)]
    assert Region.any_of(PEOPLE, parts) == whole
    assert sum(part.cells for part in parts) == whole.cells
    assert all(a.is_disjoint(b) for a, b in itertools.combinations(parts[:12], 2))
