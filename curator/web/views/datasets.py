"""Datasets: the list, one with its versions, and uploading a file for the worker to freeze."""

import json
from functools import partial
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import Refused
from curator.models import Dataset, Upload
from curator.refusals import status_of
from curator.selectors.datasets import dataset_lines, dataset_page
from curator.services import datasets as services
from curator.services import uploads
from curator.web.forms.datasets import DatasetForm, UploadForm
from curator.web.pages import add_refusal, page, reader
from curator.web.views.ask import see_other

EXAMPLE = json.dumps(
    {
        "columns": [
            {"name": "age", "kind": "integer", "low": 0, "high": 99},
            {"name": "region", "kind": "category", "values": ["North", "South"], "missing": True},
            {"name": "member", "kind": "boolean"},
            {"name": "born", "kind": "date", "low": "1900-01-01", "high": "2025-12-31", "date_format": "dd.mm.yyyy"},
        ]
    },
    indent=1,
)


@require_safe
def datasets(request: HttpRequest) -> HttpResponse:
    """What I look after."""
    user = access.require_site_role(reader(request), Role.CURATOR)
    return page(request, "dataset/list.html", here="datasets", datasets=dataset_lines(access.datasets_of(user)))


@require_safe
def dataset(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One dataset, its versions and uploads."""
    found = access.dataset_for(reader(request), uid)
    return page(request, "dataset/detail.html", here="datasets", page=dataset_page(found, services.overlaps_said(found.owner)))


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A new dataset with its first file."""
    user = access.require_site_role(reader(request), Role.CURATOR)
    return _upload(request, user, DatasetForm, None)


@require_http_methods(["GET", "HEAD", "POST"])
def new_version(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Another file for a dataset."""
    user = reader(request)
    return _upload(request, user, UploadForm, access.dataset_for(user, uid))


def _upload(request: HttpRequest, user: User, kind: type[UploadForm], existing: Dataset | None) -> HttpResponse:
    form = kind(request.POST or None, request.FILES or None)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                made = _register(user, form, existing)
            except Refused as refused:
                _place(form, refused)
                status = status_of(refused)
            else:
                return _onward(request, form, made)
    heading = f"New version of {existing.name}" if existing else "New dataset"
    return page(
        request, "dataset/new.html", here="datasets", status=status, form=form, heading=heading, example=EXAMPLE, dataset=existing
    )


def _onward(request: HttpRequest, form: UploadForm, made: Upload) -> HttpResponse:
    if form.declared:
        return see_other("dataset", made.dataset.uid)
    return see_other("upload", made.uid)


def _register(user: User, form: UploadForm, existing: Dataset | None) -> Upload:
    """Keep the file; a new dataset is made with it or not at all. Without declared columns it is described first."""
    data, dataset = form.cleaned_data, existing or partial(_new, user, form)
    file: UploadedFile[bytes] = data["file"]
    if not form.declared:
        return uploads.receive(curator=user, dataset=dataset, file=file, filename=file.name or "")
    return services.register_upload(
        curator=user, dataset=dataset, file=file, filename=file.name or "", schema_text=data["schema"], unit=form.privacy_unit(),
        table=data["table"],
    )  # fmt: skip


def _new(user: User, form: UploadForm) -> Dataset:
    data = form.cleaned_data
    return services.create_dataset(curator=user, name=data["name"], description=data["description"], source=data["source"])


def _place(form: UploadForm, refused: Refused) -> None:
    """Refusals about the schema name a place inside it: they belong to its box."""
    if refused.field and refused.field.startswith("columns"):
        refused.detail, refused.field = f"In {refused.field}: {refused.detail}", "schema"
    if refused.field == "privacy_unit":
        refused.field = "unit"
    add_refusal(form, refused)
