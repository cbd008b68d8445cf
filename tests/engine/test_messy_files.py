"""Files as people have them: each kind of mess is read as meant, described, or refused in words; never read as something else."""

import io
import zipfile
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator.engine.describing import Described, describe
from curator.engine.reading import open_table
from curator.engine.tables import Reading
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from tests.engine.tables import category, codes, frozen, number, put, schema, texts


def described(path: Path, **more: Any) -> Described:
    return describe(path, **more)


def shapes(path: Path, column: str, **more: Any) -> Mapping[str, int]:
    return described(path, **more).description.shapes[column]


def refusal(path: Path, **more: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        described(path, **more)
    return caught.value


def labels(path: Path, column: Mapping[str, Any]) -> list[str]:
    """What each cell of one column became, sorted."""
    declared: Schema = schema(column)
    version, _ = frozen(path, declared)
    return sorted(declared.columns[0].label(row[0]) for row in codes(version))


@pytest.mark.parametrize("line", ["\r", "\n", "\r\n", "\r\r", "\n\n", "\r\n\r\n"])
def test_lines_may_end_as_on_any_machine(tmp_path: Path, line: str) -> None:
    assert texts(put(tmp_path, line.join(["id,age", "1,34", "2,35", ""])), "id", "age") == [("1", "34"), ("2", "35")]


def test_lines_may_end_in_different_ways_in_one_file(tmp_path: Path) -> None:
    assert texts(put(tmp_path, "id,age\r\n1,34\n2,35\r3,36"), "age") == [("34",), ("35",), ("36",)]


def test_nul_in_a_cell_is_no_value_and_breaks_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, b"id,city\n1,Ro\x00me\n2,Rome\n")
    assert labels(path, category("city", "Rome", out_of_domain="other")) == ["Rome", "other"]


@pytest.mark.parametrize("content", ['id,city\n1,"Rome\n2,Oslo\n', '"id,city\n1,Rome\n', 'id,city\n1,Rome\n2,"\n'])
def test_quotes_without_an_end_are_refused_and_swallow_nothing(tmp_path: Path, content: str) -> None:
    assert refusal(put(tmp_path, content)).code in ("unclosed_quote", "not_a_table", "uneven_rows")


@pytest.mark.parametrize(("content", "row"), [("a,b\n1\n", 2), ("a,b\n1,2\n1,2,3\n", 3), ("a,b\n1,2\n\n1,2,\n", 3)])
def test_ragged_rows_are_refused_with_the_row(tmp_path: Path, content: str, row: int) -> None:
    refused = refusal(put(tmp_path, content))
    assert (refused.code, refused.operands["row"]) == ("uneven_rows", row)


def test_a_very_long_name_is_read_and_cannot_be_declared(tmp_path: Path) -> None:
    path = put(tmp_path, f"id,{'x' * 100_000}\n1,2\n")
    assert len(described(path).description.format.header[1]) == 100_000
    with pytest.raises(Refused, match="200 characters"):
        schema(number("x" * 201))


def test_dates_are_iso_dates_where_nothing_else_is_declared(tmp_path: Path) -> None:
    cells = ["2020-01-31", "2020-01-31T10:00:00", "31.01.2020", "01/31/2020", "2020-02-30", "20200131", "Jan 31, 2020", ""]
    path = put(tmp_path, "day;x\n" + "".join(f"{cell};\n" for cell in cells))
    assert shapes(path, "day") == {"date": 2, "dated": 2, "text": 2, "whole": 1, "blank": 1}
    column = {"name": "day", "kind": "date", "low": "2019-01-01", "high": "2021-01-01", "missing": True, "out_of_domain": "other"}
    assert labels(path, column) == ["2020-01-31"] * 2 + ["missing"] + ["other"] * 5


GROUPS = ["1,234.50", "1,234,567", "1.234,50", "1 234", "1'234", "1\u202f234"]


def test_digits_in_groups_are_shown_as_such_and_never_read_as_another_number(tmp_path: Path) -> None:
    path = put(tmp_path, "n|x\n" + "".join(f"{cell}|\n" for cell in GROUPS))
    assert shapes(path, "n") == {"grouped": len(GROUPS)}
    column = {"name": "n", "kind": "decimal", "low": 0, "high": 2_000_000, "step": 0.5, "out_of_domain": "other"}
    assert labels(path, column) == ["other"] * len(GROUPS)


@pytest.mark.parametrize(("cell", "whole", "decimal"), [
    ("1.234", "other", "1.234"), ("1,234", "other", "1.234"), ("12,5", "12", "12.500"), ("12.5", "12", "12.500"),
    ("1.234,5", "other", "other"), ("7,0", "7", "7.000"), ("0,125", "0", "0.125"),
])  # fmt: skip
def test_with_decimal_commas_what_may_be_a_group_is_no_whole_number(tmp_path: Path, cell: str, whole: str, decimal: str) -> None:
    path = put(tmp_path, f"n;x\n{cell};\n")
    assert labels(path, number("n", 5_000, out_of_domain="other")) == [whole]
    column = {"name": "n", "kind": "decimal", "low": 0, "high": 5_000, "step": 0.001, "out_of_domain": "other"}
    assert labels(path, column) == [decimal]


def test_the_curator_can_say_that_a_tab_file_has_decimal_commas(tmp_path: Path) -> None:
    path = put(tmp_path, "n\tx\n1,5\t\n")
    assert shapes(path, "n") == {"text": 1}
    assert shapes(path, "n", reading=Reading(decimal_comma=True)) == {"decimal": 1}


def test_a_delimiter_that_is_said_is_the_delimiter(tmp_path: Path) -> None:
    path = put(tmp_path, "id|a, b, c, d\n1|2\n")
    assert open_table(path, None).format.header == ("id|a", "b", "c", "d")
    assert open_table(path, None, Reading(delimiter="|")).format.header == ("id", "a, b, c, d")


def test_numbers_that_are_none_are_words(tmp_path: Path) -> None:
    path = put(tmp_path, "n\nNaN\ninf\n-Infinity\n0x1F\n1e5\n１２\n1e400\n")
    assert shapes(path, "n") == {"text": 5, "whole": 2}


def parquet(folder: Path, columns: Mapping[str, Any]) -> Path:
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), buffer)
    return put(folder, buffer.getvalue(), "people.parquet")


def test_parquet_of_many_kinds_is_described_and_what_holds_no_cells_is_named(tmp_path: Path) -> None:
    path = parquet(tmp_path, {
        "list": pa.array([[1], [2, 3]]), "struct": pa.array([{"a": 1}, None]),
        "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int8())),
        "bytes": pa.array([b"x", b"y"]), "word": pa.array(["Rome", None]).dictionary_encode(),
        "moment": pa.array([0, 1], pa.timestamp("ns", tz="Europe/Rome")), "exact": pa.array([Decimal("1.50"), None]),
        "big": pa.array([Decimal("1" * 30), None]), "half": pa.array([1.0, 2.5], pa.float32()), "yes": pa.array([True, None]),
        "span": pa.array([1, 2], pa.duration("s")), "clock": pa.array([1, 2], pa.time32("s")), "empty": pa.nulls(2),
    })  # fmt: skip
    found = described(path).description
    assert set(found.unreadable) == {"list", "struct", "map", "bytes", "span", "clock"}
    assert {name: dict(tally) for name, tally in found.shapes.items()} == {
        "word": {"text": 1, "blank": 1}, "moment": {"date": 2}, "exact": {"decimal": 1, "blank": 1},
        "big": {"whole": 1, "blank": 1},
        "half": {"whole": 1, "decimal": 1}, "yes": {"truth": 1, "blank": 1}, "empty": {"blank": 2},
    }  # fmt: skip


def test_a_moment_keeps_the_date_of_its_own_time_zone(tmp_path: Path) -> None:
    late = pa.array([1_577_835_000], pa.timestamp("s", tz="UTC")).cast(pa.timestamp("s", tz="Asia/Tokyo"))  # 2019-12-31 23:30 UTC
    column = {"name": "t", "kind": "date", "low": "2019-12-01", "high": "2020-02-01"}
    assert labels(parquet(tmp_path, {"t": late}), column) == ["2020-01-01"]


def test_parquet_without_a_column_is_refused(tmp_path: Path) -> None:
    assert refusal(parquet(tmp_path, {})).code == "no_columns"


def test_parquet_with_a_repeated_name_is_refused_with_places(tmp_path: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["age", " age"])
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    assert "positions 1, 2" in refusal(put(tmp_path, buffer.getvalue())).detail


def test_an_archive_or_spreadsheet_under_another_name_is_told(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("people.csv", "id,age\n1,2\n")
    assert "Archives and spreadsheets" in refusal(put(tmp_path, buffer.getvalue(), "people.csv")).detail
    assert refusal(put(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))).code == "not_a_table"


def test_categories_typed_as_numbers_match_however_the_file_spells_them(tmp_path: Path) -> None:
    path = put(tmp_path, "n,x\n1,\n1.0,\n 2 ,\n02,\n")
    assert labels(path, category("n", "1", "2")) == ["1", "1", "2", "other"]


def test_the_curator_says_what_other_spellings_mean(tmp_path: Path) -> None:
    path = put(tmp_path, "sex,x\nf,\nfemale,\nF,\nm,\nunknown,\n1.0,\n")
    declared = category("sex", "F", "M", spellings={"F": ["f", "female", "1"], "M": ["m"]})
    assert labels(path, declared) == ["F", "F", "F", "F", "M", "other"]
    with pytest.raises(Refused, match="not a value"):
        schema(declared).columns[0].encode_literal("female")


def test_declared_columns_are_tried_on_the_file_before_it_is_frozen(tmp_path: Path) -> None:
    path = put(tmp_path, "age,x\nabc,\n300,\n,\n34,\n")
    found = described(path, columns=schema(number("age"), number("gone")).columns).description
    assert found.cells == {"age": {"unreadable": 1, "outside": 1, "blank": 1}}
    assert found.rows == 4


@pytest.mark.parametrize(("cells", "wanted"), [
    (["1", "20", ""], {"kind": "integer", "low": "1", "high": "20", "missing": True}),
    (["1.5", "20"], {"kind": "decimal", "low": "1.5", "high": "20.0", "step": "0.1", "missing": False}),
    (["2020-01-31", "1999-12-31"], {"kind": "date", "low": "1999-12-31", "high": "2020-01-31"}),
    (["Y", "N", "n"], {"kind": "boolean"}), (["Rome", "Oslo", "NA"], {"values": ["Oslo", "Rome"], "missing_texts": ["", "NA"]}),
    (["1", "2", "3", "4", "x"], {"kind": "integer", "low": "1", "high": "4"}), (["9" * 15, "8"], {"kind": "category"}),
])  # fmt: skip
def test_a_domain_is_suggested_by_what_most_cells_look_like(tmp_path: Path, cells: list[str], wanted: dict[str, Any]) -> None:
    path = put(tmp_path, "n|x\n" + "".join(f"{cell}|\n" for cell in cells))
    found = described(path, suggest=["n", "gone"]).suggestions
    assert set(found) == {"n"}
    assert found["n"] is not None
    assert {name: found["n"].get(name) for name in wanted} == wanted
    assert Schema.from_json({"columns": [found["n"]]}).columns


@pytest.mark.parametrize("cells", [[], [""], [f"text {place}" for place in range(501)], ["x" * 300]])
def test_nothing_is_suggested_where_the_cells_suggest_nothing(tmp_path: Path, cells: list[str]) -> None:
    path = put(tmp_path, "n|x\n" + "".join(f"{cell}|\n" for cell in cells))
    assert described(path, suggest=["n"]).suggestions == {"n": None}


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_file_of_any_size_is_described(tmp_path: Path, rows: int) -> None:
    assert described(put(tmp_path, "id,age\n" + "1,2\n" * rows)).description.rows == rows


def test_a_description_fails_without_a_word_of_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str, **_: object) -> str:
        raise ValueError(text)

    monkeypatch.setattr("curator.engine.shapes.forms_of", fail)
    with pytest.raises(Exception, match="describe_failed") as caught:
        described(put(tmp_path, "id\nSECRET42\n"))
    assert "SECRET42" not in str(caught.value) + repr(caught.value.__context__)
