"""From a file to frozen codes: declared rules decide every cell, one person has at most k records, and nothing else remains."""

import io
import itertools
import json
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings

from curator.engine import files
from curator.engine.counts import VersionFile
from curator.engine.report import ParseReport
from curator.mechanism.errors import Refused
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from tests.engine.tables import category, codes, count, frozen, number, one, put, schema

PLAIN = examples(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def labels(content: str | bytes, described: Schema, tmp_path: Path) -> list[tuple[str, ...]]:
    """What each record became, in words."""
    version, _ = frozen(put(tmp_path, content), described)
    return sorted(
        tuple(column.label(code) for column, code in zip(described.columns, row, strict=True)) for row in codes(version)
    )


def test_white_space_around_a_word_is_no_part_of_it(tmp_path: Path) -> None:
    described = schema(category("city", "Rome", "rome"))
    assert labels("city\n Rome\nRome \n\tRome\n\u00a0Rome\u00a0\nrome\nROME\n", described, tmp_path) == [
        ("Rome",), ("Rome",), ("Rome",), ("Rome",), ("other",), ("rome",),
    ]  # fmt: skip


def test_a_word_in_another_normal_form_or_encoding_is_the_same_word(tmp_path: Path) -> None:
    described = schema(category("city", "Orle\u0301ans"))
    for content in (
        "city\nOrle\u0301ans\n".encode(),
        "city\nOrléans\n".encode("latin-1"),
        "\ufeffcity\nOrléans\n".encode("utf-16-le"),
    ):
        assert labels(content, described, tmp_path) == [("Orléans",)]


def test_ages_that_are_none_follow_the_declared_rule(tmp_path: Path) -> None:
    content = "id,age\n1,abc\n2,NaN\n3,\n4,inf\n5,-4\n6,1e309\n7,34\n8,34.0\n9,120\n"
    missing = schema(number("age", missing=True))
    assert labels(content, missing, tmp_path) == [("0",), ("34",), ("34",), ("99",), ("99",), *[("missing",)] * 4]
    other = schema(number("age", out_of_domain="other"))
    assert labels(content, other, tmp_path) == [("34",), ("34",), *[("other",)] * 7]
    neither = schema(number("age"))
    assert labels(content, neither, tmp_path) == [*[("0",)] * 5, ("34",), ("34",), ("99",), ("99",)]


def test_blank_cells_between_numbers_are_blank(tmp_path: Path) -> None:
    described = schema(number("a"), number("b", missing=True), number("c"))
    assert labels("a,b,c\n34,,51\n", described, tmp_path) == [("34", "missing", "51")]


def test_words_for_nothing_are_values_unless_declared_missing(tmp_path: Path) -> None:
    content = "word\nNA\nNone\nnull\nnan\n"
    kept = schema(category("word", "NA", "None", "null", "nan", missing=True))
    assert labels(content, kept, tmp_path) == [("NA",), ("None",), ("nan",), ("null",)]
    declared = schema(category("word", "None", "null", "nan", missing=True, missing_texts=["", "NA"]))
    assert ("missing",) in labels(content, declared, tmp_path)


def test_whole_numbers_are_categories_too(tmp_path: Path) -> None:
    described = schema(category("grade", "1", "2"))
    assert labels("grade\n1\n2\n", described, tmp_path) == [("1",), ("2",)]
    buffer = io.BytesIO()
    pq.write_table(pa.table({"grade": pa.array([1.0, 2.0, None])}), buffer)
    assert labels(buffer.getvalue(), described, tmp_path) == [("1",), ("2",), ("other",)]


def test_the_curator_says_what_is_true(tmp_path: Path) -> None:
    yes_no = schema({"name": "in", "kind": "boolean", "true_texts": ["Y"], "false_texts": ["N"], "missing": True})
    assert labels("id,in\n1,Y\n2,N\n3,\n", yes_no, tmp_path) == [("false",), ("missing",), ("true",)]
    usual = schema({"name": "in", "kind": "boolean"})
    assert labels("in\ntrue\nFALSE\n1\n", usual, tmp_path) == [("false",), ("true",), ("true",)]


def test_a_semicolon_in_the_header_makes_commas_decimal(tmp_path: Path) -> None:
    described = schema({"name": "rate", "kind": "decimal", "low": "0", "high": "9", "step": "0.5"}, category("word", "1,5"))
    assert labels("rate;word\n1,5;1,5\n2.5;x\n", described, tmp_path) == [("1.5", "1,5"), ("2.5", "other")]
    assert labels('rate,word\n"1,5","1,5"\n', described, tmp_path) == [("0.0", "1,5")]


@pytest.mark.parametrize("records", [0, 1, 3])
def test_a_table_of_any_size_is_a_version_whose_counts_can_be_asked(tmp_path: Path, records: int) -> None:
    described = schema(number("age"))
    version, report = frozen(put(tmp_path, "age\n" + "34\n" * records), described)
    region = one(described, "age", 34)
    assert count(version, region, ~region, Region.full(described)) == [records, 0, records]
    assert report.rows == records


def test_hard_names_are_names_like_all_others(tmp_path: Path) -> None:
    names = ["capital-gain", "a.b", "a b", "order", '"q"', "100%", "年齢", "person", "c1", "records"]
    described = schema(*(number(name, high=9) for name in names))
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    version, _ = frozen(put(tmp_path, f"{header}\n{','.join('0123456789')}\n"), described)
    for place, name in enumerate(names):
        assert count(version, one(described, name, place)) == [1], name


def test_the_person_column_may_have_a_hard_name(tmp_path: Path) -> None:
    described = schema(number("c0"), number("n"))
    version, _ = frozen(put(tmp_path, "c0,n,who's\n1,2,x\n1,2,y\n1,3,y\n"), described, person_column=" who's ", k=2)
    assert count(version, one(described, "c0", 1), one(described, "n", 2)) == [2, 2]


def test_a_record_of_nobody_is_dropped_and_said(tmp_path: Path) -> None:
    described = schema(number("age"))
    version, report = frozen(put(tmp_path, "who,age\na,1\n,2\n  ,3\nb,4\n"), described, person_column="who", k=1)
    assert (count(version, Region.full(described)), report.without_person, report.rows) == ([2], 2, 4)


def test_a_persons_name_is_read_by_the_one_trim_rule(tmp_path: Path) -> None:
    described = schema(number("age"))
    version, _ = frozen(put(tmp_path, "who,age\nRene\u0301,1\n René ,2\nrené,3\n"), described, person_column="who", k=5)
    assert count(version, Region.full(described)) == [2]


def test_a_person_keeps_the_k_smallest_of_their_different_records(tmp_path: Path) -> None:
    described = schema(number("a"), number("b"))
    content = "who,a,b\nx,5,1\nx,1,9\nx,1,9\nx,1,2\nx,0,99\ny,7,7\n"
    version, report = frozen(put(tmp_path, content), described, person_column="who", k=2)
    assert sorted(row[:2] for row in codes(version)) == [(0, 99), (1, 2), (7, 7)]
    assert (report.repeats, report.beyond_k) == (1, 2)


def test_names_do_not_remain(tmp_path: Path, versions: Path) -> None:
    described = schema(number("age"), category("city", "Rome"))
    frozen(put(tmp_path, "who,age,city\nSECRET42,1,HIDDEN43\n"), described, person_column="who", k=1)
    for path in versions.iterdir():
        content = path.read_bytes()
        assert b"SECRET42" not in content
        assert b"HIDDEN43" not in content


def test_the_order_of_the_file_does_not_remain(tmp_path: Path) -> None:
    described = schema(number("a", high=3), category("b", "x", "y"))
    records = [f"{a},{b}" for a in range(4) for b in "xyz"]
    seen = set()
    for order in (records, records[::-1], records[5:] + records[:5]):
        version, _ = frozen(put(tmp_path, "a,b\n" + "\n".join(order)), described)
        seen.add(files.digest(files.folder() / f"{version.uid}.parquet"))
    assert len(seen) == 1


def test_freezing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    described = schema(number("a"))
    path = put(tmp_path, "who,a\nx,5\ny,5\nx,1\ny,0\n")
    digests = [
        files.digest(files.checked(frozen(path, described, person_column="who", k=2, uid="same")[0].uid)) for _ in range(2)
    ]
    assert digests[0] == digests[1]


def test_the_files_are_for_this_account_only_and_hold_no_statistics(tmp_path: Path, versions: Path) -> None:
    version, _ = frozen(put(tmp_path, "age\n1\n2\n"), schema(number("age")))
    assert {stat.S_IMODE(path.stat().st_mode) for path in versions.iterdir()} == {0o600}
    assert stat.S_IMODE(versions.stat().st_mode) == 0o700
    assert len(list(versions.iterdir())) == 2
    footer = pq.read_metadata(versions / f"{version.uid}.parquet")
    assert not footer.row_group(0).column(0).is_stats_set


def test_codes_take_the_smallest_whole_numbers(tmp_path: Path) -> None:
    described = schema(number("a", high=255), number("b", high=256), number("c", high=65_536))
    version, _ = frozen(put(tmp_path, "a,b,c\n1,2,3\n"), described)
    kinds = pq.read_schema(files.checked(version.uid)).types
    assert [str(kind) for kind in kinds] == ["uint8", "uint16", "uint32"]


def test_a_refused_file_leaves_nothing_behind(tmp_path: Path, versions: Path) -> None:
    with pytest.raises(Refused):
        frozen(put(tmp_path, "age\n1\n2,3\n"), schema(number("age")))
    assert not versions.exists() or not list(versions.iterdir())


def test_the_report_counts_cells_that_took_a_rule(tmp_path: Path) -> None:
    described = schema(number("age", missing=True, missing_texts=["", "-9"]), category("city", "Rome"))
    content = "age,city,more\n1,Rome,x\n,Oslo,x\n-9,Rome,x\n-9.0,Rome,x\nabc,Oslo,x\n120,Rome,x\n5.7,Rome,x\n"
    _, report = frozen(put(tmp_path, content), described)
    assert report.cells == {
        "age": {"blank": 1, "missing": 2, "unreadable": 1, "outside": 1, "between": 1},
        "city": {"outside": 2},
    }
    assert json.loads(report.to_json())["format"]["header"] == ["age", "city", "more"]


def likely(mine: VersionFile, *others: VersionFile) -> list[bool]:
    return [bool(files.alike(mine.uid, [other.uid])) for other in others]


def test_the_same_records_are_known_again_shuffled_reordered_and_under_other_bounds(tmp_path: Path) -> None:
    first, _ = frozen(put(tmp_path, "a,b\n1,x\n2,y\n3,y\n"), schema(number("a"), category("b", "x", "y")))
    again, _ = frozen(put(tmp_path, "b;a\ny;3\nx;1\ny;2\n"), schema(category("b", "y"), number("a", high=2)))
    fewer, _ = frozen(put(tmp_path, "b,c\ny,0\nx,0\ny,0\n"), schema(category("b", "x", "y"), number("c")))
    changed, _ = frozen(put(tmp_path, "a,b\n1,x\n2,y\n4,y\n"), schema(number("a"), category("b", "x", "y")))
    apart, _ = frozen(put(tmp_path, "c\n1\n2\n3\n"), schema(number("c")))
    assert likely(first, again, fewer, changed, apart, first) == [True, True, False, False, False]


def test_how_often_a_text_stands_in_a_column_belongs_to_its_fingerprint(tmp_path: Path) -> None:
    first, _ = frozen(put(tmp_path, "a\n1\n1\n2\n"), schema(number("a")))
    second, _ = frozen(put(tmp_path, "a\n1\n2\n2\n"), schema(number("a")))
    assert likely(first, second) == [False]


def test_the_fingerprint_says_nothing_without_its_key(tmp_path: Path, settings: Settings) -> None:
    path, described = put(tmp_path, "a\n1\n"), schema(number("a"))
    first, _ = frozen(path, described)
    settings.CONTENT_HASH_KEY = "another key altogether, also of more than thirty-two signs"
    second, _ = frozen(path, described)
    settings.CONTENT_HASH_KEY = None
    third, _ = frozen(path, described)
    assert likely(first, second, third) == [False, False]
    assert json.loads((files.folder() / f"{third.uid}.json").read_text())["fingerprint"] == {}


CELL = st.one_of(st.sampled_from(["1", "2", "3", "", "x", "99", "1,5", "-1"]), st.text(max_size=6))
RECORD = st.tuples(st.sampled_from(["ann", "bo", "cy", ""]), CELL, CELL)
NEIGHBOURS = schema(number("a", high=3, missing=True), category("b", "1", "2", "x"))


def written(records: list[tuple[str, ...]], delimiter: str) -> bytes:
    lines = [("who", "a", "b"), *records]
    quoted = (delimiter.join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    return "\n".join(quoted).encode("utf-8", "replace")


@PLAIN
@given(st.lists(RECORD, max_size=12), st.integers(1, 3), st.sampled_from(",;"))
def test_without_one_person_every_other_record_stays_as_it_was(
    tmp_path: Path, records: list[tuple[str, ...]], k: int, delimiter: str
) -> None:
    """Ingestion is stable: whatever one person's cells hold, they change no count by more than one and nobody else's codes."""
    whole, _ = frozen(put(tmp_path, written(records, delimiter)), NEIGHBOURS, person_column="who", k=k)
    without = [record for record in records if record[0] != "ann"]
    less, _ = frozen(put(tmp_path, written(without, delimiter)), NEIGHBOURS, person_column="who", k=k)
    gone = len(codes(whole)) - len(codes(less))
    assert 0 <= gone <= k
    remaining = [row[:2] for row in codes(whole)]
    for row in codes(less):
        remaining.remove(row[:2])
    cells = itertools.product(range(5), range(4))
    regions = [Region.of(NEIGHBOURS, "a", [(a, a)]) & Region.of(NEIGHBOURS, "b", [(b, b)]) for a, b in cells]
    regions += [regions[0] | regions[7] | regions[-1], ~regions[3], Region.full(NEIGHBOURS)]
    differences = [more - fewer for more, fewer in zip(count(whole, *regions), count(less, *regions), strict=True)]
    assert set(differences) <= {0, 1}
    assert sum(differences[:20]) <= k


@PLAIN
@given(st.lists(RECORD, max_size=12))
def test_without_one_record_every_other_stays_where_a_record_is_a_person(tmp_path: Path, records: list[tuple[str, ...]]) -> None:
    whole, report = frozen(put(tmp_path, written(records, ",")), NEIGHBOURS)
    less, _ = frozen(put(tmp_path, written(records[1:], ",")), NEIGHBOURS)
    remaining = codes(whole)
    for row in codes(less):
        remaining.remove(row)
    assert len(remaining) == min(1, len(records))
    assert isinstance(report, ParseReport)
    assert report.rows == len(records)
