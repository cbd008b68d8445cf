"""A file on its way to a version: described by the worker, declared by its curator column by column, handed over to be frozen.

Each step locks the upload's row; steps are refused while the worker has the file, and for good once it is to be frozen. What a
curator declares is public in the end and stands in the row; what the worker found stays in the folder of uploads. A refusal that
what the file holds decides (its cells, its header, whether it could be read) is private.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from django.core.files.base import File
from django.db import transaction

from accounts import access
from accounts.models import User
from curator import queue
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.schema import Column, Schema
from curator.mechanism.values import echo
from curator.models import Dataset, Upload
from curator.selectors import fitting
from curator.selectors.fitting import Misfit
from curator.services import datasets, texts, upload_files
from curator.services.datasets import PrivacyUnit

State = Upload.State
DELIMITERS = (",", ";", "\t", "|")


def receive(
    *, curator: User, dataset: Dataset | Callable[[], Dataset], file: "File[bytes]", filename: str, ring: bool = True
) -> Upload:
    """Keep a curator's file for the worker to describe; columns declared for the dataset before are drafted again."""
    datasets.require_place(curator, dataset)
    upload = Upload(filename=upload_files.tidy_name(filename), state=State.PARSING, created_by=curator)
    if isinstance(dataset, Dataset):
        _draft_again(upload, dataset)
    return datasets.keep(upload, dataset, file, data={}, ring=ring)


def _draft_again(upload: Upload, dataset: Dataset) -> None:
    """What was declared of the newest version, or for a file that was refused since, is a draft: never a declaration."""
    version = dataset.versions.order_by("-number").first()
    earlier = Upload.objects.filter(dataset=dataset, state__in=(State.REFUSED, State.DISCARDED)).order_by("-id").first()
    if version is not None:
        upload.table = version.table
        upload.draft = {"columns": {entry["name"]: entry for entry in version.schema["columns"]}}
    elif earlier is not None and earlier.draft.get("columns"):
        upload.draft = {"columns": earlier.draft["columns"]}


def header_of(upload: Upload) -> tuple[str, ...]:
    """The names of the file's columns that can be declared, in order; none before it was described."""
    report = datasets.parse_report(upload) or {}
    shapes: Any = report.get("shapes", {})
    form: Any = report.get("format", {})
    return tuple(name for name in form.get("header", ()) if name in shapes)


def declare(*, curator: User, upload: Upload, column: Mapping[str, object]) -> Upload:
    """Draft one column, written as in a schema; BadInput with its field ("low") where it is none, or not in the file."""
    declared = _column(column)
    with transaction.atomic():
        row = _locked(curator, upload)
        if declared.name not in header_of(row):
            raise _not_in_file(declared.name, "name")
        row.draft = {**row.draft, "columns": {**row.draft.get("columns", {}), declared.name: _json(declared)}}
        row.save(update_fields=["draft"])
    return row


def declare_all(*, curator: User, upload: Upload, columns: Sequence[object]) -> Upload:
    """Draft all columns at once, in place of what was drafted; BadInput with the place in `columns`."""
    schema = Schema.from_json({"columns": list(columns)})
    with transaction.atomic():
        row = _locked(curator, upload)
        header = header_of(row)
        for place, column in enumerate(schema.columns):
            if column.name not in header:
                raise _not_in_file(column.name, f"columns[{place}].name")
        row.draft = {**row.draft, "columns": {column.name: _json(column) for column in schema.columns}}
        row.save(update_fields=["draft"])
    return row


def leave_out(*, curator: User, upload: Upload, name: str) -> Upload:
    """Take a column out of the draft: it will not be in the version."""
    with transaction.atomic():
        row = _locked(curator, upload)
        columns = {key: entry for key, entry in row.draft.get("columns", {}).items() if key != name}
        row.draft = {**row.draft, "columns": columns}
        row.save(update_fields=["draft"])
    return row


def read_again(
    *, curator: User, upload: Upload, delimiter: str | None = None, decimal_comma: bool | None = None, acknowledged: bool = False
) -> Upload:
    """Have the worker read the file once more, with what is drafted by now; None leaves how it is read as it was found.

    `acknowledged`: the curator knows what it means to be shown the texts that do not fit. Who, and of which columns, is on the
    record; without it the reading gives numbers only.
    """
    if delimiter is not None and delimiter not in DELIMITERS:
        raise BadInput("bad_delimiter", "Expected a comma, a semicolon, a tab or a bar.", field="delimiter")
    with transaction.atomic():
        row = _locked(curator, upload)
        given = {"delimiter": delimiter, "decimal_comma": decimal_comma}
        reading = row.draft.get("reading", {}) | {key: value for key, value in given.items() if value is not None}
        _parse(row, reading=reading, texts=acknowledged)
        if acknowledged:
            declared = {"columns": list(row.draft.get("columns", {}))}
            datasets.record(row, "misfits.shown", declared, actor=curator.username)
    return row


def ask_for_suggestions(*, curator: User, upload: Upload, columns: Sequence[str], acknowledged: bool) -> Upload:
    """Have domains of these columns suggested from the records, as the curator acknowledged; who, and which, is on the record."""
    names = list(dict.fromkeys(columns))
    if not acknowledged:
        detail = "Suggestions are made from the records: say that you know what that means."
        raise BadInput("not_acknowledged", detail, field="acknowledged")
    with transaction.atomic():
        row = _locked(curator, upload)
        header = header_of(row)
        if not names or any(name not in header for name in names):
            raise BadInput("no_columns", "Choose columns of the file.", field="columns", private=bool(names))
        earlier = row.draft.get("suggest", [])
        _parse(row, suggest=[*earlier, *(name for name in names if name not in earlier)])
        datasets.record(row, "domain.suggested", {"columns": names}, actor=curator.username)
    return row


def suggestions_of(upload: Upload) -> Mapping[str, Any]:
    """Suggested columns by name (None: nothing to suggest), for the curator alone."""
    return upload_files.read(upload_files.suggestions_path(upload)) or {}


def offenders_of(upload: Upload) -> Mapping[str, Any]:
    """Texts of cells that do not fit what is declared, by column, where the last reading was to show them: for the curator."""
    return upload_files.read(upload_files.offenders_path(upload)) or {}


def misfits_of(upload: Upload) -> tuple[Misfit, ...]:
    """Declared columns of which most cells do not fit, as the curator was told: each needs their word before it is frozen."""
    header, drafted = header_of(upload), upload.draft.get("columns", {})
    return fitting.misfits({name: drafted[name] for name in header if name in drafted}, datasets.parse_report(upload) or {})


def hand_over(
    *, curator: User, upload: Upload, unit: PrivacyUnit, table: str = "people", misfits: Collection[str] = (), ring: bool = True
) -> Upload:
    """Let the worker freeze the file by what is drafted; columns that are not are left out. From here on it stands.

    `misfits` are columns of which the curator knows that most cells do not fit: BadInput where another has turned out to be one.
    """
    with transaction.atomic():
        row = _locked(curator, upload)
        header = header_of(row)
        drafted = row.draft.get("columns", {})
        datasets.check_declared(drafted, unit, table)  # before the file decides: that this is counted must not tell of it
        schema = _whole([drafted[name] for name in header if name in drafted])
        _require_known(misfits_of(row), misfits)
        if unit.person_column and unit.person_column not in header:
            raise _not_in_file(unit.person_column, "person_column")
        row.schema, row.table, row.person_column, row.k = schema.to_json(), table, unit.person_column, unit.k
        row.draft = {**row.draft, "reading": _as_described(row)}
        row.state = State.WAITING
        row.save(update_fields=["schema", "table", "person_column", "k", "draft", "state"])
        datasets.record(row, "upload.declared", datasets.declared_data(row, schema), actor=curator.username)
        if ring:
            queue.ring_upload(row.pk)
    return row


def discard(*, curator: User, upload: Upload, reason: str) -> Upload:
    """Delete a file that is not to be frozen after all, and what was found in it."""
    why = texts.paragraph(reason, field="reason")
    with transaction.atomic():
        row = _locked(curator, upload)
        row.state = State.DISCARDED
        row.save(update_fields=["state"])
        datasets.record(row, "upload.discarded", {"reason": why}, actor=curator.username)
    upload_files.forget(row)
    upload_files.report_path(row).unlink(missing_ok=True)
    return row


def _not_in_file(name: str, field: str) -> BadInput:
    return BadInput("column_not_in_file", f"The file has no column {echo(name)}.", field=field, private=True)


def _require_known(found: Sequence[Misfit], known: Collection[str]) -> None:
    unknown = [one.name for one in found if one.name not in known]
    if unknown:
        names = ", ".join(map(echo, unknown))
        detail = f"Most cells of {names} do not fit what is declared: mend the column, or say that you know."
        raise BadInput("column_does_not_fit", detail, field="misfits", private=True)


def _whole(entries: list[object]) -> Schema:
    if not entries:
        raise BadInput("no_columns", "Declare at least one column.", field="columns", private=True)  # none of those in the file
    return Schema.from_json({"columns": entries})


def _as_described(row: Upload) -> dict[str, object]:
    """How the text was read when the curator saw it: freezing must not find another delimiter."""
    found: Any = (datasets.parse_report(row) or {}).get("format", {})
    if found.get("kind") != "csv":
        return {}
    return {"delimiter": found["delimiter"], "decimal_comma": found["decimal_comma"]}


def _parse(row: Upload, *, texts: bool = False, **draft: object) -> None:
    """`texts`: this reading, and none after it, may leave the texts that do not fit."""
    row.draft = {**row.draft, **draft, "texts": texts}
    row.state = State.PARSING
    row.save(update_fields=["draft", "state"])
    queue.ring_upload(row.pk)


def _column(column: Mapping[str, object]) -> Column:
    try:
        return Schema.from_json({"columns": [dict(column)]}).columns[0]
    except BadInput as refused:
        place = (refused.field or "").removeprefix("columns[0]").removeprefix(".")
        raise BadInput(refused.code, refused.detail, field=place or None) from None


def _json(column: Column) -> object:
    entries: Any = Schema((column,)).to_json()["columns"]
    return entries[0]


def _locked(curator: User, upload: Upload) -> Upload:
    """The row as it is now, locked, where its curator may still say something about it."""
    _check(access.upload_for(curator, upload.uid))  # before the lock, which the worker holds while it reads
    row = Upload.objects.select_for_update(no_key=True, of=("self",)).select_related("dataset", "created_by").get(pk=upload.pk)
    _check(row)
    return row


def _check(row: Upload) -> None:
    if row.state in (State.PARSING, State.WAITING):
        raise Conflict("upload_busy", "The worker is reading the file: wait until it has.", private=True)
    if row.state != State.DESCRIBED:
        raise Conflict("upload_final", f"This file was {row.state}: send it again to begin anew.", private=True)
