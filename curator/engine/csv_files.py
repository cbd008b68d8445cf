"""CSV and TSV as text columns, through Arrow's parser; ours are only the questions that must not be guessed from records.

The delimiter is the one whose header holds most of the schema's names. A line of our own making is appended to the file: where it
does not come out as the last record, a quote was opened and never closed, and Arrow alone would swallow the rows after it.
Empty lines are no records. Rows of uneven length are refused: cells that slid sideways would be counted as something else.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from curator.engine import headers
from curator.engine.decoding import Utf8, detect
from curator.engine.tables import Batch, Format, Reading
from curator.mechanism.errors import Refused, TooLarge
from curator.mechanism.values import normalise

HEAD = 1 << 20  # bytes in which the header must end
MAX_RECORD = 8 << 20  # bytes held at once: a record of this size is always read, one of twice this size never
DELIMITERS = (",", ";", "\t", "|")
LAST = "\x04"  # every field of the appended line

NOT_A_TABLE = "This is not a table: expected CSV, TSV or Parquet, with the names of the columns in its first line."


class CsvTable:
    """An opened text file; refuses (not_a_table, bad_header, column_not_in_file, …) before any record is read."""

    unreadable: Mapping[str, str] = {}

    def __init__(self, path: Path, wanted: Sequence[str] | None, reading: Reading) -> None:
        self._path = path
        with path.open("rb") as file:
            self._encoding, self._mark = detect(file.read(4))
            head = _head(file, self._encoding, self._mark)
        delimiter, names = _header(head, tuple(wanted or ()), (reading.delimiter,) if reading.delimiter else DELIMITERS)
        header = headers.tidy(names)
        self._wanted = header if wanted is None else tuple(wanted)
        self._places = headers.find(header, self._wanted)
        self._stream: Utf8 | None = None
        comma = delimiter == ";" if reading.decimal_comma is None else reading.decimal_comma
        self.format = Format("csv", header, self._encoding, delimiter, decimal_comma=comma)

    @property
    def foreign_bytes(self) -> int:
        """Bytes so far that were no UTF-8."""
        return self._stream.foreign if self._stream is not None else 0

    def batches(self) -> Iterator[Batch]:
        """All records, a few megabytes at a time; refuses uneven_rows, unclosed_quote, record_too_large."""
        uneven: list[int] = []
        with self._path.open("rb") as file:
            file.seek(self._mark)
            ending = self.format.delimiter.join([LAST] * len(self.format.header))
            self._stream = Utf8(file, self._encoding, ending=f"\n{ending}\n")
            try:
                yield from self._between(self._arrow(self._stream, uneven))
            except pa.ArrowInvalid as error:
                refusal = _refusal(str(error), uneven)
            else:
                return
        raise refusal

    def _arrow(self, stream: Utf8, uneven: list[int]) -> Iterator[pa.RecordBatch]:
        def note(row: arrow_csv.InvalidRow) -> str:
            uneven.append(row.number or 0)
            return "error"

        names = [f"f{place}" for place in self._places]
        types = dict.fromkeys(names, pa.string())
        batches: Iterator[pa.RecordBatch] = arrow_csv.open_csv(
            pa.PythonFile(io.BufferedReader(stream, 1 << 20), mode="r"),
            arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=MAX_RECORD, use_threads=False),
            arrow_csv.ParseOptions(delimiter=self.format.delimiter, newlines_in_values=True, invalid_row_handler=note),
            arrow_csv.ConvertOptions(include_columns=names, column_types=types, strings_can_be_null=False),
        )
        return batches

    def _between(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Batch]:
        """The records between the header and the appended line, which the last batch must end with."""
        held = next(batches).slice(1)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            yield self._encoded(held)
            held = batch
        ends = held.num_rows > 0 and all(column[-1].as_py() == LAST for column in held.columns)
        if not ends:
            detail = "A quotation mark is opened somewhere and never closed, so that the rest of the file is one cell."
            raise Refused("unclosed_quote", detail)
        yield self._encoded(held.slice(0, held.num_rows - 1))

    def _encoded(self, batch: pa.RecordBatch) -> Batch:
        return {name: column.dictionary_encode() for name, column in zip(self._wanted, batch.columns, strict=True)}


def _head(file: io.BufferedReader, encoding: str, mark: int) -> str:
    file.seek(mark)
    return io.BufferedReader(Utf8(file, encoding), HEAD).read(HEAD).decode("utf-8", "ignore")  # the last character may be cut


def _header(head: str, wanted: tuple[str, ...], delimiters: tuple[str, ...]) -> tuple[str, list[str]]:
    """The delimiter that finds most of the wanted names, then the one that gives most names; and the names."""
    found = [(delimiter, names) for delimiter in delimiters if (names := _first_record(head, delimiter))]
    if not found:
        raise Refused("not_a_table", NOT_A_TABLE)
    known = set(wanted)
    delimiter, names = max(found, key=lambda one: (len(known.intersection(map(normalise, one[1]))), len(one[1])))
    if not known.intersection(map(normalise, names)) and _is_binary(head):
        raise Refused("not_a_table", NOT_A_TABLE)
    return delimiter, names


def _first_record(head: str, delimiter: str) -> list[str]:
    """The first line that is not empty, or nothing where there is none."""
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        record = next((record for record in reader if record), [])
    except csv.Error:  # a field of more than 128 KB: no name of a column
        return []
    if len(head.encode()) >= HEAD - 4 and _is_last(reader):
        raise TooLarge("header_too_large", f"The header does not end within {HEAD:,} bytes.", maximum=HEAD)
    return record


def _is_last(reader: Iterator[list[str]]) -> bool:
    try:
        return next(reader, None) is None
    except csv.Error:  # a long field, but of another record
        return False


def _is_binary(head: str) -> bool:
    return any(char < " " and char not in "\t\n\r\f\v" for char in head)


def _refusal(message: str, uneven: list[int]) -> Refused:
    """What Arrow complains of, without its words: they quote the row."""
    if uneven:
        detail = "A row has more or fewer cells than the header has names; the report says which row."
        return Refused("uneven_rows", detail, row=uneven[0])
    if "straddling" in message:
        return TooLarge(
            "record_too_large", f"One record is longer than {MAX_RECORD:,} bytes: more than can be read.", maximum=MAX_RECORD
        )
    return Refused("not_a_table", NOT_A_TABLE)
