"""Datasets and uploads: what a curator hands in is checked as far as it is public, kept, and left for the worker to freeze.

No record is read here. The privacy unit has no default: the curator says that each record is one person, or which column names
the person and how many records one may have.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Never

from django.conf import settings
from django.core.files.base import File
from django.db import transaction

from accounts.models import Role, User
from curator import queue
from curator.mechanism.errors import BadInput, Conflict, NotYours, TooLarge
from curator.mechanism.schema import Schema
from curator.mechanism.values import echo, has_control, normalise
from curator.models import AuditEvent, Dataset, DatasetVersion, Upload
from curator.services import audit, texts

MAX_SCHEMA = 2_000_000  # characters
MAX_K = 1_000
LIKELY_REUPLOAD = "likely_reupload"  # the code of an upload whose records were frozen before
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Whose presence is protected: each record by itself (no person column), or a person with at most k records."""

    person_column: str = ""
    k: int = 1


def create_dataset(*, curator: User, name: str, description: str = "", source: str = "") -> Dataset:
    """A new, empty dataset that `curator` looks after; Conflict where they have one of that name."""
    _require_curator(curator)
    name = texts.line(name, field="name")
    if Dataset.objects.filter(owner=curator, name=name).exists():
        raise Conflict("name_taken", f"You already look after a dataset called {echo(name)}.", field="name")
    with transaction.atomic():
        dataset = Dataset.objects.create(
            name=name, owner=curator, description=texts.optional(description, field="description"),
            source=texts.optional(source, field="source"),
        )  # fmt: skip
        audit.append(audit.SITE, [audit.Event("dataset.created", curator.username, {"dataset": str(dataset.uid), "name": name})])
    return dataset


def privacy_unit(unit: str, *, person_column: str = "", k: int | str | None = None) -> PrivacyUnit:
    """The privacy unit as a curator states it: `record`, or `person` with its column and the most records of one."""
    person_column = normalise(person_column)
    if unit == "record":
        if person_column or k not in (None, "", 1, "1"):
            raise _bad_unit("Where each record is one person there is no person column and no k.", "privacy_unit")
        return PrivacyUnit()
    if unit != "person":
        raise _bad_unit('Say what is protected: "record" (each record is one person) or "person".', "privacy_unit")
    if not person_column or len(person_column) > 200 or has_control(person_column):
        raise _bad_unit("Name the column that says whose record it is.", "person_column")
    if not re.fullmatch(r"[0-9]{1,6}", str(k)) or not 1 <= int(str(k)) <= MAX_K:
        raise _bad_unit(f"Expected the most records one person may have, 1 to {MAX_K:,}.", "k")
    return PrivacyUnit(person_column, int(str(k)))


def _bad_unit(detail: str, field: str) -> BadInput:
    return BadInput("bad_privacy_unit", detail, field=field)


def read_schema(text: str) -> Schema:
    """The schema that a curator wrote as JSON; BadInput with the place of what is wrong."""
    if len(text) > MAX_SCHEMA:
        raise TooLarge("schema_too_large", f"A schema has at most {MAX_SCHEMA:,} characters.", field="schema")
    try:
        return Schema.from_json(json.loads(text, parse_float=Decimal, parse_constant=_no_number))
    except json.JSONDecodeError as error:
        raise BadInput("bad_schema", f"This is not JSON: {error.msg} in line {error.lineno}.", field="schema") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets by the thousand
        raise BadInput("bad_schema", "This is not a schema: nested too deeply, or a number too long.", field="schema") from None


def register_upload(
    *, curator: User, dataset: Dataset | Callable[[], Dataset], file: "File[bytes]", filename: str, schema_text: str,
    unit: PrivacyUnit, table: str = "people", ring: bool = True,
) -> Upload:  # fmt: skip
    """Keep a curator's file (1 GiB at most unless set) for the worker, which is rung for once this is committed.

    `dataset` may be what makes one: called once the file is kept, so that the site's chain, which making one holds, never waits
    for a copy. BadInput for a schema, table name or person column that is none; TooLarge; NotYours.
    """
    if isinstance(dataset, Dataset):
        _require_owner(curator, dataset)
    else:
        _require_curator(curator)
    schema = read_schema(schema_text)
    if unit.person_column in schema.names:
        raise _bad_unit(f"{echo(unit.person_column)} says who a person is: it cannot be asked about.", "person_column")
    if not _TABLE.fullmatch(table):
        raise BadInput(
            "bad_table", "A table's name has letters, digits and underscores, at most 63, no digit first.", field="table"
        )
    upload = Upload(
        filename=_filename(filename), table=table, schema=schema.to_json(),
        person_column=unit.person_column, k=unit.k, created_by=curator,
    )  # fmt: skip
    with ExitStack() as undo:
        undo.callback(path_of(upload).unlink, missing_ok=True)
        _keep(file, path_of(upload))
        with transaction.atomic():
            upload.dataset = dataset if isinstance(dataset, Dataset) else dataset()
            _record(upload, schema, ring=ring)
        undo.pop_all()
    return upload


def _record(upload: Upload, schema: Schema, *, ring: bool) -> None:
    upload.save()
    audit.append(audit.SITE, [audit.Event("upload.received", upload.created_by.username, {
        "dataset": str(upload.dataset.uid), "upload": str(upload.uid), "table": upload.table, "schema": schema.digest,
        "person_column": upload.person_column, "k": upload.k,
    })])  # fmt: skip
    if ring:
        queue.ring_upload(upload.pk)


def declare_overlap(*, curator: User, version: DatasetVersion, other: DatasetVersion, same_people: bool, reason: str) -> None:
    """Record what the curator says of two versions that look alike: whether they are about the same people, and why."""
    _require_owner(curator, version.dataset)
    _require_owner(curator, other.dataset)
    reason = texts.paragraph(reason, field="reason")
    data = {"version": str(version.uid), "other": str(other.uid), "same_people": same_people, "reason": reason}
    with transaction.atomic():
        audit.append(audit.SITE, [audit.Event("overlap.declared", curator.username, data)])


def overlap_declared(version: DatasetVersion) -> bool:
    """Say whether its curator has said what a version shares with another (what an upload's likely_reupload asks for)."""
    events = AuditEvent.objects.filter(chain=audit.SITE, kind="overlap.declared").values_list("body", flat=True)
    return any(json.loads(bytes(body))["data"]["version"] == str(version.uid) for body in events.iterator())


def path_of(upload: Upload) -> Path:
    """Where the bytes of an upload wait; they are deleted as soon as it is frozen or refused."""
    return Path(settings.UPLOADS_DIR) / str(upload.uid)


def report_path(upload: Upload) -> Path:
    """Where the worker leaves what the curator, and nobody else, is told about their file."""
    return Path(settings.UPLOADS_DIR) / f"{upload.uid}.report.json"


def parse_report(upload: Upload) -> Mapping[str, object] | None:
    """The parse report of an upload (`engine.report` as JSON, or `refused` with operands); None before the worker saw it.

    It holds figures of the records: for the curator of the dataset only.
    """
    try:
        report: Mapping[str, object] = json.loads(report_path(upload).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return report


def _keep(file: "File[bytes]", path: Path) -> None:
    """Stream a file to its place, mode 0600, as a whole or not at all."""
    most = settings.UPLOAD_MAX_BYTES
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    size = 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
        for chunk in file.chunks():
            size += len(chunk)
            if size > most:
                raise TooLarge("file_too_large", f"A file has at most {most:,} bytes.", field="file", maximum=most)
            kept.write(chunk)
        kept.flush()
        os.fsync(kept.fileno())


def _filename(name: str) -> str:
    """The last part of a file's name, harmless to show."""
    tidy = PurePosixPath(normalise(name).replace("\\", "/")).name
    return "".join(char for char in tidy if not has_control(char))[:255] or "file"


def _no_number(text: str) -> Never:
    raise ValueError(text)


def _require_curator(curator: User) -> None:
    if not curator.is_active or not curator.has_role(Role.CURATOR):
        raise NotYours("not_found", "There is nothing here, or it is not yours to see.")


def _require_owner(curator: User, dataset: Dataset) -> None:
    _require_curator(curator)
    if dataset.owner_id != curator.pk:
        raise NotYours("not_found", "There is nothing here, or it is not yours to see.")
