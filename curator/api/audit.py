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
from curator.api.fields import Fields
from curator.api.record_shapes import BalanceShape, EventLineShape, EventPageShape, ReceiptShape, VerificationShape
from curator.api.shapes import EventShape, HeadShape
from curator.mechanism import receipts
from curator.mechanism.errors import BadInput
from curator.mechanism.receipts import Receipt
from curator.selectors import audit, balances, exports, records
from curator.selectors.verifications import latest, verification_page
from curator.services.verification import requested

CHAIN = OpenApiParameter("chain", str, required=True, description="a contract's id, or site: see audit/head/")
CONTRACT = OpenApiParameter("contract", str, required=True, description="a contract's id")
DAYS = [OpenApiParameter(name, OpenApiTypes.DATE, description="UTC, that day included") for name in ("since", "until")]
MAYBE_CHAIN = OpenApiParameter("chain", str, description="one of them: a contract's id, or site")
FILTERS = [OpenApiParameter("kind", str), OpenApiParameter("actor", str), *DAYS]


_KINDS: Fields = {"kinds": serializers.ListField(child=serializers.CharField()), "untold": serializers.IntegerField()}


VERIFY = inline_serializer("VerifyBody", {"contract": serializers.CharField(required=False)})


class Events(Api):
    """`audit/`"""

    @extend_schema(responses=page_of(EventShape), parameters=[CHAIN, *FILTERS, OpenApiParameter("after", int)])
    def get(self, request: Request) -> Response:
        """Events of one chain I may read, in its order, with the bytes that were hashed; `?after=` takes the mark in `next`."""
        chain = access.chain_for(caller(request), param(request, "chain"))
        return Response(paged(records.events(chain, _filters(request), after=mark_of(request)), EventShape))


class Log(Api):
    """`audit/log/`"""

    @extend_schema(responses=page_of(EventLineShape), parameters=[MAYBE_CHAIN, *FILTERS, OpenApiParameter("before", int)])
    def get(self, request: Request) -> Response:
        """Events of all chains I may read, newest first, each in a line; `?before=` takes the mark in `next`."""
        chains, chosen = access.record_of(caller(request)), param(request, "chain")
        if chosen:
            chains = [access.chain_for(caller(request), chosen)]
        return Response(paged(audit.log(chains, _filters(request), before=mark_of(request, "before")), EventLineShape))


class Kinds(Api):
    """`audit/kinds/`"""

    @extend_schema(responses=inline_serializer("EventKinds", _KINDS))
    def get(self, request: Request) -> Response:
        """The kinds of events there are; `untold`: denied requests counted, told within a minute (for the site's readers)."""
        chains = access.record_of(caller(request))
        return Response({"kinds": list(audit.kinds(chains)), "untold": audit.untold(chains)})


class OneEvent(Api):
    """`audit/events/{chain}/{seq}/`"""

    @extend_schema(responses=EventPageShape)
    def get(self, request: Request, chain: str, seq: int) -> Response:
        """One event: why, on whose approval, and the bytes that were hashed."""
        return Response(EventPageShape(audit.event_page(access.event_for(caller(request), chain, seq))).data)


class Heads(Api):
    """`audit/head/`"""

    @extend_schema(responses=HeadShape(many=True))
    def get(self, request: Request) -> Response:
        """The newest head of each chain I may read: note it outside, and a cut or rewritten record shows."""
        return Response(HeadShape(audit.heads(access.record_of(caller(request))), many=True).data)


class Verify(Api):
    """`audit/verify/`"""

    @extend_schema(request=VERIFY, responses={202: VerificationShape})
    def post(self, request: Request) -> Response:
        """Have one chain (a contract's id, or site), or without one all I may read, recomputed; that it was done is an event."""
        person = caller(request)
        body = only(body_of(request), "contract")
        chains = audit.ordered(access.record_of(person))
        chosen = [access.chain_for(person, text_of(body, "contract"))] if "contract" in body else chains
        made = requested.start(owner=person, chains=chosen)
        return Response(VerificationShape(verification_page(made)).data, status=202)


class Verifications(Api):
    """`audit/verifications/`"""

    @extend_schema(responses=VerificationShape(many=True))
    def get(self, request: Request) -> Response:
        """The last ones I asked for, newest first."""
        person = caller(request)
        access.record_of(person)
        return Response(VerificationShape(latest(person), many=True).data)


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
        return Response(ReceiptShape(_newest(request), many=True).data)


class Anchor(Api):
    """`audit/anchor/`"""

    @extend_schema(responses={(200, "application/jsonl"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """The same as lines of JSON, which both verifiers take as an anchor."""
        return HttpResponse(b"".join(map(receipts.line, _newest(request))), content_type="application/jsonl")


class Export(Api):
    """`audit/export/`"""

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.STR}, parameters=[MAYBE_CHAIN])
    def get(self, request: Request) -> StreamingHttpResponse:
        """Every event of one chain, or of all I may read, with the very bytes that were hashed, one per line; then receipts."""
        chains, chosen = audit.ordered(access.record_of(caller(request))), param(request, "chain")
        if chosen:
            chains = [access.chain_for(caller(request), chosen)]
        return StreamingHttpResponse(exports.record(chains), content_type="application/x-ndjson")


class Verifier(Api):
    """`audit/verifier/`"""

    @extend_schema(responses={(200, "text/x-python"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """One file of plain Python that verifies an export without this site."""
        access.record_of(caller(request))
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


def _newest(request: Request) -> list[Receipt]:
    return exports.newest(audit.ordered(access.record_of(caller(request))))


def _filters(request: Request) -> audit.Filters:
    since, until = _day(request, "since"), _day(request, "until")
    return audit.Filters(kind=param(request, "kind"), actor=param(request, "actor"), since=since, until=until)


def _day(request: Request, name: str) -> date | None:
    text = param(request, name)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput("bad_day", f"{name}: expected a day written YYYY-MM-DD", field=name) from None
