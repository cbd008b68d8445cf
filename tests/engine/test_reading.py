"""Files as people have them: each read as meant, or refused in words."""

import codecs
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator.engine import csv_files
from curator.engine.reading import open_table
from curator.mechanism.errors import Refused
from tests.engine.tables import put, texts

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"


def refused(path: Path, *wanted: str) -> Refused:
    with pytest.raises(Refused) as caught:
        texts(path, *wanted)
    return caught.value


def test_quotes_around_every_cell_are_no_part_of_it(tmp_path: Path) -> None:
    path = put(tmp_path, '"city","sex"\n"Rome","f"\n"a ""big"" one","m"\n')
    assert texts(path, "city", "sex") == [("Rome", "f"), ('a "big" one', "m")]


def test_a_quote_inside_a_cell_is_a_quote(tmp_path: Path) -> None:
    assert texts(put(tmp_path, 'id,size\n1,5" pipe\n2,x"y"z\n'), "size") == [('5" pipe',), ('x"y"z',)]


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_a_cell_over_three_lines_is_one_cell_of_one_record(tmp_path: Path, line: str) -> None:
    path = put(tmp_path, line.join(["id,note,age", '1,"first', "second", 'third",34', "2,x,35", ""]))
    assert texts(path, "id", "age") == [("1", "34"), ("2", "35")]


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest_of_the_file(tmp_path: Path) -> None:
    assert refused(put(tmp_path, 'id,city\n1,Rome\n2,"Oslo\n3,Lima\n4,Rome\n'), "id").code == "unclosed_quote"
    assert refused(put(tmp_path, 'city\nRome\n"Oslo\nLima\n'), "city").code == "unclosed_quote"


def test_blank_and_repeated_names_are_refused_with_their_positions(tmp_path: Path) -> None:
    refusal = refused(put(tmp_path, "id,,age,age,a-b,a_b\n1,2,3,4,5,6\n"), "id")
    assert refusal.code == "bad_header"
    assert "no name at position 2" in refusal.detail
    assert '"age" stands at positions 3, 4' in refusal.detail


def test_names_that_differ_in_one_sign_are_two_columns(tmp_path: Path) -> None:
    path = put(tmp_path, "a-b,a_b,a.b,a b,A,a\n1,2,3,4,5,6\n")
    assert texts(path, "a_b", "a-b", "a", "A", "a b", "a.b") == [("2", "1", "6", "5", "4", "3")]


@pytest.mark.parametrize(("delimiter", "content"), [
    (",", "id,city,income\n1,Rome,3.5\n"),
    (";", "id;city;income\n1;Rome;3,5\n"),
    ("\t", "id\tcity\tincome\n1\tRome\t3.5\n"),
    ("|", "id|city|income\n1|Rome|3.5\n"),
])  # fmt: skip
def test_the_delimiter_is_found_whatever_the_file_is_called(tmp_path: Path, delimiter: str, content: str) -> None:
    table = open_table(put(tmp_path, content), ["city", "income"])
    assert (table.format.delimiter, table.format.decimal_comma) == (delimiter, delimiter == ";")
    assert texts(tmp_path / "people.csv", "city") == [("Rome",)]


def test_the_delimiter_does_not_depend_on_records(tmp_path: Path) -> None:
    """One record full of semicolons must not change how all others are read."""
    head = "id,city\n1,Rome\n"
    assert texts(put(tmp_path, head), "city") == [("Rome",)]
    assert texts(put(tmp_path, head + "2,a;b;c;d;e;f\n" * 9), "city")[0] == ("Rome",)


def test_commas_in_a_name_do_not_outvote_the_names_of_the_schema(tmp_path: Path) -> None:
    assert texts(put(tmp_path, "id;income, in dollars, a year, gross\n1;5\n"), "id") == [("1",)]


@pytest.mark.parametrize(("encoding", "mark"), [
    ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE), ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", b""), ("utf-16-be", b""), ("utf-8", b""),
])  # fmt: skip
def test_every_unicode_encoding_gives_the_same_table(tmp_path: Path, encoding: str, mark: bytes) -> None:
    path = put(tmp_path, mark + "id,città,🙂\n1,Orléans,年齢\n".encode(encoding))
    assert texts(path, "id", "città", "🙂") == [("1", "Orléans", "年齢")]
    assert open_table(path, ["id"]).format.encoding == encoding


def test_latin_1_is_read_as_meant_and_the_curator_is_told(tmp_path: Path) -> None:
    table = open_table(put(tmp_path, "id,city\n1,Orléans\n2,Zürich\n".encode("latin-1")), ["city"])
    assert [cell for batch in table.batches() for cell in batch["city"].to_pylist()] == ["Orléans", "Zürich"]
    assert table.foreign_bytes == 2


def test_one_record_in_latin_1_changes_no_other_record(tmp_path: Path) -> None:
    proper = "id,city\n1,Orléans\n".encode()
    assert texts(put(tmp_path, proper), "city") == [("Orléans",)]
    assert texts(put(tmp_path, proper + "2,Orléans\n".encode("latin-1")), "city") == [("Orléans",), ("Orléans",)]


def test_a_name_in_another_normal_form_is_the_same_name(tmp_path: Path) -> None:
    assert texts(put(tmp_path, "id, cafe\u0301 \n1,x\n"), "caf\u00e9") == [("x",)]


@pytest.mark.parametrize("content", ["id,age", "id,age\n", "id,age\r\n\r\n"])
def test_a_header_alone_is_a_table_of_no_records(tmp_path: Path, content: str) -> None:
    assert texts(put(tmp_path, content), "age") == []


def test_lines_without_anything_are_no_records(tmp_path: Path) -> None:
    assert texts(put(tmp_path, "\n\nid,age\n\n1,34\n\n\n2,35\n\n"), "age") == [("34",), ("35",)]


def test_words_that_mean_nothing_elsewhere_stay_words(tmp_path: Path) -> None:
    words = ["NA", "None", "null", "nan", "N/A", "-", "#N/A", "NULL"]
    assert texts(put(tmp_path, "word\n" + "\n".join(words) + "\n"), "word") == [(word,) for word in words]


@pytest.mark.parametrize(("content", "code"), [
    (b"", "not_a_table"), (PNG, "not_a_table"), (b"\n\n\n", "not_a_table"), (b"PK\x03\x04rest", "not_a_table"),
    (b"\x1f\x8b\x08\x00rest", "compressed"), (b"PAR1 but then nothing", "not_a_table"), (b"\x00" * 4096, "not_a_table"),
    (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\x01\x02", "not_a_table"),
])  # fmt: skip
def test_what_is_no_table_is_refused_whatever_it_is_called(tmp_path: Path, content: bytes, code: str) -> None:
    assert refused(put(tmp_path, content), "id").code == code


def test_a_column_that_the_file_lacks_is_named_with_the_near_one(tmp_path: Path) -> None:
    refusal = refused(put(tmp_path, "id,Age\n1,34\n"), "id", "age")
    assert (refusal.code, refusal.detail) == ("column_not_in_file", 'The file has no column "age". Did you mean "Age"?')


@pytest.mark.parametrize("row", ["1", "1,2,3", "1,2,", '"1,2"'])
def test_rows_of_uneven_length_are_refused_without_their_words(tmp_path: Path, row: str) -> None:
    refusal = refused(put(tmp_path, f"id,age\n8,9\n{row}\n3,4\n"), "id")
    assert (refusal.code, refusal.operands) == ("uneven_rows", {"row": 3})
    assert row not in refusal.detail


def test_a_hundred_thousand_columns_are_refused(tmp_path: Path) -> None:
    names = ",".join(f"c{place}" for place in range(100_000))
    assert refused(put(tmp_path, f"{names}\n"), "c1").code == "too_many_columns"


def test_a_header_without_end_is_refused(tmp_path: Path) -> None:
    assert refused(put(tmp_path, "id," + "x" * 3_000_000), "id").code in ("header_too_large", "not_a_table")
    assert refused(put(tmp_path, "id," + ",".join(f"c{place}" for place in range(300_000))), "id").code == "header_too_large"


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_cell_beyond_the_limit_is_refused(tmp_path: Path, quote: str) -> None:
    huge = quote + "x" * (2 * csv_files.MAX_RECORD + 10) + quote
    assert refused(put(tmp_path, f"id,note\n1,y\n2,{huge}\n"), "id").code == "record_too_large"


def test_a_cell_just_within_the_limit_is_read(tmp_path: Path) -> None:
    long = "x" * (csv_files.MAX_RECORD - 100)
    assert texts(put(tmp_path, f"id,note\n1,y\n2,{long}\n3,z\n"), "id", "note") == [("1", "y"), ("2", long), ("3", "z")]


def test_records_over_many_blocks_all_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "MAX_RECORD", 64)
    path = put(tmp_path, "id,note\n" + "".join(f'{place},"a\nb{place}é"\n' for place in range(500)))
    assert texts(path, "id", "note") == [(str(place), f"a\nb{place}é") for place in range(500)]


def parquet(columns: dict[str, pa.Array]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def test_parquet_gives_the_texts_that_a_csv_would(tmp_path: Path) -> None:
    columns = {
        "whole": pa.array([34, None], pa.int64()),
        "float": pa.array([34.0, float("nan")]),
        "small": pa.array([1.5, None], pa.float32()),
        "truth": pa.array([True, None]),
        "day": pa.array([18_263, None], pa.int32()).cast(pa.date32()),
        "moment": pa.array([1_577_934_245_000_000, None], pa.timestamp("us")),
        "exact": pa.array(["1.50", None]).cast(pa.decimal128(6, 2)),
        "word": pa.array(["Rome", None]).dictionary_encode(),
        "large": pa.array(["Rome", ""], pa.large_string()),
        "nothing": pa.nulls(2),
    }
    read = texts(put(tmp_path, parquet(columns), "people.parquet"), *columns)
    assert read[0] == ("34", "34", "1.5", "true", "2020-01-02", "2020-01-02 03:04:05.000000", "1.50", "Rome", "Rome", None)
    assert read[1] == (None, None, None, None, None, None, None, None, "", None)


def test_parquet_names_with_dots_are_plain_names(tmp_path: Path) -> None:
    path = put(tmp_path, parquet({"a.b": pa.array([1]), "a": pa.array([2]), "b": pa.array([3])}))
    assert texts(path, "a", "a.b") == [("2", "1")]


def test_parquet_lists_are_refused_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, parquet({"id": pa.array([1]), "visits": pa.array([[1, 2]]), "bytes": pa.array([b"x"])}))
    assert texts(path, "id") == [("1",)]
    assert refused(path, "visits").code == "column_not_readable"
    assert refused(path, "bytes").code == "column_not_readable"


def test_a_parquet_file_cut_short_is_refused(tmp_path: Path) -> None:
    whole = parquet({"id": pa.array(list(range(10_000)))})
    assert refused(put(tmp_path, whole[: len(whole) // 2]), "id").code == "not_a_table"
    spoiled = bytearray(whole)
    spoiled[100:400] = b"\xff" * 300
    assert refused(put(tmp_path, bytes(spoiled)), "id").code == "not_a_table"


def test_a_parquet_file_of_no_records_is_a_table(tmp_path: Path) -> None:
    assert texts(put(tmp_path, parquet({"id": pa.array([], pa.int64())})), "id") == []
