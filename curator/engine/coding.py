"""Texts of one column become codes of its public domain, and what did not fit is tallied for the curator's report.

Each distinct text of a batch is looked at once. Beside the codes a keyed fingerprint of the column's texts is summed: it does not
depend on the order of rows, and without the key says nothing. Codes, tallies and fingerprints stay on the worker's side.
"""

import hashlib
from collections import Counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curator.engine.offending import Offenders
from curator.engine.shapes import plain_number
from curator.mechanism.domains import Grid
from curator.mechanism.schema import Column
from curator.mechanism.values import normalise

Codes = NDArray[np.unsignedinteger]

MEMORY = 500_000  # distinct texts of a column that are remembered from one batch to the next
MODULUS = 1 << 256
GROUPED = "digits in groups"  # stands in for a number that is none: no column reads it as one


class Coder:
    """Reads one column, batch after batch."""

    def __init__(self, column: Column, *, decimal_comma: bool = False, key: str = "", offenders: Offenders | None = None) -> None:
        self.column = column
        self.tally: Counter[str] = Counter()
        self.offenders = offenders
        self._comma = decimal_comma and column.kind in ("integer", "decimal")
        self._keyed = hashlib.blake2b(column.name.encode(), key=key.encode()[:64], digest_size=32) if key else None
        self._fingerprint = 0
        self._known: dict[str | None, tuple[int, str, int]] = {}
        self._kind = np.min_scalar_type(column.size - 1)

    @property
    def fingerprint(self) -> str:
        """Hexadecimal; empty without a key."""
        return f"{self._fingerprint:064x}" if self._keyed is not None else ""

    @property
    def none(self) -> Codes:
        """The codes of no cell at all, in the type of all others."""
        return np.zeros(0, dtype=self._kind)

    def encode(self, texts: pa.DictionaryArray) -> Codes:
        """The code of each cell."""
        written = [*texts.dictionary.to_pylist(), None]
        distinct = [self._look(text) for text in written]
        places = texts.indices.fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)
        counted = np.bincount(places, minlength=len(distinct)).tolist()
        for text, (_, verdict, mark), times in zip(written, distinct, counted, strict=True):
            self._fingerprint = (self._fingerprint + mark * times) % MODULUS
            if verdict and times:
                self.tally[verdict] += times
                if self.offenders is not None:
                    self.offenders.take(text or "", verdict, times)
        codes: Codes = np.array([code for code, _, _ in distinct], dtype=self._kind)[places]
        return codes

    def _look(self, text: str | None) -> tuple[int, str, int]:
        """Code, verdict and mark of a text."""
        if (known := self._known.get(text)) is not None:
            return known
        read = self._plain(text) if text and self._comma else text
        code = self.column.encode_text(read)
        found = code, verdict(self.column, read, code), self._mark(normalise(text or ""))
        if len(self._known) < MEMORY:
            self._known[text] = found
        return found

    def _plain(self, text: str) -> str:
        """The text with a decimal point; as it is where the column declares it as missing."""
        if normalise(text) in self.column.missing_texts:
            return text
        plain = plain_number(text, decimal_comma=True, whole=self.column.kind == "integer")
        return GROUPED if plain is None else plain

    def _mark(self, tidy: str) -> int:
        if self._keyed is None:
            return 0
        keyed = self._keyed.copy()
        keyed.update(b"\0" + tidy.encode())
        return int.from_bytes(keyed.digest(), "big")


def verdict(column: Column, text: str | None, code: int) -> str:
    """Why a text is not simply the value that its code stands for; empty where it is.

    `blank`, `missing` (declared so), `unreadable`, `outside` the domain, or `between` two points of its grid.
    """
    tidy = normalise(text or "")
    if not tidy:
        return "blank"
    if tidy in column.missing_texts:
        return "missing"
    if not isinstance(column.domain, Grid):
        return "" if code < column.value_count else "outside"
    position = column.domain.read(tidy, from_file=True)
    if position is None:
        return "unreadable"
    if position in map(column.domain.read, column.missing_texts):  # in another spelling, -9.0 for -9
        return "missing"
    if not column.domain.inside(position):
        return "outside"
    return "between" if position.denominator != 1 else ""
