"""Regions: canonical form, set operations, figures, bytes; each against explicit sets of cells."""

import hashlib

import pytest

from curator.mechanism.errors import TooLarge
from curator.mechanism.region import MAX_NODES, Region, descriptor_digest
from curator.mechanism.schema import Schema


def integers(*sizes: int) -> Schema:
    return Schema.from_json(
        {"columns": [{"name": f"c{i}", "kind": "integer", "low": 0, "high": n - 1} for i, n in enumerate(sizes)]}
    )


THREE = integers(5, 4, 3)


def of(column: str, *codes: tuple[int, int]) -> Region:
    return Region.of(THREE, column, codes)


def test_a_run_of_codes_is_one_interval_however_it_is_given() -> None:
    assert of("c0", (1, 1), (3, 3), (2, 2)) == of("c0", (1, 3)) == of("c0", (2, 3), (1, 2), (3, 1))
    assert of("c0", (1, 3)).nodes == ((0, ((0, 0), (1, 1), (4, 0))),)


def test_the_order_of_conditions_and_double_negation_leave_no_trace() -> None:
    a, b, c = of("c0", (0, 2)), of("c1", (1, 1)), of("c2", (0, 0), (2, 2))
    one = (a & b) | (c & ~a)
    other = (~(a | ~c)) | ~(~b | ~a)
    assert one == other
    assert one.to_bytes() == other.to_bytes()
    assert hash(one) == hash(other)


def test_a_condition_that_does_not_matter_disappears() -> None:
    a, b = of("c0", (0, 2)), of("c1", (1, 1))
    assert ((a & b) | (a & ~b)) == a
    assert (a | ~a) == Region.full(THREE)
    assert (a & ~a) == Region.empty(THREE)
    assert of("c0", (0, 4)).is_full
    assert of("c0").is_empty
    assert ((a & b) | (a & ~b)).columns == ("c0",)


def test_edges_of_a_node_carry_maximal_unions_of_intervals() -> None:
    region = of("c0", (0, 0), (2, 2)) & of("c1", (1, 1))
    assert region.edges(region.nodes[-1]) == {2: ((0, 0), (2, 2)), 0: ((1, 1), (3, 4))}


def test_one_cell_more_is_another_region() -> None:
    a = of("c0", (0, 2)) & of("c1", (1, 2))
    cell = of("c0", (4, 4)) & of("c1", (0, 0)) & of("c2", (1, 1))
    assert (a | cell).digest != a.digest
    assert (a | cell).cells == a.cells + 1
    assert (a | cell) - cell == a


def test_subset_disjointness_and_overlap() -> None:
    a, b = of("c0", (0, 2)), of("c0", (1, 1)) & of("c1", (0, 0))
    assert b.is_subset(a)
    assert not a.is_subset(b)
    assert not a.is_disjoint(b)
    assert a.overlap(b) == b
    assert b.is_disjoint(of("c1", (1, 3)))


def test_projection_keeps_what_some_cell_agrees_with() -> None:
    region = (of("c0", (0, 0)) & of("c1", (1, 1))) | (of("c0", (3, 4)) & of("c2", (0, 0)))
    assert region.project(["c0"]) == of("c0", (0, 0), (3, 4))
    assert region.project(["c1", "c0"]) == (of("c0", (0, 0)) & of("c1", (1, 1))) | of("c0", (3, 4))
    assert region.project([]).is_full
    assert Region.empty(THREE).project(["c0"]).is_empty


def test_large_domains_cost_nothing() -> None:
    schema = integers(200_001, 2**31 - 10, 36_525)
    region = Region.of(schema, "c0", [(1000, 5000)]) & ~Region.of(schema, "c1", [(7, 2**30)])
    assert len(region.nodes) == 2
    assert region.cells == 4001 * (2**31 - 10 - (2**30 - 6)) * 36_525
    assert len(region.to_bytes()) < 40


def test_deep_regions_do_not_need_recursion() -> None:
    schema = integers(*[3] * 1000)
    parts = [Region.of(schema, f"c{i}", [(1, 1)]) for i in range(1000)]
    region = Region.all_of(schema, parts)
    assert (region.cells, len(region.nodes)) == (1, 1000)
    assert Region.from_bytes(schema, region.to_bytes()) == region
    assert (~Region.any_of(schema, [~part for part in parts])) == region
    assert next(region.boxes())["c999"] == ((1, 1),)


def test_a_region_past_the_cap_is_refused_and_not_built() -> None:
    schema = integers(*[2] * 40)
    pairs = [Region.of(schema, f"c{i}", [(1, 1)]) | Region.of(schema, f"c{i + 20}", [(1, 1)]) for i in range(20)]
    with pytest.raises(TooLarge, match=f"{MAX_NODES:,} nodes") as refusal:
        Region.all_of(schema, pairs)
    assert refusal.value.code == "region_too_large"


def test_a_node_with_very_many_cuts_is_refused() -> None:
    with pytest.raises(TooLarge, match="cuts"):
        Region.of(integers(200_001), "c0", [(code, code) for code in range(0, 200_001, 2)])


def test_codes_outside_a_column_and_foreign_schemas_are_mistakes() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        of("c0", (0, 5))
    with pytest.raises(ValueError, match="different schemas"):
        of("c0", (0, 1)) & Region.of(integers(5, 4), "c0", [(0, 1)])


GOOD = of("c0", (0, 2)) & of("c1", (1, 2))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        GOOD.to_bytes()[:-1],
        GOOD.to_bytes() + b"\0",
        b"\2" + GOOD.to_bytes()[1:],
        bytes([1, 0, 2]),  # no such terminal
        bytes([1, 1, 0, 2, 1, 3, 1]),  # both cuts lead to the same place
        bytes([1, 1, 0, 1, 1]),  # a node that decides nothing
        bytes([1, 1, 0, 2, 0, 0, 1]),  # an empty run
        bytes([1, 1, 0, 2, 0, 9, 1]),  # past the last code
        bytes([1, 1, 3, 2, 0, 1, 1]),  # no such column
        bytes([1, 2, 0, 2, 0, 1, 1, 0, 2, 0, 2, 2]),  # leads back to the same column
        bytes([1, 2, 1, 2, 0, 1, 1, 0, 2, 0, 2, 1]),  # a node that nothing leads to
        bytes([1, 0x81, 0, 0, 2, 0, 1, 1]),  # a number written with more bytes than it needs
        bytes([1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
    ],
)
def test_bytes_that_are_not_canonical_are_rejected(data: bytes) -> None:
    with pytest.raises(ValueError):
        Region.from_bytes(THREE, data)


def test_the_canonical_bytes_never_change() -> None:
    """Digests of old releases must find their descriptors for ever: this pins format 1."""
    assert GOOD.to_bytes().hex() == "0102010300010102000002020300"
    assert Region.empty(THREE).to_bytes().hex() == "010000"
    head = b'["descriptor",1,"v","count"]'
    assert descriptor_digest("v", "count", GOOD) == hashlib.sha256(head + b"\n" + GOOD.to_bytes()).hexdigest()
    assert descriptor_digest("v", "count", GOOD).startswith("8fe64b7b543b")


def test_a_descriptor_is_of_one_version_and_one_aggregate() -> None:
    assert descriptor_digest("v1", "count", GOOD) != descriptor_digest("v2", "count", GOOD)
    assert descriptor_digest("v1", "count", GOOD) != descriptor_digest("v1", "count", ~GOOD)
    with pytest.raises(ValueError, match="no aggregate"):
        descriptor_digest("v1", "histogram", GOOD)
