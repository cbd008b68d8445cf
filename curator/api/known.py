"""What an analyst can have for nothing over JSON: answers already released, and questions kept under names."""

from decimal import Decimal
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, mark_of, only, page_of, paged, param, text_of
from curator.api.queries import ASK
from curator.api.shapes_known import ReleasedShape, SavedShape
from curator.language import parse_ask
from curator.mechanism.accuracy import Within, parse_target
from curator.mechanism.schema import Schema
from curator.selectors.released import Sought, released
from curator.selectors.saved import saved_line, saved_lines
from curator.selectors.workspace import schema_of
from curator.services import saved

MAYBE_NAMED = inline_serializer("SavedMaybeName", {"name": serializers.CharField(required=False)})
NAMED = inline_serializer("SavedName", {"name": serializers.CharField()})
SOUGHT = [
    OpenApiParameter("column", str, description="the condition names this column"),
    OpenApiParameter("search", str, description="part of the condition's text"),
    OpenApiParameter("within", int, description="free at this bound: at most so many people off"),
    OpenApiParameter("confidence", str, description="at this confidence (0.95)"),
    OpenApiParameter("after", str, description="the mark in `next`"),
]


class Released(Api):
    """`contracts/{id}/released/`"""

    @extend_schema(responses=page_of(ReleasedShape), parameters=SOUGHT)
    def get(self, request: Request, uid: UUID) -> Response:
        """Answers already released, newest first: what anybody here can have for nothing."""
        contract = access.contract_for(caller(request), uid)
        sought = _sought(request, schema_of(contract))
        return Response(paged(released(contract, sought, after=mark_of(request), limit=50), ReleasedShape))


def _sought(request: Request, schema: Schema) -> Sought:
    """What to look for; BadInput for a column that is none, a bound or a confidence that no question could ask for."""
    column, within = param(request, "column"), param(request, "within")
    target = parse_target({"within": within or "1", "confidence": param(request, "confidence") or Decimal("0.95")})
    assert isinstance(target, Within)
    name = schema.column(column).name if column else ""
    return Sought(name, param(request, "search"), target.bound if within else None, target.confidence)


class Saved(Api):
    """`contracts/{id}/saved/`"""

    reads_questions = True

    @extend_schema(responses=SavedShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """My kept questions under a contract, by name."""
        owner = caller(request)
        contract = access.contract_for(owner, uid, role=Role.ANALYST)
        return Response(SavedShape(saved_lines(contract, owner), many=True).data)

    @extend_schema(request=ASK, responses={201: SavedShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Keep a question under its label (without one, under its own words). Asks and charges nothing."""
        owner = caller(request)
        contract = access.contract_for(owner, uid, role=Role.ANALYST)
        ask = parse_ask(body_of(request), schema=schema_of(contract), table=contract.version.table)
        row = saved.save(owner=owner, contract=contract, ask=ask, name=ask.label)
        return Response(SavedShape(saved_line(row)).data, status=201)


class SaveQuery(Api):
    """`queries/{id}/save/`"""

    @extend_schema(request=MAYBE_NAMED, responses={201: SavedShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Keep one of my own questions under a name (without one, under its label or its own words)."""
        owner = caller(request)
        query = access.query_for(owner, uid, own=True)
        row = saved.save_query(owner=owner, query=query, name=text_of(only(body_of(request), "name"), "name", ""))
        return Response(SavedShape(saved_line(row)).data, status=201)


class OneSaved(Api):
    """`saved/{id}/`"""

    @extend_schema(responses=SavedShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """One kept question; POST its `request` to the contract's queries to ask it again."""
        return Response(SavedShape(saved_line(access.saved_for(caller(request), uid))).data)

    @extend_schema(request=NAMED, responses=SavedShape)
    def patch(self, request: Request, uid: UUID) -> Response:
        """Give it another name."""
        row = access.saved_for(caller(request), uid)
        name = text_of(only(body_of(request), "name"), "name")
        return Response(SavedShape(saved_line(saved.rename(saved=row, name=name))).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, uid: UUID) -> Response:
        """Forget it; questions asked from it stay what they are."""
        saved.delete(saved=access.saved_for(caller(request), uid))
        return Response(status=204)
