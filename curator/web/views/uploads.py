"""A file on its way to a version, step by step: what was found in it, a form per column, whom it protects, freeze."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import User
from curator.mechanism.errors import Refused
from curator.models import Upload
from curator.refusals import status_of
from curator.selectors.uploads import ColumnRow, UploadPage, upload_page
from curator.services import datasets, uploads
from curator.web.forms.columns import ColumnForm, initial_of
from curator.web.forms.datasets import CheckForm, FileForm, FreezeForm, ReadingForm, SuggestForm
from curator.web.pages import add_refusal, page, reader
from curator.web.problems import Problem
from curator.web.views.ask import see_other


def whole_page(upload: Upload) -> UploadPage:
    """An upload with the worker's report and suggestions, for its curator."""
    suggested, offenders = uploads.suggestions_of(upload), uploads.offenders_of(upload)
    return upload_page(upload, datasets.parse_report(upload), suggested, offenders)


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What was found and what is declared; read it otherwise, check the declarations against it, discard it."""
    user = reader(request)
    found = access.upload_for(user, uid)
    if request.method != "POST":
        return _show(request, found)
    try:
        told = _change(request, user, found)
    except Refused as refused:
        return _show(request, found, problem=refused.detail, status=status_of(refused))
    if told:
        messages.success(request, told)
    return see_other("upload", found.uid)


def _change(request: HttpRequest, user: User, found: Upload) -> str:
    """Do it, and say what was done; that the worker is at it says the page itself, while it is."""
    do = request.POST.get("do")
    if do == "discard":
        uploads.discard(curator=user, upload=found, reason=request.POST.get("reason", ""))
        return "The file is deleted, and what was found in it."
    form = ReadingForm(request.POST) if do == "reading" else CheckForm(request.POST)
    uploads.read_again(curator=user, upload=found, **(form.cleaned_data if form.is_valid() else {}))
    return ""


def _show(request: HttpRequest, found: Upload, *, problem: str = "", status: int = 200) -> HttpResponse:
    shown = whole_page(found)
    reading = ReadingForm(initial={"delimiter": shown.delimiter, "decimal_comma": shown.decimal_comma})
    problems = [Problem("", "", problem)] if problem else []
    return page(
        request, "dataset/upload.html", here="datasets", status=status, upload=shown, reading=reading, file_form=FileForm(),
        check=CheckForm(), problems=problems,
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def column(request: HttpRequest, uid: UUID, place: int) -> HttpResponse:
    """One column: its form, filled with what was declared, or else with what was suggested."""
    user = reader(request)
    found = access.upload_for(user, uid)
    shown = whole_page(found)
    if place >= len(shown.columns) or not shown.described:
        raise access.not_yours(private=True)
    row = shown.columns[place]
    if request.method != "POST":
        entry = _declared(found, row) or uploads.suggestions_of(found).get(row.name) or {"out_of_domain": "other"}
        return _show_column(request, shown, row, ColumnForm(name=row.name, initial=initial_of(entry)))
    form = ColumnForm(request.POST, request.FILES, name=row.name)
    status = 400
    if form.is_valid():
        try:
            _declare(user, found, row, form)
        except Refused as refused:
            refused.field = form.box_of(refused.field)
            add_refusal(form, refused)
            status = status_of(refused)
        else:
            onward = place + 1 < len(shown.columns) and request.POST.get("do") == "next"
            return see_other("upload-column", found.uid, place + 1) if onward else see_other("upload", found.uid)
    return _show_column(request, shown, row, form, status=status)


def _declared(found: Upload, row: ColumnRow) -> Mapping[str, Any] | None:
    entry: Mapping[str, Any] | None = found.draft.get("columns", {}).get(row.name)
    return entry


def _declare(user: User, found: Upload, row: ColumnRow, form: ColumnForm) -> None:
    if form.cleaned_data["kind"]:
        uploads.declare(curator=user, upload=found, column=form.column())
    else:
        uploads.leave_out(curator=user, upload=found, name=row.name)


def _show_column(request: HttpRequest, shown: UploadPage, row: ColumnRow, form: ColumnForm, *, status: int = 200) -> HttpResponse:
    return page(
        request, "dataset/column.html", here="datasets", status=status, upload=shown, column=row, form=form,
        number=row.place + 1, last=row.place + 1 == len(shown.columns),
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def suggest(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Have domains suggested from the records, after saying that one knows what that means."""
    user = reader(request)
    found = access.upload_for(user, uid)
    shown = whole_page(found)
    names = [column.name for column in shown.columns if not column.holds]
    form = SuggestForm(request.POST or None, names=names)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                uploads.ask_for_suggestions(curator=user, upload=found, **form.cleaned_data)
            except Refused as refused:
                add_refusal(form, refused)
                status = status_of(refused)
            else:
                return see_other("upload", found.uid)
    return page(request, "dataset/suggest.html", here="datasets", status=status, upload=shown, form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Look at what is declared, say whom it protects, and hand it over."""
    user = reader(request)
    found = access.upload_for(user, uid)
    shown = whole_page(found)
    misfits = uploads.misfits_of(found) if shown.described else ()
    left_out = [column.name for column in shown.left_out]
    form = FreezeForm(request.POST or None, initial={"table": shown.table}, names=left_out, misfits=misfits)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                data = form.cleaned_data
                unit, table, known = form.privacy_unit(), data["table"], data["misfits"]
                uploads.hand_over(curator=user, upload=found, unit=unit, table=table, misfits=known)
            except Refused as refused:
                refused.field = "unit" if refused.field == "privacy_unit" else refused.field
                add_refusal(form, refused)
                status = status_of(refused)
            else:
                return see_other("dataset", shown.dataset_uid)
    return page(request, "dataset/freeze.html", here="datasets", status=status, upload=shown, form=form)
