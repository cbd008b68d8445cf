"""The audit record over JSON: events in order, heads, verification."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, caller, mark_of, page_of, paged
from curator.api.shapes import EventShape, HeadShape
from curator.selectors import audit, records

FILTERS = [OpenApiParameter(name, str) for name in ("chain", "kind", "actor")]


class Events(Api):
    """`audit/`"""

    @extend_schema(responses=page_of(EventShape), parameters=[*FILTERS, OpenApiParameter("after", int)])
    def get(self, request: Request) -> Response:
        """Events of the chains I may read, oldest first, each with the bytes that were hashed; `?after=` takes the mark in `next`."""
        chains = access.chains_of(caller(request))
        chosen = {name: request.query_params.get(name, "") for name in ("chain", "kind", "actor")}
        return Response(paged(records.events(chains, audit.Filters(**chosen), after=mark_of(request)), EventShape))


class Heads(Api):
    """`audit/head/`"""

    @extend_schema(responses=HeadShape(many=True))
    def get(self, request: Request) -> Response:
        """The newest head of each chain I may read: note it outside, and a cut or rewritten record shows."""
        return Response(HeadShape(audit.heads(access.chains_of(caller(request))), many=True).data)

