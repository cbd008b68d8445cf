"""Exact counts: every way to them gives the number that a person with a pencil would."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings

from curator.engine import cells, counts, files, opened
from curator.engine.counts import VersionFile
from curator.engine.sealing import EngineFailed
from curator.mechanism.noise import ExactCount
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from tests.engine.tables import category, codes, count, frozen, number, one, put, schema

SCHEMA = schema(
    number("a", high=6, missing=True), category("b", "x", "y", "z"), number("c", high=300), {"name": "d", "kind": "boolean"}
)
ROW = st.tuples(
    st.sampled_from("pqrstu"),
    st.integers(0, 7),
    st.sampled_from("xyzw"),
    st.integers(0, 300),
    st.sampled_from(["true", "false", "?"]),
)
ROWS = st.lists(ROW, max_size=40)
PLAIN = examples(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def leaves(draw: st.DrawFn) -> Region:
    column = draw(st.sampled_from(SCHEMA.columns))
    ends = st.tuples(st.integers(0, column.size - 1), st.integers(0, column.size - 1))
    runs = [(min(pair), max(pair)) for pair in draw(st.lists(ends, min_size=1, max_size=4))]
    return Region.of(SCHEMA, column.name, runs)


REGION = st.recursive(
    leaves() | st.sampled_from([Region.full(SCHEMA), Region.empty(SCHEMA)]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
        inner.map(lambda region: ~region),
    ),
    max_leaves=8,
)


def by_hand(version: VersionFile, region: Region) -> int:
    """Distinct persons, record by record."""
    rows = codes(version)
    width = len(SCHEMA.columns)
    inside = [(number, row) for number, row in enumerate(rows) if region.contains(row[:width])]
    return len({row[width] if version.person else number for number, row in inside})


WAYS = {
    "in memory": {},
    "marginals": {"OFTEN": 1},
    "scans": {"SMALL_TABLE": -1, "SMALL_DOMAIN": 0},
    "small scans": {"SMALL_TABLE": -1, "SMALL_DOMAIN": 0, "BATCH": 2},
    "intricate": {"SMALL_TABLE": -1, "SMALL_DOMAIN": 0, "MAX_CONDITIONS": 0},
    "walks": {"FEW_CUTS": 0},
    "forgetful": {"OFTEN": 1, "KEPT_CELLS": 3, "LEAF_BYTES": 0},
}


@pytest.fixture(params=[(engine, way) for engine in ("polars", "duckdb") for way in WAYS], ids=" ".join)
def way(request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each engine, and each way of counting, made the only one."""
    settings.ENGINE, name = request.param
    for constant, value in WAYS[name].items():
        monkeypatch.setattr(cells if hasattr(cells, constant) else opened, constant, value)
    yield name
    counts._opened.clear()


@PLAIN
@given(ROWS, st.lists(REGION, max_size=12), st.sampled_from([("", 1), ("who", 1), ("who", 3)]))
def test_every_way_counts_what_is_counted_by_hand(
    way: str, tmp_path: Path, rows: list[tuple[object, ...]], regions: list[Region], unit: tuple[str, int]
) -> None:
    lines = ["who,a,b,c,d", *(",".join(map(str, row)) for row in rows)]
    version, _ = frozen(put(tmp_path, "\n".join(lines)), SCHEMA, person_column=unit[0], k=unit[1])
    expected = [by_hand(version, region) for region in regions]
    assert count(version, *regions) == expected
    assert count(version, *reversed(regions)) == expected[::-1]


def test_a_histogram_of_ten_thousand_bins_adds_up(tmp_path: Path) -> None:
    described = schema(number("a"), number("b"))
    lines = [f"{place * 7 % 100},{place * place % 100}" for place in range(5_000)]
    version, _ = frozen(put(tmp_path, "a,b\n" + "\n".join(lines)), described)
    bins = [one(described, "a", a) & one(described, "b", b) for a in range(100) for b in range(100)]
    found = count(version, *bins)
    assert sum(found) == 5_000
    assert found[7 * 100 + 1] == sum(place * 7 % 100 == 7 and place * place % 100 == 1 for place in range(5_000))


def knotty(described: Schema, columns: int) -> Region:
    """(a0=1 and a1=1) or (a2=1 and a3=1) or …: few nodes, boxes beyond number."""
    pairs = [one(described, f"a{place}", 1) & one(described, f"a{place + 1}", 1) for place in range(0, columns, 2)]
    return Region.any_of(described, pairs)


@pytest.mark.parametrize("small", [True, False])
def test_a_region_of_a_million_boxes_is_counted_like_any_other(
    tmp_path: Path, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = schema(*(number(f"a{place}", high=2) for place in range(40)))
    region = knotty(described, 40)
    assert region.box_count > 1_000_000
    if not small:
        monkeypatch.setattr(opened, "SMALL_TABLE", -1)
    rows = [[(row * 31 + place * row // 7) % 3 for place in range(40)] for row in range(300)]
    content = ",".join(described.names) + "\n" + "\n".join(",".join(map(str, row)) for row in rows)
    version, _ = frozen(put(tmp_path, content), described)
    assert count(version, region) == [sum(any(row[i] == row[i + 1] == 1 for i in range(0, 40, 2)) for row in rows)]


def test_a_list_of_thousands_of_codes_is_counted_without_a_scan_that_carries_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "SMALL_TABLE", -1)
    described = schema(number("a", high=500_000))
    version, _ = frozen(put(tmp_path, "a\n" + "\n".join(map(str, range(1_000)))), described)
    region = Region.of(described, "a", [(code, code) for code in range(0, 20_000, 2)])
    assert count(version, region) == [500]


def test_what_leaves_the_engine_cannot_be_read(tmp_path: Path) -> None:
    version, _ = frozen(put(tmp_path, "a\n1\n"), schema(number("a")))
    (found,) = counts.count(version, [Region.full(version.schema)])
    assert isinstance(found, ExactCount)
    assert repr(found) == str(found) == "<exact count>"


def test_the_empty_region_opens_no_file() -> None:
    described = schema(number("a"))
    source = opened.Opened(None, described, several=False)  # type: ignore[arg-type]  # nothing to count in
    assert source.count([Region.empty(described)]) == [0]


def test_a_version_that_was_damaged_is_not_counted(tmp_path: Path) -> None:
    version, _ = frozen(put(tmp_path, "a\n1\n2\n"), schema(number("a")))
    path = files.folder() / f"{version.uid}.parquet"
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)
    with pytest.raises(EngineFailed, match="version_damaged"):
        count(version, Region.full(version.schema))


def test_a_version_that_is_gone_is_said_to_be() -> None:
    described = schema(number("a"))
    with pytest.raises(EngineFailed, match="version_missing"):
        count(VersionFile("nowhere", described, person=False, k=1), Region.full(described))


def test_workers_forked_from_one_parent_each_open_their_own(tmp_path: Path, versions: Path) -> None:
    """As a prefork worker does it: the parent imports everything and counts nothing."""
    version, _ = frozen(put(tmp_path, "a\n1\n1\n2\n"), schema(number("a")), uid="forked")
    program = textwrap.dedent(f"""
        import os
        import sys
        from pathlib import Path
        from django.conf import settings
        settings.configure(VERSIONS_DIR=Path({str(versions)!r}), ENGINE="polars")
        from curator.engine import counts
        from curator.mechanism.region import Region
        from curator.mechanism.schema import Schema
        schema = Schema.from_json({version.schema.to_json()!r})
        version = counts.VersionFile("forked", schema, person=False, k=1)
        regions = [Region.of(schema, "a", [(1, 1)]), Region.full(schema)]
        counts._opened[(os.getpid(), "forked")] = "of the parent"
        for _ in range(4):
            if os.fork() == 0:
                found = [count._reveal() for count in counts.count(version, regions)]
                os._exit(0 if found == [2, 3] and "of the parent" not in counts._opened.values() else 1)
        sys.exit(any(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)))
    """)
    root = Path(counts.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, env=dict(os.environ), timeout=120, check=False)
    assert done.returncode == 0
