"""The audit record over JSON: events in order, heads, verification."""

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, body_of, caller, mark_of, only, page_of, paged, param, text_of
from curator.api.shapes import EventShape, HeadShape
from curator.selectors import audit, records
from curator.services.verification import verify_for

CHAIN = OpenApiParameter("chain", str, required=True, description="a contract's id, or site: see audit/head/")
FILTERS = [CHAIN, OpenApiParameter("kind", str), OpenApiParameter("actor", str)]


class Events(Api):
    """`audit/`"""

    @extend_schema(responses=page_of(EventShape), parameters=[*FILTERS, OpenApiParameter("after", int)])
    def get(self, request: Request) -> Response:
        """Events of one chain I may read, in its order, with the bytes that were hashed; `?after=` takes the mark in `next`."""
        chain = access.chain_for(caller(request), param(request, "chain"))
        filters = audit.Filters(kind=param(request, "kind"), actor=param(request, "actor"))
        return Response(paged(records.events(chain, filters, after=mark_of(request)), EventShape))


class Heads(Api):
    """`audit/head/`"""

    @extend_schema(responses=HeadShape(many=True))
    def get(self, request: Request) -> Response:
        """The newest head of each chain I may read: note it outside, and a cut or rewritten record shows."""
        return Response(HeadShape(audit.heads(access.chains_of(caller(request))), many=True).data)


class Verify(Api):
    """`audit/verify/`"""

    @extend_schema(
        request=inline_serializer("VerifyBody", {"contract": serializers.CharField()}),
        responses=inline_serializer(
            "Verification",
            {
                "ok": serializers.BooleanField(),
                "checked": serializers.DictField(child=serializers.IntegerField()),
                "first_difference": serializers.CharField(allow_null=True),
            },
        ),
    )
    def post(self, request: Request) -> Response:
        """Recompute one contract's record from its rows, every decision included; that it was done is an event itself."""
        person = caller(request)
        chain = access.chain_for(person, text_of(only(body_of(request), "contract"), "contract"))
        report = verify_for(person, [access.contract_for(person, chain)])
        return Response({"ok": report.ok, "checked": report.checked, "first_difference": report.first_difference})
