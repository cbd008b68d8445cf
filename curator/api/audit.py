"""The audit record over JSON: events in order, heads and receipts, files, an explained balance, verification."""

from datetime import date
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, body_of, caller, mark_of, only, page_of, paged, param, text_of
from curator.api.record_shapes import BalanceShape, ReceiptShape, VerificationShape
from curator.api.shapes import EventShape, HeadShape
from curator.mechanism.errors import BadInput
from curator.selectors import audit, balances, exports, records
from curator.selectors.verifications import verification_page
from curator.services.verification import requested

CHAIN = OpenApiParameter("chain", str, required=True, description="a contract's id, or site: see audit/head/")
CONTRACT = OpenApiParameter("contract", str, required=True, description="a contract's id")
DAYS = [OpenApiParameter(name, OpenApiTypes.DATE, description="UTC, that day included") for name in ("since", "until")]
FILTERS = [CHAIN, OpenApiParameter("kind", str), OpenApiParameter("actor", str), *DAYS]


class Events(Api):
    """`audit/`"""

    @extend_schema(responses=page_of(EventShape), parameters=[*FILTERS, OpenApiParameter("after", int)])
    def get(self, request: Request) -> Response:
        """Events of one chain I may read, in its order, with the bytes that were hashed; `?after=` takes the mark in `next`."""
        chain = access.chain_for(caller(request), param(request, "chain"))
        filters = audit.Filters(
            kind=param(request, "kind"), actor=param(request, "actor"), since=_day(request, "since"), until=_day(request, "until")
        )
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
        request=inline_serializer("VerifyBody", {"contract": serializers.CharField()}), responses={202: VerificationShape}
    )
    def post(self, request: Request) -> Response:
        """Have one chain (a contract's id, or site) recomputed by the worker; that it was done becomes an event itself."""
        person = caller(request)
        chain = access.chain_for(person, text_of(only(body_of(request), "contract"), "contract"))
        made = requested.start(owner=person, chains=[chain])
        return Response(VerificationShape(verification_page(made)).data, status=202)


class Verification(Api):
    """`audit/verifications/{id}/`"""

    @extend_schema(responses=VerificationShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """Progress of a verification I asked for, then what came of it."""
        return Response(VerificationShape(verification_page(access.verification_for(caller(request), uid))).data)


class Receipts(Api):
    """`audit/receipts/`"""

    @extend_schema(responses=ReceiptShape(many=True))
    def get(self, request: Request) -> Response:
        """Sequence, head and total spent of each chain I may read, as receipts keep them (`spent` in units of 1e-12 rho)."""
        found = exports.newest(audit.ordered(access.chains_of(caller(request))))
        return Response(ReceiptShape(found, many=True).data)


class Export(Api):
    """`audit/export/`"""

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.STR}, parameters=[CHAIN])
    def get(self, request: Request) -> StreamingHttpResponse:
        """Every event of one chain with the very bytes that were hashed, one per line, and a closing receipt."""
        chain = access.chain_for(caller(request), param(request, "chain"))
        return StreamingHttpResponse(exports.record([chain]), content_type="application/x-ndjson")


class Verifier(Api):
    """`audit/verifier/`"""

    @extend_schema(responses={(200, "text/x-python"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """One file of plain Python that verifies an export without this site."""
        return HttpResponse(exports.verifier(), content_type="text/x-python; charset=utf-8")


class Balance(Api):
    """`audit/balance/`"""

    @extend_schema(
        responses=BalanceShape, parameters=[CONTRACT, OpenApiParameter("analyst", str), OpenApiParameter("after", int)]
    )
    def get(self, request: Request) -> Response:
        """The events that moved what a contract, or one analyst, has spent and may spend, with running totals."""
        person = caller(request)
        contract = access.contract_for(person, param(request, "contract"))
        access.require(person, contract, *access.READERS)
        name = param(request, "analyst")
        analyst = access.analyst_of(contract, name) if name else None
        return Response(BalanceShape(balances.explain(contract, analyst, after=mark_of(request))).data)


def _day(request: Request, name: str) -> date | None:
    text = param(request, name)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput("bad_day", f"{name}: expected a day written YYYY-MM-DD", field=name) from None
