"""Parquet as text columns: each distinct value is written as text once, so that ingestion knows a single kind of cell.

Whole floats lose their point (34.0 is `34`), NaN is a null, moments keep their local date. What cannot be a category, number,
truth value or date (lists, binary, durations) is refused by column, and only where the schema asks for that column.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curator.engine import headers
from curator.engine.tables import Batch, Format
from curator.mechanism.errors import Refused, TooLarge
from curator.mechanism.values import echo, harmless

MAGIC = b"PAR1"
ROWS = 65_536  # read at once
MAX_RECORD = 8 << 20  # bytes of one cell
MAX_ROWS = 2_000_000_000
MAX_CELLS = 1_000_000_000  # of the wanted columns: a constant column of any length packs into nothing
MAX_UNPACKED = 64 << 30  # bytes that the wanted columns may claim to unpack to

_DAMAGED = "The Parquet file is damaged, or no Parquet file."


class ParquetTable:
    """An opened Parquet file; refuses what its footer already shows."""

    foreign_bytes = 0

    def __init__(self, path: Path, wanted: Sequence[str] | None) -> None:
        try:
            # Texts stay the dictionaries that they are packed as: spread over the rows, one long text would fill any memory.
            self._file = pq.ParquetFile(path, read_dictionary=_texts_in(pq.read_schema(path)))
            names = self._file.schema_arrow.names
        except (pa.ArrowException, OSError):
            names = None
        if names is None:
            raise Refused("not_a_table", _DAMAGED)
        self.format = Format("parquet", headers.tidy(names))
        kinds = dict(zip(self.format.header, self._file.schema_arrow.types, strict=True))
        self.unreadable = {name: harmless(str(kind)) for name, kind in kinds.items() if not _readable(kind)}
        self._wanted = tuple(name for name in kinds if name not in self.unreadable) if wanted is None else tuple(wanted)
        self._places = headers.find(self.format.header, self._wanted)
        self._check_kinds()
        self._check_size()

    def _check_kinds(self) -> None:
        for name in self._wanted:
            if kind := self.unreadable.get(name):
                detail = f"The column {echo(name)} holds {echo(kind)}: expected text, numbers, truth values or dates."
                raise Refused("column_not_readable", detail, column=name)

    def _check_size(self) -> None:
        footer = self._file.metadata
        unpacked = sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups))
        cells = footer.num_rows * max(1, len(self._wanted))
        if footer.num_rows > MAX_ROWS or unpacked > MAX_UNPACKED or cells > MAX_CELLS:
            detail = f"At most {MAX_ROWS:,} rows, {MAX_CELLS:,} cells and {MAX_UNPACKED:,} bytes unpacked can be read."
            raise TooLarge("file_too_large", detail)

    def batches(self) -> Iterator[Batch]:
        """All records, a batch of rows at a time; refuses not_a_table where a page cannot be read."""
        names = [self._file.schema_arrow.names[place] for place in self._places]
        try:
            for batch in self._file.iter_batches(batch_size=ROWS, columns=names):
                yield {ours: _text(batch.column(theirs)) for ours, theirs in zip(self._wanted, names, strict=True)}
        except (pa.ArrowException, OSError):
            pass
        else:
            return
        raise Refused("not_a_table", _DAMAGED)


def _texts_in(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _readable(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    checks = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_boolean,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_date,
        pa.types.is_timestamp,
        pa.types.is_null,
    )
    return any(check(kind) for check in checks)


def _text(array: pa.Array) -> pa.DictionaryArray:
    """The same cells as dictionary-encoded text."""
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    values = encoded.dictionary
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())
        values = pc.if_else(pc.is_nan(values), None, values)
    if pa.types.is_date(values.type):
        values = values.cast(pa.date32())
    values = values.cast(pa.string())
    if (pc.max(pc.binary_length(values)).as_py() or 0) > MAX_RECORD:
        raise TooLarge(
            "record_too_large", f"One cell is longer than {MAX_RECORD:,} bytes: more than can be read.", maximum=MAX_RECORD
        )
    return pa.DictionaryArray.from_arrays(encoded.indices, values)
