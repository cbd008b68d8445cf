"""Regions against explicit sets of cells, for any way to build them."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from curator.mechanism import intervals as iv
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

SMALL = Schema.from_json(
    {
        "columns": [
            {"name": "a", "kind": "integer", "low": 0, "high": 2, "missing": True, "out_of_domain": "other"},
            {"name": "b", "kind": "category", "values": ["x", "y"], "missing": True},
            {"name": "c", "kind": "boolean", "out_of_domain": "other"},
            {"name": "d", "kind": "integer", "low": 0, "high": 3},
        ]
    }
)
SIZES = [column.size for column in SMALL.columns]
CELLS = list(itertools.product(*map(range, SIZES)))
Cells = frozenset[tuple[int, ...]]


def explicit(region: Region) -> Cells:
    return frozenset(cell for cell in CELLS if region.contains(cell))


@st.composite
def leaves(draw: st.DrawFn) -> tuple[Region, Cells]:
    place = draw(st.integers(0, len(SIZES) - 1))
    codes = draw(st.sets(st.integers(0, SIZES[place] - 1)))
    region = Region.of(SMALL, SMALL.columns[place].name, [(code, code) for code in codes])
    return region, frozenset(cell for cell in CELLS if cell[place] in codes)


def combined(pairs: st.SearchStrategy[tuple[Region, Cells]]) -> st.SearchStrategy[tuple[Region, Cells]]:
    both = st.tuples(pairs, pairs)
    return st.one_of(
        both.map(lambda two: (two[0][0] & two[1][0], two[0][1] & two[1][1])),
        both.map(lambda two: (two[0][0] | two[1][0], two[0][1] | two[1][1])),
        both.map(lambda two: (two[0][0] - two[1][0], two[0][1] - two[1][1])),
        pairs.map(lambda one: (~one[0], frozenset(CELLS) - one[1])),
    )


built = st.recursive(leaves(), combined, max_leaves=12)


@given(built)
def test_a_region_holds_the_cells_that_it_was_built_from(pair: tuple[Region, Cells]) -> None:
    region, cells = pair
    assert explicit(region) == cells
    assert region.cells == len(cells)
    assert region.is_empty == (not cells)
    assert region.is_full == (len(cells) == len(CELLS))


@settings(max_examples=30)
@given(st.sets(st.sampled_from(CELLS), max_size=40), st.randoms(use_true_random=False))
def test_any_set_of_cells_has_one_form_whatever_the_order_of_building(cells: set[tuple[int, ...]], random: object) -> None:
    def one(cell: tuple[int, ...]) -> Region:
        return Region.all_of(SMALL, [Region.of(SMALL, SMALL.columns[i].name, [(code, code)]) for i, code in enumerate(cell)])

    shuffled = sorted(cells)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random of Hypothesis
    added = Region.empty(SMALL)
    for cell in shuffled:
        added = one(cell) | added
    removed = Region.full(SMALL)
    for cell in CELLS:
        if cell not in cells:
            removed = removed - one(cell)
    assert added == removed
    assert added.to_bytes() == removed.to_bytes()


@given(built, built)
def test_relations_between_regions_are_those_between_their_cells(left: tuple[Region, Cells], right: tuple[Region, Cells]) -> None:
    (a, x), (b, y) = left, right
    assert (a == b) == (x == y) == (a.digest == b.digest)
    assert a.is_subset(b) == (x <= y)
    assert a.is_disjoint(b) == x.isdisjoint(y)
    assert explicit(a.overlap(b)) == x & y


@given(built)
def test_boxes_are_disjoint_and_cover_the_region(pair: tuple[Region, Cells]) -> None:
    region, cells = pair
    boxes = list(region.boxes())
    names = [column.name for column in SMALL.columns]
    seen: list[tuple[int, ...]] = []
    for box in boxes:
        assert all(iv.tidy(runs) == runs for runs in box.values())
        runs = [box.get(name, ((0, size - 1),)) for name, size in zip(names, SIZES, strict=True)]
        seen += itertools.product(*([code for low, high in part for code in range(low, high + 1)] for part in runs))
    assert len(seen) == len(set(seen))
    assert set(seen) == cells
    assert len(boxes) == region.box_count


@given(built, st.sets(st.sampled_from("abcd")))
def test_projection_forgets_exactly_the_other_columns(pair: tuple[Region, Cells], names: set[str]) -> None:
    region, cells = pair
    kept = [place for place, column in enumerate(SMALL.columns) if column.name in names]
    seen = {tuple(cell[place] for place in kept) for cell in cells}
    projected = region.project(names)
    assert explicit(projected) == {cell for cell in CELLS if tuple(cell[place] for place in kept) in seen}
    assert set(projected.columns) <= names


@given(built)
def test_columns_are_those_that_membership_depends_on(pair: tuple[Region, Cells]) -> None:
    region, cells = pair
    for place, column in enumerate(SMALL.columns):
        matters = any(
            ((*cell[:place], code, *cell[place + 1 :]) in cells) != (cell in cells)
            for cell in CELLS
            for code in range(SIZES[place])
        )
        assert (column.name in region.columns) == matters


@given(built)
def test_bytes_read_back_as_the_same_region(pair: tuple[Region, Cells]) -> None:
    region = pair[0]
    again = Region.from_bytes(SMALL, region.to_bytes())
    assert again == region
    assert again.digest == region.digest


@settings(max_examples=300)
@given(built, st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_never_gives_a_second_key_to_a_meaning(pair: tuple[Region, Cells], where: int, value: int) -> None:
    data = bytearray(pair[0].to_bytes())
    data[where % len(data)] = value
    try:
        region = Region.from_bytes(SMALL, bytes(data))
    except ValueError:
        return
    assert region.to_bytes() == bytes(data)
    assert (region == pair[0]) == (bytes(data) == pair[0].to_bytes())


@given(st.binary(max_size=60))
def test_any_bytes_are_a_region_or_a_value_error(data: bytes) -> None:
    try:
        assert Region.from_bytes(SMALL, data).to_bytes() == data
    except ValueError as error:
        assert str(error)


runs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=8)


def codes(intervals: iv.Intervals) -> set[int]:
    return {code for low, high in intervals for code in range(low, high + 1)}


@given(runs, runs)
def test_intervals_are_sets_in_one_form(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = iv.tidy(left), iv.tidy(right)
    assert codes(a) == {code for low, high in left for code in range(low, high + 1)}
    assert all(first[1] + 1 < second[0] for first, second in itertools.pairwise(a))
    assert codes(iv.intersection(a, b)) == codes(a) & codes(b)
    assert codes(iv.complement(a, 20)) == set(range(20)) - codes(a)
    assert iv.count(a) == len(codes(a))
