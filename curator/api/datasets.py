"""Datasets over JSON and multipart: make one, send a file, see what became of it (curators)."""

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
from curator.mechanism.errors import BadInput
from curator.selectors.datasets import dataset_lines, dataset_page
from curator.services import datasets


class DatasetLineShape(serializers.Serializer[Any]):
    """A dataset in a list."""

    id = TextField(source="uid")
    name = serializers.CharField()
    versions = serializers.IntegerField()
    contracts = serializers.IntegerField()


class VersionShape(serializers.Serializer[Any]):
    """One frozen version; its public schema is in any contract about it."""

    id = TextField(source="uid")
    number = serializers.IntegerField()
    table = serializers.CharField()
    privacy_unit = serializers.CharField()
    frozen_at = serializers.DateTimeField()


class UploadShape(serializers.Serializer[Any]):
    """A file that was sent, and what became of it."""

    id = TextField(source="uid")
    filename = serializers.CharField()
    state = serializers.CharField()
    detail = serializers.CharField()


class DatasetShape(serializers.Serializer[Any]):
    """One dataset with its versions and latest uploads."""

    id = TextField(source="dataset.uid")
    name = serializers.CharField(source="dataset.name")
    versions = VersionShape(many=True)
    uploads = UploadShape(many=True)


_NEW: Fields = {"name": serializers.CharField()}
_NEW |= {name: serializers.CharField(required=False) for name in ("description", "source")}
NEW = inline_serializer("DatasetBody", _NEW)
FILE = inline_serializer(
    "UploadBody",
    {
        "file": serializers.FileField(),
        "schema": serializers.CharField(help_text="the public schema as JSON text"),
        "privacy_unit": serializers.ChoiceField(["record", "person"]),
        "person_column": serializers.CharField(required=False),
        "k": serializers.CharField(required=False, help_text="most records one person may have"),
        "table": serializers.CharField(required=False),
    },
)


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
        return Response(DatasetShape(dataset_page(access.dataset_for(caller(request), uid))).data)


class Uploads(Api):
    """`datasets/{id}/uploads/`"""

    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": FILE}, responses={202: UploadShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Send a file with its schema and privacy unit; the worker freezes it as the next version."""
        curator = caller(request)
        found = access.dataset_for(curator, uid)
        body = only(body_of(request), "file", "schema", "privacy_unit", "person_column", "k", "table")
        file = body.get("file")
        if not isinstance(file, UploadedFile):
            raise BadInput("missing_file", "file: expected a file (CSV, TSV or Parquet)", field="file")
        unit = datasets.privacy_unit(
            text_of(body, "privacy_unit", ""), person_column=text_of(body, "person_column", ""), k=body.get("k")
        )
        upload = datasets.register_upload(
            curator=curator, dataset=found, file=file, filename=file.name or "", schema_text=text_of(body, "schema"),
            unit=unit, table=text_of(body, "table", "people"),
        )  # fmt: skip
        return Response(UploadShape(upload).data, status=202)
