"""A file becomes a frozen version: integer codes of the public domain, at most k records of each person, in no order of the file.

With a person column:
- a record without a person (blank, null) is dropped: nobody could be held to k such records;
- exact repeats of a person's record (the same codes) are kept once: counts are of distinct persons;
- of the others the k smallest stay, compared code by code in schema order. The rule looks at that person's records only, so that
  one person more or less changes nothing about anybody else;
- persons get whole numbers in the order of their records' codes: names are gone.
Rows are sorted by their codes, and the file carries no statistics by which an engine could skip rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from django.conf import settings

from curator.engine import files
from curator.engine.coding import Coder, Codes
from curator.engine.reading import AS_FOUND, open_table
from curator.engine.report import ParseReport
from curator.engine.sealing import sealed
from curator.engine.tables import Batch, Reading
from curator.mechanism.schema import Schema
from curator.mechanism.values import normalise


@sealed("freeze_failed")
def freeze(
    path: Path, *, schema: Schema, person_column: str, k: int, uid: str, reading: Reading = AS_FOUND,
    alive: Callable[[], object] = lambda: None,
) -> ParseReport:  # fmt: skip
    """Store the file at `path` as version `uid`; refuses what is no table or lacks a column. Without a person column k is 1.

    A second time with the same file it stores the same bytes again. `alive` is called as it gets on.
    """
    person_column = normalise(person_column)
    wanted = [*schema.names, *([person_column] if person_column else [])]
    table = open_table(path, list(dict.fromkeys(wanted)), reading)
    rows = _Rows(
        [
            Coder(column, decimal_comma=table.format.decimal_comma, key=settings.CONTENT_HASH_KEY or "")
            for column in schema.columns
        ],
        person_column,
    )
    for batch in table.batches():
        rows.take(batch)
        alive()
    frame, dropped = _settle(rows.frame(), [files.column_name(place) for place in range(len(schema.columns))], k=k)
    files.store(uid, partial(_write, frame), fingerprint=rows.fingerprint())
    return ParseReport(table.format, rows.count, table.foreign_bytes, cells=rows.tallies(), **dropped)


@dataclass(slots=True)
class _Rows:
    """Codes by column and person texts, as they come out of the batches."""

    coders: Sequence[Coder]
    person_column: str
    codes: list[list[Codes]] = field(default_factory=list)
    persons: list[pa.Array] = field(default_factory=list)
    count: int = 0

    def take(self, batch: Batch) -> None:
        """Encode one batch."""
        self.codes.append([coder.encode(batch[coder.column.name]) for coder in self.coders])
        self.count += len(self.codes[-1][0])
        if self.person_column:
            self.persons.append(_tidy(batch[self.person_column]))

    def frame(self) -> pl.DataFrame:
        """All rows: a column of codes each, and `person` (null: none named) where persons are told apart."""
        columns = {
            files.column_name(place): np.concatenate([coder.none, *(batch[place] for batch in self.codes)])
            for place, coder in enumerate(self.coders)
        }
        self.codes.clear()
        frame = pl.DataFrame(columns)
        if not self.person_column:
            return frame
        persons = pa.chunked_array(self.persons, pa.string()).combine_chunks().dictionary_encode()
        self.persons.clear()
        numbers = pl.Series(files.PERSON, persons.indices.to_numpy(zero_copy_only=False), nan_to_null=True)
        return frame.with_columns(numbers.cast(pl.UInt32))

    def fingerprint(self) -> dict[str, str]:
        """Keyed, by column; empty without a key."""
        return {coder.column.name: coder.fingerprint for coder in self.coders if coder.fingerprint}

    def tallies(self) -> dict[str, dict[str, int]]:
        return {coder.column.name: dict(coder.tally) for coder in self.coders if coder.tally}


def _tidy(texts: pa.DictionaryArray) -> pa.Array:
    """Person texts after the one trim rule; blank ones are null."""
    names = pa.array([normalise(text or "") or None for text in texts.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(texts.indices, names).cast(pa.string())


def _settle(frame: pl.DataFrame, columns: Sequence[str], *, k: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Sorted rows, at most k of each person, and how many were dropped why."""
    if files.PERSON not in frame.columns:
        return frame.sort(columns), {}
    named = frame.drop_nulls(files.PERSON)
    distinct = named.unique().sort([files.PERSON, *columns])
    kept = distinct.filter(pl.int_range(pl.len()).over(files.PERSON) < k).sort([*columns, files.PERSON])
    dropped = {
        "without_person": frame.height - named.height,
        "repeats": named.height - distinct.height,
        "beyond_k": distinct.height - kept.height,
    }
    order = kept.select(pl.col(files.PERSON).unique(maintain_order=True)).with_row_index("number")
    numbered = kept.join(order, on=files.PERSON, how="left", maintain_order="left").drop(files.PERSON)
    return numbered.rename({"number": files.PERSON}), dropped


def _write(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, compression="zstd", statistics=False)
