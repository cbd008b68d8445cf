"""A file on its way to a version, and what is said of versions, over JSON (curators of the dataset)."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, body_of, caller, curated, mark_of, only, page_of, paged, text_of, truth_of
from curator.api.datasets import UNIT, unit_of
from curator.api.fields import Fields, TextField
from curator.api.parsers import SchemaParser
from curator.api.shapes import ContractLine, Shape
from curator.mechanism.errors import BadInput
from curator.mechanism.values import echo
from curator.models import Upload
from curator.selectors.uploads import file_columns
from curator.services import contracts, datasets, uploads

BY_COLUMN = ("shapes", "cells", "unreadable", "dates", "checked")  # members of the worker's report with a line for each column


@extend_schema_field({"type": "object", "additionalProperties": True})
class AnyObject(serializers.Field):  # type: ignore[type-arg]  # generic in the stubs only
    """An object that is given as it is."""

    def to_representation(self, value: object) -> object:
        """As it is."""
        return value


class UploadDetail(Shape):
    """A file and what the worker found in it as a whole; its columns are at `columns/`. For its curator alone."""

    id = TextField(source="uid")
    dataset = TextField(source="dataset.uid")
    filename = serializers.CharField()
    state = serializers.ChoiceField(choices=Upload.State.choices)
    code = serializers.CharField(help_text="why it was refused")
    detail = serializers.CharField()
    table = serializers.CharField()
    version = TextField(source="version.uid", allow_null=True, default=None, help_text="what it was frozen as")
    columns = serializers.SerializerMethodField(help_text="how many the file has")
    declared = serializers.SerializerMethodField(help_text="how many of them are declared")
    report = serializers.SerializerMethodField(help_text="figures of the records; null before the worker read them")
    misfits = serializers.SerializerMethodField(help_text="columns of which most cells do not fit what is declared")

    def get_columns(self, upload: Upload) -> int:
        """Those too that hold nothing that can be read."""
        return len(_header(upload))

    def get_declared(self, upload: Upload) -> int:
        """Of those that the file has."""
        drafted = upload.schema or upload.draft
        entries: Any = drafted.get("columns", {})
        names = {entry["name"] for entry in entries} if isinstance(entries, list) else set(entries)
        return len(names & set(_header(upload)))

    def get_misfits(self, upload: Upload) -> list[str]:
        """What freezing asks about."""
        return [one.name for one in uploads.misfits_of(upload)] if upload.state == Upload.State.DESCRIBED else []

    @extend_schema_field(AnyObject(allow_null=True))
    def get_report(self, upload: Upload) -> Mapping[str, object] | None:
        """What the worker left for the curator, without what it says of single columns."""
        report: Any = datasets.parse_report(upload)
        if report is None:
            return None
        form = {name: value for name, value in report.get("format", {}).items() if name != "header"}
        return {name: value for name, value in report.items() if name not in BY_COLUMN} | {"format": form}


class ColumnShape(Shape):
    """One column of a file."""

    place = serializers.IntegerField(help_text="from 0")
    name = serializers.CharField()
    holds = serializers.CharField(help_text="what it holds instead of cells that can be read; else empty")
    shapes = serializers.DictField(child=serializers.IntegerField(), help_text="what its cells look like")
    dates = serializers.DictField(child=serializers.IntegerField(), help_text="cells by each form in which they are dates")
    cells = serializers.DictField(child=serializers.IntegerField(), help_text="what would not fit, by what is declared")
    checked = serializers.BooleanField(help_text="whether the file was read since it was declared so")
    offenders = AnyObject(help_text="where acknowledged: texts that do not fit, [text, cells] each, and cells with others")
    declared = AnyObject(allow_null=True, help_text="as in a schema; null: it will be left out")
    suggested = AnyObject(allow_null=True)


COLUMNS = inline_serializer("ColumnsBody", {"columns": serializers.ListField(child=AnyObject(), help_text="as in a schema")})
_COLUMN: Fields = {
    "kind": serializers.ChoiceField(["category", "boolean", "integer", "decimal", "date"]),
    "values": serializers.ListField(child=serializers.CharField(), required=False, help_text="of a category, in order"),
    "missing": serializers.BooleanField(required=False),
    "out_of_domain": serializers.ChoiceField(["clamp", "other", "missing"], required=False),
}
_COLUMN |= {name: serializers.CharField(required=False) for name in ("low", "high", "step", "title", "date_format")}
COLUMN = inline_serializer("ColumnBody", _COLUMN)
READING = inline_serializer(
    "ReadingBody",
    {
        "delimiter": serializers.CharField(required=False), "decimal_comma": serializers.BooleanField(required=False),
        "acknowledged": serializers.BooleanField(required=False, help_text="show texts that do not fit; goes onto the record"),
    },
)  # fmt: skip
SUGGEST = inline_serializer(
    "SuggestBody",
    {"columns": serializers.ListField(child=serializers.CharField()), "acknowledged": serializers.BooleanField()},
)
REASON = inline_serializer("DiscardBody", {"reason": serializers.CharField()})
FREEZE = inline_serializer(
    "FreezeBody",
    {
        **UNIT, "table": serializers.CharField(required=False),
        "misfits": serializers.ListField(
            child=serializers.CharField(), required=False, help_text="columns of which you know that most cells do not fit"
        ),
    },
)  # fmt: skip
OVERLAP = inline_serializer(
    "OverlapBody",
    {"other": serializers.CharField(), "same_people": serializers.BooleanField(), "reason": serializers.CharField()},
)
USE = inline_serializer("UseBody", {"version": serializers.CharField(), "reason": serializers.CharField()})


def _header(upload: Upload) -> list[str]:
    report: Any = datasets.parse_report(upload) or {}
    header: list[str] = report.get("format", {}).get("header", [])
    return header


def _shown(upload: Upload, status: int = 200) -> Response:
    return Response(UploadDetail(upload).data, status=status)


class OneUpload(Api):
    """`uploads/{id}/`"""

    @extend_schema(responses=UploadDetail)
    def get(self, request: Request, uid: UUID) -> Response:
        """One file."""
        return _shown(access.upload_for(caller(request), uid))


class Columns(Api):
    """`uploads/{id}/columns/`"""

    parser_classes = [SchemaParser]

    @extend_schema(responses=page_of(ColumnShape), parameters=[OpenApiParameter("after", int, description="the mark in `next`")])
    def get(self, request: Request, uid: UUID) -> Response:
        """The columns of the file in its order, with what was found in them, what is declared, and what was suggested."""
        found = access.upload_for(caller(request), uid)
        report, suggested, bad = datasets.parse_report(found) or {}, uploads.suggestions_of(found), uploads.offenders_of(found)
        return Response(paged(file_columns(found, report, suggested, bad, after=mark_of(request)), ColumnShape))

    @extend_schema(request=COLUMNS, responses=UploadDetail)
    def post(self, request: Request, uid: UUID) -> Response:
        """Declare the columns, in place of what was drafted; those that are not named are left out."""
        found = access.upload_for(caller(request), uid)
        columns = only(body_of(request), "columns").get("columns")
        if not isinstance(columns, list):
            raise BadInput("bad_schema", "columns: expected a list of columns", field="columns")
        return _shown(uploads.declare_all(curator=caller(request), upload=found, columns=columns))


class OneColumn(Api):
    """`uploads/{id}/columns/{place}/`"""

    parser_classes = [SchemaParser]

    @extend_schema(request=COLUMN, responses=UploadDetail)
    def put(self, request: Request, uid: UUID, place: int) -> Response:
        """Declare this column, written as in a schema; its name may be left out. The others stay as they are."""
        found = access.upload_for(caller(request), uid)
        name = _name_at(found, place)
        column = {"name": name, **body_of(request)}
        if column["name"] != name:
            detail = f"name: expected {echo(name)}, the name of this column in the file"
            raise BadInput("other_column", detail, field="name", private=True)
        return _shown(uploads.declare(curator=caller(request), upload=found, column=column))

    @extend_schema(responses=UploadDetail)
    def delete(self, request: Request, uid: UUID, place: int) -> Response:
        """Leave this column out of the version."""
        found = access.upload_for(caller(request), uid)
        return _shown(uploads.leave_out(curator=caller(request), upload=found, name=_name_at(found, place)))


def _name_at(upload: Upload, place: int) -> str:
    header = _header(upload)
    if place >= len(header):
        raise access.not_yours(private=True)
    return header[place]


class Reading(Api):
    """`uploads/{id}/reading/`"""

    @extend_schema(request=READING, responses={202: UploadDetail})
    def post(self, request: Request, uid: UUID) -> Response:
        """Have the worker read the file again: by what is declared, and as the body says.

        It tells how many cells do not fit; `acknowledged`, that records show through texts, has it list those texts too.
        """
        found = access.upload_for(caller(request), uid)
        body = only(body_of(request), "delimiter", "decimal_comma", "acknowledged")
        delimiter = text_of(body, "delimiter") if "delimiter" in body else None
        comma = truth_of(body, "decimal_comma") if "decimal_comma" in body else None
        known = truth_of(body, "acknowledged", False)
        read = uploads.read_again(
            curator=caller(request), upload=found, delimiter=delimiter, decimal_comma=comma, acknowledged=known
        )
        return _shown(read, 202)


class Suggestions(Api):
    """`uploads/{id}/suggestions/`"""

    @extend_schema(request=SUGGEST, responses={202: UploadDetail})
    def post(self, request: Request, uid: UUID) -> Response:
        """Have domains suggested from the records. `acknowledged`: that they can show through; asking goes onto the record."""
        found = access.upload_for(caller(request), uid)
        body = only(body_of(request), "columns", "acknowledged")
        names = _names(body.get("columns"), "columns")
        asked = uploads.ask_for_suggestions(
            curator=caller(request), upload=found, columns=names, acknowledged=truth_of(body, "acknowledged")
        )
        return _shown(asked, 202)


class Freeze(Api):
    """`uploads/{id}/freeze/`"""

    @extend_schema(request=FREEZE, responses={202: UploadDetail})
    def post(self, request: Request, uid: UUID) -> Response:
        """Say whom it protects and have it frozen by what is declared."""
        found = access.upload_for(caller(request), uid)
        body = only(body_of(request), *UNIT, "table", "misfits")
        table, misfits = text_of(body, "table", found.table), _names(body.get("misfits", []), "misfits")
        handed = uploads.hand_over(curator=caller(request), upload=found, unit=unit_of(body), table=table, misfits=misfits)
        return _shown(handed, 202)


class Discard(Api):
    """`uploads/{id}/discard/`"""

    @extend_schema(request=REASON, responses=UploadDetail)
    def post(self, request: Request, uid: UUID) -> Response:
        """Delete a file that is not to be frozen after all."""
        found = access.upload_for(caller(request), uid)
        body = only(body_of(request), "reason")
        return _shown(uploads.discard(curator=caller(request), upload=found, reason=text_of(body, "reason")))


class Overlap(Api):
    """`versions/{id}/overlap/`"""

    @extend_schema(request=OVERLAP, responses={204: None})
    def post(self, request: Request, uid: UUID) -> Response:
        """Say whether this version and another are about the same people."""
        curator = caller(request)
        body = only(body_of(request), "other", "same_people", "reason")
        version, other = access.version_for(curator, uid), access.version_for(curator, text_of(body, "other"))
        same = truth_of(body, "same_people")
        datasets.declare_overlap(curator=curator, version=version, other=other, same_people=same, reason=text_of(body, "reason"))
        return Response(status=204)


class Use(Api):
    """`contracts/{id}/version/`"""

    @extend_schema(request=USE, responses=ContractLine)
    def post(self, request: Request, uid: UUID) -> Response:
        """Ask under this contract about another version of its dataset from now on; nothing is credited across versions."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "version", "reason")
        version = access.version_for(curator, text_of(body, "version"))
        changed = contracts.set_version(curator=curator, contract=found, version=version, reason=text_of(body, "reason"))
        return Response(ContractLine(changed).data)


def _names(value: object, field: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadInput("bad_names", f"{field}: expected a list of names", field=field)
    return value
