"""A file on its way to a version, as its curator sees it: what was found in it, what is declared, what is left to do.

The report and the suggestions are handed in by whoever may read them; figures in them are of the records, for the curator alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from curator.mechanism.dates import FORMS, ISO
from curator.mechanism.schema import Column, Schema
from curator.models import Upload
from curator.selectors.fitting import MISFITS, judged
from curator.selectors.paging import Page, cut
from curator.selectors.workspace import KINDS, domain_words

DIGITS = "yyyymmdd"  # whole numbers too
ENCODINGS = {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32", "utf-32-be": "UTF-32"}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SHAPES = {
    "whole": "whole numbers", "decimal": "decimals", "date": "dates", "dated": "dates in a form to be declared",
    "truth": "yes or no", "grouped": "digits in groups",
    "text": "other texts", "blank": "blank",
}  # fmt: skip
VERDICTS = {
    "unreadable": "unreadable", "outside": "outside the domain", "between": "between two steps", "blank": "blank",
    "missing": "declared as missing",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """One column of the file; `place` counts from 0 in the file.

    `shapes`, `dates`, `cells` are figures of the records; `offenders` are values of them, with how many cells have each.
    """

    place: int
    name: str
    shapes: str
    dates: str  # forms in which cells are dates, where there is something to declare
    holds: str  # what it holds instead of single cells, if it cannot be read
    declared: str
    title: str
    cells: str  # by the declared rules, as of the last reading
    unchecked: bool  # declared so since that reading
    bad: bool
    offenders: tuple[tuple[str, int], ...]
    others: int  # cells with bad texts beyond those
    suggested: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the report."""

    term: str
    text: str


@dataclass(frozen=True, slots=True)
class UploadPage:
    """One file."""

    uid: UUID
    dataset_uid: UUID
    dataset_name: str
    filename: str
    state: str
    code: str
    detail: str
    table: str
    version: int | None
    facts: tuple[Fact, ...]
    columns: tuple[ColumnRow, ...]
    delimiter: str
    decimal_comma: bool
    text_file: bool

    @property
    def busy(self) -> bool:
        """Whether the worker has it."""
        return self.state in Upload.BUSY

    @property
    def described(self) -> bool:
        """Whether it is the curator's turn."""
        return self.state == Upload.State.DESCRIBED

    @property
    def declared(self) -> tuple[ColumnRow, ...]:
        """The columns that will be in the version."""
        return tuple(column for column in self.columns if column.declared)

    @property
    def unchecked(self) -> tuple[ColumnRow, ...]:
        """The columns that were declared, or declared otherwise, since the file was read."""
        return tuple(column for column in self.columns if column.unchecked)

    @property
    def left_out(self) -> tuple[ColumnRow, ...]:
        """The columns that will not."""
        return tuple(column for column in self.columns if not column.declared)


@dataclass(frozen=True, slots=True)
class FileColumn:
    """One column of the file as a program reads it; `shapes`, `dates`, `cells` are figures of the records, by what the cells are.

    `offenders` are values of them (`engine.offending`).
    """

    place: int
    name: str
    holds: str
    shapes: Mapping[str, int]
    dates: Mapping[str, int]
    cells: Mapping[str, int]
    checked: bool
    offenders: Mapping[str, Any]
    declared: Mapping[str, Any] | None  # as in a schema
    suggested: Mapping[str, Any] | None


def file_columns(
    upload: Upload, report: Mapping[str, Any], suggestions: Mapping[str, Any], offenders: Mapping[str, Any], *,
    after: int = 0, limit: int = 100,
) -> Page[FileColumn]:  # fmt: skip
    """Columns of a file in its order, from the one after the first `after` on."""
    header, drafted = report.get("format", {}).get("header", ()), _declared(upload)
    found, more = cut(list(enumerate(header))[after : after + limit + 1], limit)

    lines = [
        _file_column(place, name, report, drafted.get(name), suggestions.get(name), offenders.get(name, {}))
        for place, name in found
    ]
    return Page(tuple(lines), more=str(after + limit) if more else "", first=not after)


def _file_column(
    place: int, name: str, report: Mapping[str, Any], declared: Any, suggested: Any, offenders: Mapping[str, Any]
) -> FileColumn:
    holds, shapes, dates = (report.get(member, {}).get(name) for member in ("unreadable", "shapes", "dates"))
    cells = judged(declared, report) if declared else None
    bad = offenders if cells is not None else {}
    return FileColumn(
        place, name, holds or "", shapes or {}, dates or {}, cells or {}, cells is not None, bad, declared, suggested
    )  # fmt: skip


def _declared(upload: Upload) -> Mapping[str, Any]:
    """What is declared, by name: of a file that is with the worker or frozen, for good; before that, drafted."""
    entries = upload.schema.get("columns", ()) if upload.schema else upload.draft.get("columns", {}).values()
    return {entry["name"]: entry for entry in entries}


def upload_page(
    upload: Upload, report: Mapping[str, Any] | None, suggestions: Mapping[str, Any], offenders: Mapping[str, Any]
) -> UploadPage:
    """One file with what the worker found in it, where it has."""
    form = (report or {}).get("format", {})
    return UploadPage(
        upload.uid, upload.dataset.uid, upload.dataset.name, upload.filename, upload.state, upload.code, upload.detail,
        upload.table, upload.version.number if upload.version else None, tuple(_facts(report or {})),
        _columns(upload, report or {}, suggestions, offenders), form.get("delimiter", ""), form.get("decimal_comma", False),
        form.get("kind") == "csv",
    )  # fmt: skip


def _facts(report: Mapping[str, Any]) -> list[Fact]:
    form = report.get("format")
    if form is None:
        return []
    facts = [Fact("Kind", "CSV" if form["kind"] == "csv" else "Parquet")]
    if form["kind"] == "csv":
        facts += [
            Fact("Encoding", ENCODINGS.get(form["encoding"], form["encoding"])),
            Fact("Delimiter", DELIMITERS.get(form["delimiter"], form["delimiter"])),
            Fact("Decimal sign", "comma or point" if form["decimal_comma"] else "point"),
        ]
    facts += [Fact("Columns", f"{len(form['header']):,}"), Fact("Records", f"{report['rows']:,}")]
    return facts + [Fact(*one) for one in _oddities(report)]


def _oddities(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is worth a line only where it happened."""
    told = {
        "foreign_bytes": ("Not UTF-8", "{:,} bytes, read as Windows-1252"),
        "without_person": ("Left out", "{:,} records that name no person"),
        "repeats": ("Counted once", "{:,} repeats of a person's record"),
        "beyond_k": ("Left out", "{:,} records beyond the most of one person"),
    }
    return [(term, words.format(report[name])) for name, (term, words) in told.items() if report.get(name)]


def _columns(
    upload: Upload, report: Mapping[str, Any], suggestions: Mapping[str, Any], offenders: Mapping[str, Any]
) -> tuple[ColumnRow, ...]:
    header = report.get("format", {}).get("header", ())
    declared = _declared(upload)
    suggested = {name for name, column in suggestions.items() if column is not None}
    return tuple(
        _row(place, name, report, declared.get(name), suggested=name in suggested, bad=offenders.get(name, {}))
        for place, name in enumerate(header)
    )


def _row(place: int, name: str, report: Mapping[str, Any], entry: Any, *, suggested: bool, bad: Mapping[str, Any]) -> ColumnRow:
    judgement = judged(entry, report) if entry else {}
    cells = judgement or {}
    told = bad if any(cells.get(misfit) for misfit in MISFITS) else {}
    shapes = report.get("shapes", {}).get(name, {})
    return ColumnRow(
        place, name, tally_words(shapes, SHAPES), _date_words(shapes, report.get("dates", {}).get(name, {})),
        report.get("unreadable", {}).get(name, ""), _column_words(entry) if entry else "", (entry or {}).get("title", ""),
        tally_words(cells, VERDICTS), judgement is None and "shapes" in report, any(cells.get(misfit) for misfit in MISFITS),
        tuple((text, times) for text, times in told.get("texts", ())), told.get("others", 0), suggested,
    )  # fmt: skip


def _date_words(shapes: Mapping[str, int], dates: Mapping[str, int]) -> str:
    """`188 as dd/mm/yyyy, 70 as mm/dd/yyyy`; of whole numbers only where most of them could be days."""
    shown = [form for form in FORMS if form != ISO and form != DIGITS and dates.get(form)]
    if 2 * dates.get(DIGITS, 0) > shapes.get("whole", 0):
        shown.append(DIGITS)
    return ", ".join(f"{dates[form]:,} as {form}" for form in shown)


def _column_words(entry: Any) -> str:
    column: Column = Schema.from_json({"columns": [entry]}).columns[0]
    written = "" if column.date_format == ISO else f", in the file as {column.date_format}"
    return f"{KINDS[column.kind]}: {domain_words(column)}{written}"


def tally_words(tally: Mapping[str, int], words: Mapping[str, str]) -> str:
    """`1,204 whole numbers, 3 blank`."""
    return ", ".join(f"{tally[name]:,} {told}" for name, told in words.items() if tally.get(name))
