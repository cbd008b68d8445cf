"""Datasets and uploads: what a curator hands in is checked as far as it is public, kept, and left for the worker to freeze.

No record is read here. The privacy unit has no default: the curator says that each record is one person, or which column names
the person and how many records one may have.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from typing import Never
from uuid import UUID

from django.core.files.base import File
from django.db import transaction

from accounts.models import Role, User
from curator import queue
from curator.mechanism.errors import BadInput, Conflict, NotYours, TooLarge
from curator.mechanism.schema import Schema
from curator.mechanism.values import echo, has_control, normalise
from curator.models import AuditEvent, Dataset, DatasetVersion, Upload
from curator.services import audit, texts, upload_files
from curator.services.upload_files import path_of, report_path

__all__ = [
    "LIKELY_REUPLOAD", "PrivacyUnit", "alike", "create_dataset", "declare_overlap", "overlap_declared",
    "overlaps_said", "parse_report", "path_of", "privacy_unit", "read_schema", "register_upload", "report_path",
]  # fmt: skip

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
    require_place(curator, dataset)
    schema = read_schema(schema_text)
    check_declared(schema.names, unit, table)
    upload = Upload(
        filename=upload_files.tidy_name(filename), table=table, schema=schema.to_json(),
        person_column=unit.person_column, k=unit.k, created_by=curator,
    )  # fmt: skip
    return keep(upload, dataset, file, data=declared_data(upload, schema), ring=ring)


def keep(
    upload: Upload, dataset: Dataset | Callable[[], Dataset], file: "File[bytes]", *, data: Mapping[str, object], ring: bool
) -> Upload:
    """Store the bytes, then the row and its event (with `data`): all of it or nothing."""
    with ExitStack() as undo:
        undo.callback(path_of(upload).unlink, missing_ok=True)
        upload_files.keep(file, path_of(upload))
        with transaction.atomic():
            upload.dataset = dataset if isinstance(dataset, Dataset) else dataset()
            upload.save()
            record(upload, "upload.received", data)
            if ring:
                queue.ring_upload(upload.pk)
        undo.pop_all()
    return upload


def check_declared(names: Collection[str], unit: PrivacyUnit, table: str) -> None:
    """BadInput where the names of declared columns, privacy unit and table name do not go together."""
    if unit.person_column in names:
        raise _bad_unit(f"{echo(unit.person_column)} says who a person is: it cannot be asked about.", "person_column")
    if not _TABLE.fullmatch(table):
        raise BadInput(
            "bad_table", "A table's name has letters, digits and underscores, at most 63, no digit first.", field="table"
        )


def declared_data(upload: Upload, schema: Schema) -> dict[str, object]:
    """What an event says of a declared upload: nothing of its records."""
    return {"table": upload.table, "schema": schema.digest, "person_column": upload.person_column, "k": upload.k}


def record(upload: Upload, kind: str, data: Mapping[str, object], *, actor: str = "") -> None:
    """An event about an upload on the site's chain, last in the caller's transaction."""
    named = {"dataset": str(upload.dataset.uid), "upload": str(upload.uid), **data}
    audit.append(audit.SITE, [audit.Event(kind, actor or upload.created_by.username, named)])


def declare_overlap(*, curator: User, version: DatasetVersion, other: DatasetVersion, same_people: bool, reason: str) -> None:
    """Record what the curator says of two versions that look alike: whether they are about the same people, and why."""
    _require_owner(curator, version.dataset)
    _require_owner(curator, other.dataset)
    reason = texts.paragraph(reason, field="reason")
    data = {"version": str(version.uid), "other": str(other.uid), "same_people": same_people, "reason": reason}
    with transaction.atomic():
        audit.append(audit.SITE, [audit.Event("overlap.declared", curator.username, data)])


def alike(version: DatasetVersion) -> str:
    """The uid of the version whose records these likely are, as the worker found; empty where it found none. For its curator."""
    upload = Upload.objects.filter(version=version).first()
    report = parse_report(upload) if upload is not None else None
    return str((report or {}).get("alike", ""))


def require_overlap_said(version: DatasetVersion) -> None:
    """Conflict for a version of records that were frozen before, until its curator has said what that means."""
    likely = Upload.objects.filter(version=version, code=LIKELY_REUPLOAD).exists()
    if likely and not overlap_declared(version):
        detail = (
            "These records were likely frozen before: first say, on the page of the dataset, whether they are the same people."
        )
        raise Conflict("overlap_undeclared", f"version: {detail}", field="version", private=True)


def overlap_declared(version: DatasetVersion) -> bool:
    """Say whether its curator has said what a version shares with another (what an upload's likely_reupload asks for)."""
    return version.uid in overlaps_said(version.dataset.owner)


def overlaps_said(curator: User) -> frozenset[UUID]:
    """The versions of which a curator has said what they share with another, from the record."""
    events = AuditEvent.objects.filter(chain=audit.SITE, kind="overlap.declared", actor=curator.username)
    return frozenset(
        UUID(json.loads(bytes(body))["data"]["version"]) for body in events.values_list("body", flat=True).iterator()
    )


def parse_report(upload: Upload) -> Mapping[str, object] | None:
    """What the worker found in an upload, as JSON; None before it saw it.

    A description (`engine.describing`, member `shapes`), then the report of freezing (`engine.report`), or `refused` with
    operands. It holds figures of the records: for the curator of the dataset only.
    """
    return upload_files.read(report_path(upload))


def _no_number(text: str) -> Never:
    raise ValueError(text)


def _require_curator(curator: User) -> None:
    if not curator.is_active or not curator.has_role(Role.CURATOR):
        raise NotYours("not_found", "There is nothing here, or it is not yours to see.")


def require_place(curator: User, dataset: Dataset | Callable[[], Dataset]) -> None:
    """NotYours unless `curator` may add to this dataset, or make one."""
    if isinstance(dataset, Dataset):
        _require_owner(curator, dataset)
    else:
        _require_curator(curator)


def _require_owner(curator: User, dataset: Dataset) -> None:
    _require_curator(curator)
    if dataset.owner_id != curator.pk:
        raise NotYours("not_found", "There is nothing here, or it is not yours to see.")
