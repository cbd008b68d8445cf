"""The folder of frozen versions: `<uid>.parquet` and, beside it, `<uid>.json` with its digest and its keyed fingerprint.

Only this account can read it. A version is written under another name and renamed, so that it is there as a whole or not at all;
what was damaged since is refused at opening instead of being counted. Columns are named by place (`c0`, `c1`, …), and `person`.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypedDict

from django.conf import settings

from curator.engine.sealing import EngineFailed

PERSON = "person"


class _Notes(TypedDict):
    sha256: str
    fingerprint: dict[str, str]


def column_name(place: int) -> str:
    """The name in the file of the schema's column at a place: no schema can break an engine's quoting."""
    return f"c{place}"


def folder() -> Path:
    """The folder of versions, made on first use."""
    path = Path(settings.VERSIONS_DIR)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def store(uid: str, write: Callable[[Path], None], *, fingerprint: Mapping[str, str]) -> None:
    """Keep what `write` puts into a path as version `uid`, whole or not at all; a second time replaces it."""
    data, notes = folder() / f"{uid}.parquet", folder() / f"{uid}.json"
    fresh = folder() / f".{uid}.{secrets.token_hex(4)}"
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write(fresh)
        text = json.dumps({"sha256": digest(fresh), "fingerprint": dict(fingerprint)})
        _sync(fresh)
        fresh.replace(data)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        fresh.write_text(text, encoding="utf-8")
        _sync(fresh)
        fresh.replace(notes)
        _sync(folder())
    finally:
        fresh.unlink(missing_ok=True)


def checked(uid: str) -> Path:
    """The file of a version whose bytes are those that were stored; EngineFailed version_missing or version_damaged otherwise."""
    path = folder() / f"{uid}.parquet"
    if not path.exists() or (notes := _notes(uid)) is None:
        raise EngineFailed("version_missing")
    if digest(path) != notes["sha256"]:
        raise EngineFailed("version_damaged")
    return path


def alike(uid: str, others: list[str]) -> list[str]:
    """Which other versions hold the same texts in every column that both have (and have at least one): likely the same people."""
    mine = _fingerprint(uid)
    return [other for other in others if other != uid and _agree(mine, _fingerprint(other))]


def _agree(mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    shared = mine.keys() & theirs.keys()
    return bool(shared) and all(mine[name] == theirs[name] for name in shared)


def _fingerprint(uid: str) -> dict[str, str]:
    notes = _notes(uid)
    return notes["fingerprint"] if notes is not None else {}


def _notes(uid: str) -> _Notes | None:
    try:
        notes: _Notes = json.loads((folder() / f"{uid}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return notes


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have the disk hold what was written, or a folder's new names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
