"""The folder of uploads: a curator's bytes, what the worker found in them, how often it tried.

What stands here is for the curator of the dataset alone: it is never copied into a table, an event or a log.
"""

import json
import os
from collections.abc import Mapping
from math import inf
from pathlib import Path, PurePosixPath
from time import time
from uuid import UUID

from django.conf import settings
from django.core.files.base import File

from curator.mechanism.errors import BadInput, TooLarge
from curator.mechanism.values import has_control, normalise
from curator.models import Upload

CLEAN_SECONDS = 3600  # so often the folder is looked through, and so long nobody has written what is deleted there
REPORT = ".report.json"


def path_of(upload: Upload) -> Path:
    """Where the bytes of an upload wait; they are deleted as soon as it is frozen, refused or discarded."""
    return Path(settings.UPLOADS_DIR) / str(upload.uid)


def report_path(upload: Upload) -> Path:
    """Where the worker leaves what the curator, and nobody else, is told about their file."""
    return Path(settings.UPLOADS_DIR) / f"{upload.uid}{REPORT}"


def suggestions_path(upload: Upload) -> Path:
    """Where the worker leaves domains that it suggests from the records, until the upload is frozen or discarded."""
    return Path(settings.UPLOADS_DIR) / f"{upload.uid}.suggestions.json"


def offenders_path(upload: Upload) -> Path:
    """Where the worker leaves texts of cells that do not fit, until the upload is frozen, refused or discarded."""
    return Path(settings.UPLOADS_DIR) / f"{upload.uid}.offenders.json"


def read(path: Path) -> Mapping[str, object] | None:
    """What the worker left at a path; None while there is nothing."""
    try:
        found: Mapping[str, object] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found


def leave(path: Path, found: Mapping[str, object]) -> None:
    """Put something where only this account, and through its pages the curator, can read it."""
    fresh = path.with_suffix(".fresh")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(found, file, ensure_ascii=False)
    fresh.replace(path)  # a page reads the old one or the new one, never half of one


def keep(file: "File[bytes]", path: Path) -> None:
    """Stream a file to its place, mode 0600, as a whole or not at all; TooLarge, and BadInput for one without a byte."""
    most = settings.UPLOAD_MAX_BYTES
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    size = 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
        for chunk in file.chunks():
            size += len(chunk)
            if size > most:
                detail = f"A file has at most {most:,} bytes."
                raise TooLarge("file_too_large", detail, field="file", private=True, maximum=most)
            kept.write(chunk)
        kept.flush()
        os.fsync(kept.fileno())
    if not size:
        detail = "The file is empty: expected at least a line with the names of the columns."
        raise BadInput("not_a_table", detail, field="file", private=True)


def attempt(upload: Upload) -> int:
    """How often this upload was tried, this time included; kept in a file, because a transaction that dies keeps nothing."""
    with os.fdopen(os.open(_tries(upload), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        file.write(b".")
        return file.tell()


def succeeded(upload: Upload) -> None:
    """Forget the tries: what comes next is tried afresh."""
    _tries(upload).unlink(missing_ok=True)


def forget(upload: Upload) -> None:
    """Delete the file itself, what was suggested from it and what did not fit: what stays of it are codes."""
    for path in (path_of(upload), suggestions_path(upload), offenders_path(upload), _tries(upload)):
        path.unlink(missing_ok=True)


def clean() -> int:
    """Delete what a crash left of files that are frozen, refused, discarded or of no upload at all, if it is time; how many.

    A file is deleted after the commit that ends its upload, so whoever dies in between leaves it; and a request that dies before
    the commit of its row leaves a file that no row knows. What the curator was told (the report) stays, where there is a row.
    """
    folder = Path(settings.UPLOADS_DIR)
    cleaned = folder / ".cleaned"
    if not folder.is_dir() or _age(cleaned) < CLEAN_SECONDS:
        return 0
    cleaned.touch(mode=0o600)
    uids = {path: uid for path in folder.iterdir() if (uid := _uid(path)) and _age(path) >= CLEAN_SECONDS}
    states = dict(Upload.objects.filter(uid__in=set(uids.values())).values_list("uid", "state"))
    over = [path for path, uid in uids.items() if _is_over(path, states.get(uid))]
    for path in over:
        path.unlink(missing_ok=True)
    return len(over)


def _is_over(path: Path, state: str | None) -> bool:
    if path.suffix == ".fresh" or state is None:
        return True
    is_final = state in (Upload.State.FROZEN, Upload.State.REFUSED, Upload.State.DISCARDED)
    return is_final and (state == Upload.State.DISCARDED or not path.name.endswith(REPORT))


def _uid(path: Path) -> UUID | None:
    """The upload that a file is of; None for what is not ours."""
    try:
        return UUID(path.name.partition(".")[0])
    except ValueError:
        return None


def _age(path: Path) -> float:
    """Seconds since a file was last written; without end where there is none."""
    try:
        return time() - path.stat().st_mtime
    except FileNotFoundError:
        return inf


def tidy_name(name: str) -> str:
    """The last part of a file's name, harmless to show."""
    tidy = PurePosixPath(normalise(name).replace("\\", "/")).name
    return "".join(char for char in tidy if not has_control(char))[:255] or "file"


def _tries(upload: Upload) -> Path:
    return path_of(upload).with_name(f"{upload.uid}.tries")
