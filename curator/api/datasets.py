"""Datasets over JSON and multipart: make one, send a file, see what became of it (curators)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, only, text_of
from curator.api.fields import Fields, TextField
from curator.api.shapes import ContractLine
from curator.mechanism.errors import BadInput
from curator.models import Upload
from curator.selectors.datasets import DatasetPage, UploadLine, dataset_lines, dataset_page
from curator.services import datasets, uploads


class DatasetLineShape(serializers.Serializer[Any]):
    """A dataset in a list."""

    id = TextField(source="uid")
    name = serializers.CharField()
    description = serializers.CharField()
    versions = serializers.IntegerField()
    contracts = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class VersionShape(serializers.Serializer[Any]):
    """One frozen version with its public schema."""

    id = TextField(source="uid")
    number = serializers.IntegerField()
    table = serializers.CharField()
    privacy_unit = serializers.CharField()
    schema = serializers.JSONField()
    frozen_by = serializers.CharField()
    frozen_at = serializers.DateTimeField()


class UploadShape(serializers.Serializer[Any]):
    """A file that was sent, and what became of it."""

    id = TextField(source="uid")
    filename = serializers.CharField()
    state = serializers.CharField()
    code = serializers.CharField(help_text="why it was refused, or likely_reupload")
    detail = serializers.CharField()
    version = serializers.SerializerMethodField(help_text="what it was frozen as")
    created_at = serializers.DateTimeField()

    def get_version(self, upload: Upload | UploadLine) -> str | None:
        """The version's id; null before there is one."""
        if isinstance(upload, UploadLine):
            return str(upload.version_uid) if upload.version_uid else None
        return str(upload.version.uid) if upload.version else None


class DatasetShape(serializers.Serializer[Any]):
    """One dataset with its versions and latest uploads."""

    id = TextField(source="dataset.uid")
    name = serializers.CharField(source="dataset.name")
    description = serializers.CharField(source="dataset.description")
    source = serializers.CharField(source="dataset.source")  # type: ignore[assignment]  # a member named source; a serializer's own source is not used
    contracts = ContractLine(many=True)
    overlaps_said = serializers.SerializerMethodField(help_text="versions of which it is said what they share with another")
    versions = VersionShape(many=True)
    uploads = UploadShape(many=True)

    def get_overlaps_said(self, page: DatasetPage) -> list[str]:
        """Their ids."""
        return sorted(str(version.uid) for version in page.versions if version.uid in page.said)


_NEW: Fields = {"name": serializers.CharField()}
_NEW |= {name: serializers.CharField(required=False) for name in ("description", "source")}
NEW = inline_serializer("DatasetBody", _NEW)
UNIT: Fields = {
    "privacy_unit": serializers.ChoiceField(["record", "person"], help_text="no default"),
    "person_column": serializers.CharField(required=False),
    "k": serializers.CharField(required=False, help_text="most records one person may have"),
}
_FILE: Fields = {
    "file": serializers.FileField(),
    "schema": serializers.CharField(required=False, help_text="the public schema as JSON text, with which it is frozen at once"),
    "privacy_unit": serializers.ChoiceField(["record", "person"], required=False, help_text="needed with a schema"),
    "person_column": serializers.CharField(required=False),
    "k": serializers.CharField(required=False),
    "table": serializers.CharField(required=False),
}
FILE = inline_serializer("UploadBody", dict(_FILE))


def unit_of(body: Mapping[str, Any]) -> datasets.PrivacyUnit:
    """The privacy unit in a body; BadInput where it is not stated whole."""
    column = text_of(body, "person_column", "")
    return datasets.privacy_unit(text_of(body, "privacy_unit", ""), person_column=column, k=body.get("k"))


class Datasets(Api):
    """`datasets/`"""

    @extend_schema(responses=DatasetLineShape(many=True))
    def get(self, request: Request) -> Response:
        """The datasets I look after."""
        return Response(DatasetLineShape(dataset_lines(access.datasets_of(caller(request))), many=True).data)

    @extend_schema(request=NEW, responses={201: DatasetShape})
    def post(self, request: Request) -> Response:
        """Make an empty dataset."""
        curator = access.require_site_role(caller(request), Role.CURATOR)
        body = only(body_of(request), "name", "description", "source")
        more = {name: text_of(body, name, "") for name in ("description", "source")}
        made = datasets.create_dataset(curator=curator, name=text_of(body, "name"), **more)
        return Response(DatasetShape(dataset_page(made)).data, status=201)


class Dataset(Api):
    """`datasets/{id}/`"""

    @extend_schema(responses=DatasetShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """One dataset."""
        found = access.dataset_for(caller(request), uid)
        return Response(DatasetShape(dataset_page(found, datasets.overlaps_said(found.owner))).data)


class Uploads(Api):
    """`datasets/{id}/uploads/`"""

    parser_classes = [MultiPartParser]
    takes_files = True

    @extend_schema(request={"multipart/form-data": FILE}, responses={202: UploadShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Send a file: with its schema and privacy unit it is frozen as the next version, without them it is described first."""
        curator = caller(request)
        found = access.dataset_for(curator, uid)
        body = only(body_of(request), *_FILE)
        file = body.get("file")
        if not isinstance(file, UploadedFile):
            raise BadInput("missing_file", "file: expected a file (CSV, TSV or Parquet)", field="file")
        sent = {"curator": curator, "dataset": found, "file": file, "filename": file.name or ""}
        upload = _declared(body, sent) if "schema" in body else uploads.receive(**_undeclared(body, sent))
        return Response(UploadShape(upload).data, status=202)


def _declared(body: Mapping[str, Any], sent: Any) -> Upload:
    table = text_of(body, "table", "people")
    return datasets.register_upload(**sent, schema_text=text_of(body, "schema"), unit=unit_of(body), table=table)


def _undeclared(body: Mapping[str, Any], sent: Any) -> Any:
    """Whom it protects is said when its columns are declared: said now it would be passed over."""
    only(body, "file")
    return sent
