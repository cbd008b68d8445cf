"""Questions over JSON: a quote, asking, looking, taking back."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, page_of, paged
from curator.api.shapes_known import RehearsalShape
from curator.api.shapes_queries import QueryLine, QueryShape, QuotedShape, QuoteShape, SubmittedShape
from curator.laboratory.rehearsal import rehearse
from curator.language import parse_ask, write_sql
from curator.mechanism.errors import BadInput
from curator.selectors import answer_files, answers, quotes, records, workspace
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


EXAMPLES = [
    OpenApiExample(
        "A count",
        value={"sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "accuracy": {"within": 25, "confidence": 0.95}},
        request_only=True,
    ),
    OpenApiExample(
        "A histogram, as conditions",
        value={
            "where": {"all": [{"column": "age", "at_least": 40}, {"column": "sex", "in": ["F"]}]},
            "group_by": [{"column": "income", "bins": 8}],
            "accuracy": {"within": 25, "confidence": 0.95, "simultaneous": True},
            "under_scarcity": "partial",
            "label": "Income of women from 40 on",
        },
        request_only=True,
    ),
]


class Quote(Api):
    """`contracts/{id}/quote/`"""

    reads_by_post = reads_questions = True

    @extend_schema(request=ASK, responses=QuotedShape, examples=EXAMPLES)
    def post(self, request: Request, uid: UUID) -> Response:
        """Price a question as of now, and write it as SQL and as conditions. Spends, reads and stores nothing."""
        analyst = caller(request)
        contract = access.contract_for(analyst, uid, role=Role.ANALYST)
        schema, table = workspace.schema_of(contract), contract.version.table
        ask = parse_ask(body_of(request), schema=schema, table=table)
        priced = QuoteShape(quotes.quote(contract=contract, analyst=analyst, ask=ask)).data
        written = {"sql": write_sql(ask.question, schema=schema, table=table), "question": ask.question.to_json()}
        return Response({**priced, **written})


class Rehearse(Api):
    """`contracts/{id}/rehearse/`"""

    reads_by_post = reads_questions = True

    @extend_schema(request=ASK, responses=RehearsalShape, examples=EXAMPLES)
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

    @extend_schema(request=ASK, responses={202: SubmittedShape}, parameters=[KEY], examples=EXAMPLES)
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


class Answer(Api):
    """`queries/{id}/answer/`"""

    @extend_schema(responses=dict[str, Any])
    def get(self, request: Request, uid: UUID) -> Response:
        """The answers as one document with their whole provenance: the file that the page offers."""
        return Response(answer_files.document(answer_files.final(access.query_for(caller(request), uid))))


class AnswerTable(Api):
    """`queries/{id}/answer.csv/`"""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    def get(self, request: Request, uid: UUID) -> HttpResponse:
        """The answers as a table that is safe in a spreadsheet, one row per bin."""
        found = answer_files.final(access.query_for(caller(request), uid))
        return HttpResponse(answer_files.csv_text(found), content_type="text/csv; charset=utf-8")


class Cancel(Api):
    """`queries/{id}/cancel/`"""

    @extend_schema(request=None, responses=SubmittedShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Take back one's own question while it waits."""
        analyst = caller(request)
        return Response(SubmittedShape(queries.cancel(analyst=analyst, query=access.query_for(analyst, uid, own=True))).data)
