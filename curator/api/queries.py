"""Questions over JSON: a quote, asking, looking, taking back."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, page_of, paged
from curator.api.shapes import QueryLine, QueryShape, QuoteShape, SubmittedShape
from curator.api.shapes_known import RehearsalShape
from curator.laboratory.rehearsal import rehearse
from curator.language import parse_ask
from curator.mechanism.errors import BadInput
from curator.selectors import answers, quotes, records, workspace
from curator.services import queries

KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, required=True, description="your own name for this request"
)

ASK = inline_serializer(
    "Ask",
    {
        "sql": serializers.CharField(required=False, help_text="SELECT COUNT(*) FROM people WHERE … [GROUP BY …]"),
        "where": serializers.JSONField(required=False, help_text="instead of sql: a tree of all, any, not and column tests"),
        "group_by": serializers.JSONField(required=False, help_text='[{"column", "bins": n | "edges": […]}], one or two'),
        "accuracy": serializers.JSONField(
            help_text='{"within": 25, "confidence": 0.95, "simultaneous": false}, or {"standard_error"}, {"rho"}, {"relative"}'
        ),
        "under_scarcity": serializers.ChoiceField(["partial", "all_or_nothing"], required=False),
        "label": serializers.CharField(required=False),
    },
)


class Quote(Api):
    """`contracts/{id}/quote/`"""

    reads_by_post = reads_questions = True

    @extend_schema(request=ASK, responses=QuoteShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Price a question as of now. Spends, reads and stores nothing."""
        analyst = caller(request)
        contract = access.contract_for(analyst, uid, role=Role.ANALYST)
        version = contract.version
        ask = parse_ask(body_of(request), schema=workspace.schema_of(contract), table=version.table)
        return Response(QuoteShape(quotes.quote(contract=contract, analyst=analyst, ask=ask)).data)


class Rehearse(Api):
    """`contracts/{id}/rehearse/`"""

    reads_by_post = reads_questions = True

    @extend_schema(request=ASK, responses=RehearsalShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Try a question on people made up from the public schema. Reads no record, spends, draws on and stores nothing."""
        contract = access.contract_for(caller(request), uid, role=Role.ANALYST)
        schema = workspace.schema_of(contract)
        ask = parse_ask(body_of(request), schema=schema, table=contract.version.table)
        return Response(RehearsalShape(rehearse(ask, schema)).data)


class Queries(Api):
    """`contracts/{id}/queries/`"""

    reads_questions = True

    @extend_schema(responses=page_of(QueryLine), parameters=[OpenApiParameter("before", str, description="the mark in `next`")])
    def get(self, request: Request, uid: UUID) -> Response:
        """My questions under a contract, newest first."""
        analyst = caller(request)
        contract = access.contract_for(analyst, uid, role=Role.ANALYST)
        return Response(paged(workspace.my_queries(contract, analyst, before=_mark(request), limit=50), QueryLine))

    @extend_schema(request=ASK, responses={202: SubmittedShape}, parameters=[KEY])
    def post(self, request: Request, uid: UUID) -> Response:
        """Ask one question, or a list of up to 500 that are decided in its order; the same key and body give the same ones."""
        analyst = caller(request)
        contract = access.contract_for(analyst, uid, role=Role.ANALYST)
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            raise BadInput(
                "missing_key", "Idempotency-Key: expected a name of your own for this request", field="Idempotency-Key"
            )
        rows = queries.submit(analyst=analyst, contract=contract, body=request.data, key=key)
        shown = SubmittedShape(rows, many=True).data
        return Response(shown if isinstance(request.data, list) else shown[0], status=202)


def _mark(request: Request) -> UUID | None:
    text = request.query_params.get("before")
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise BadInput("bad_mark", "before: expected the mark that an earlier page gave", field="before") from None


class OneQuery(Api):
    """`queries/{id}/`"""

    @extend_schema(responses=QueryShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """State, decision with its receipt, answers, and what budget partitioning would have charged."""
        query = access.query_for(caller(request), uid)
        shape = QueryShape(answers.query_page(query), context={"decision": records.decision_of(query)})
        return Response(shape.data)


class Cancel(Api):
    """`queries/{id}/cancel/`"""

    @extend_schema(request=None, responses=SubmittedShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Take back one's own question while it waits."""
        analyst = caller(request)
        return Response(SubmittedShape(queries.cancel(analyst=analyst, query=access.query_for(analyst, uid, own=True))).data)
