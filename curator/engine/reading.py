"""A curator's file as a table of text: which kind of file it is, shown by its first bytes and never by its name."""

from collections.abc import Sequence
from pathlib import Path

from curator.engine.csv_files import NOT_A_TABLE, CsvTable
from curator.engine.parquet_files import MAGIC, ParquetTable
from curator.engine.tables import Reading, TextTable
from curator.mechanism.errors import Refused

_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf")
_ZIPPED = b"PK\x03\x04"
AS_FOUND = Reading()


def open_table(path: Path, wanted: Sequence[str] | None, reading: Reading = AS_FOUND) -> TextTable:
    """The table in a file, ready to give its `wanted` columns (None: all that can be read).

    Refuses what is no table, and what lacks one of them. `reading` is for text files; Parquet says itself what it is.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise Refused("not_a_table", "The file is empty: expected at least a line with the names of the columns.")
    if start.startswith(_PACKED):
        raise Refused("compressed", "The file is compressed: unpack it and send the CSV, TSV or Parquet inside.")
    if start.startswith(_ZIPPED):
        raise Refused("not_a_table", NOT_A_TABLE + " Archives and spreadsheets must be exported as CSV first.")
    return ParquetTable(path, wanted) if start.startswith(MAGIC) else CsvTable(path, wanted, reading)
