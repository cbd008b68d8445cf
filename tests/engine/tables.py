"""Small files and schemas, frozen and counted, for the tests of the engine."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from curator.engine import counts, files
from curator.engine.counts import VersionFile
from curator.engine.freezing import freeze
from curator.engine.reading import open_table
from curator.engine.report import ParseReport
from curator.mechanism.noise import ExactCount
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

Texts = list[tuple[str | None, ...]]


def schema(*columns: Mapping[str, Any]) -> Schema:
    """A schema of columns written as in JSON."""
    return Schema.from_json({"columns": [dict(column) for column in columns]})


def number(name: str, high: int = 99, **more: Any) -> dict[str, Any]:
    """A whole-number column from 0 on."""
    return {"name": name, "kind": "integer", "low": 0, "high": high, **more}


def category(name: str, *values: str, **more: Any) -> dict[str, Any]:
    """A category column."""
    return {"name": name, "kind": "category", "values": list(values), **more}


def put(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    """A file with that content (text: as UTF-8)."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(path: Path, *wanted: str) -> Texts:
    """The wanted columns of all records of a file, as text."""
    rows: Texts = []
    for batch in open_table(path, wanted).batches():
        rows += zip(*(column.to_pylist() for column in batch.values()), strict=True)
    return rows


def frozen(
    path: Path, described: Schema, *, person_column: str = "", k: int = 1, uid: str = ""
) -> tuple[VersionFile, ParseReport]:
    """A file as a frozen version."""
    uid = uid or secrets.token_hex(8)
    report = freeze(path, schema=described, person_column=person_column, k=k, uid=uid)
    return VersionFile(uid, described, bool(person_column), k), report


def codes(version: VersionFile) -> list[tuple[int, ...]]:
    """All rows of a version's file."""
    return pl.read_parquet(files.folder() / f"{version.uid}.parquet").rows()


def exact(found: Sequence[ExactCount]) -> list[int]:
    """What nobody but the draw of noise may do, and a test must: look."""
    return [count._reveal() for count in found]


def count(version: VersionFile, *regions: Region) -> list[int]:
    """Exact counts of regions."""
    return exact(counts.count(version, regions))


def one(described: Schema, column: str, literal: str | int) -> Region:
    """The cells with that value."""
    code = described.column(column).encode_literal(literal)
    return Region.of(described, column, [(code, code)])
