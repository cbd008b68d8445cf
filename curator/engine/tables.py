"""What reading a file gives: its format and its wanted columns, a batch of rows at a time, as text.

A batch holds every column dictionary-encoded, so that each distinct text of it is looked at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

Batch = dict[str, pa.DictionaryArray]  # column name -> texts (null: nothing there), all of one length


@dataclass(frozen=True, slots=True)
class Format:
    """How the bytes were understood; decided from the header and the schema alone, never from the records below."""

    kind: str  # csv | parquet
    header: tuple[str, ...]
    encoding: str = ""
    delimiter: str = ""
    decimal_comma: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What a curator says of a text file; where they say nothing (empty, None) the header decides."""

    delimiter: str = ""
    decimal_comma: bool | None = None


class TextTable(Protocol):
    """A table on disk, opened; `batches` reads it once, from top to bottom, in bounded memory."""

    @property
    def format(self) -> Format:
        """How the file was understood."""
        ...

    @property
    def unreadable(self) -> Mapping[str, str]:
        """Columns whose cells are none of text, number, truth value or date, with what they hold."""
        ...

    @property
    def foreign_bytes(self) -> int:
        """Bytes so far that were no UTF-8 and were read as Windows-1252 (which covers Latin-1)."""
        ...

    def batches(self) -> Iterator[Batch]:
        """Refuses what is no table, rows of uneven length, records beyond the limit."""
        ...
