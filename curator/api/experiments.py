"""The laboratory over JSON: the same questions under other settings, replayed by the worker. Reads no data, spends nothing.

A workload is sent as it is, JSON lines in the body; the settings then stand in the address, under the names that they have in a
JSON body, which may also bring a short one along as a text.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import User
from curator.api.base import Api, body_of, caller, mark_of, only, page_of, paged, text_of
from curator.api.fields import Fields, RhoField, TextField
from curator.api.parsers import GuardedJSONParser, LinesParser
from curator.api.shapes import Shape
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.laboratory.scenario import Split
from curator.mechanism.errors import BadInput, Conflict
from curator.models import Contract, Experiment
from curator.selectors.experiments import ExperimentPage, document, experiment_page, own
from curator.services import texts

NAMES = ("rho_total", "xi", "kappa", "alpha", "beta", "k", "split")
_SETTINGS: Fields = {name: serializers.CharField(required=False) for name in NAMES[:5]}
_SETTINGS |= {"k": serializers.IntegerField(required=False), "split": serializers.ChoiceField(list(Split), required=False)}
SETTINGS = inline_serializer("ExperimentSettings", dict(_SETTINGS))
_BODY: Fields = {name: serializers.CharField(required=False) for name in ("workload", "title")}
BODY = inline_serializer("ExperimentBody", {**_SETTINGS, **_BODY})
BESIDE = [OpenApiParameter(name, str, description="beside JSON lines; else in the body") for name in (*NAMES, "title")]
BODIES = {"application/json": BODY, "application/x-ndjson": OpenApiTypes.STR}


class ExperimentLine(Shape):
    """An experiment in a list."""

    id = TextField(source="uid")
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Experiment.State.choices)
    created_at = serializers.DateTimeField()
    spent = RhoField(allow_null=True, help_text="by this system; null before there is a result")
    saved_against_partition = RhoField(source="saved", allow_null=True)


class ExperimentShape(Shape):
    """One experiment and how far it is."""

    id = TextField(source="uid")
    title = serializers.CharField()
    live = serializers.BooleanField(help_text="of the contract's own transcript, not of a workload")
    state = serializers.ChoiceField(choices=Experiment.State.choices)
    detail = serializers.CharField(help_text="why it was refused")
    done = serializers.IntegerField(help_text="questions replayed so far")
    total = serializers.IntegerField()
    settings = serializers.JSONField(source="scenario")


class Experiments(Api):
    """`contracts/{id}/experiments/`"""

    parser_classes = [GuardedJSONParser, LinesParser]
    takes_files = True

    @extend_schema(
        responses=page_of(ExperimentLine), parameters=[OpenApiParameter("before", int, description="the mark in `next`")]
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """My experiments with a contract, newest first (its curators and auditors)."""
        owner, contract = _readers(request, uid)
        return Response(paged(own(contract, owner, before=mark_of(request, "before")), ExperimentLine))

    @extend_schema(request=BODIES, responses={202: ExperimentShape}, parameters=BESIDE)
    def post(self, request: Request, uid: UUID) -> Response:
        """Replay the contract's transcript, or the workload in the body; a setting that is not given is the contract's own."""
        owner, contract = _readers(request, uid)
        body = only(body_of(request), *NAMES, "workload", "title")
        workload = _workload(request, body)
        title = texts.line(text_of(body, "title", "Workload"), field="title", most=255) if workload else ""
        chosen = Chosen.of(contract).but(body)
        return _started(running.start(owner=owner, contract=contract, chosen=chosen, workload=workload, title=title))


class OneExperiment(Api):
    """`experiments/{id}/`"""

    @extend_schema(responses=ExperimentShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """One of my experiments: its settings and progress."""
        return Response(ExperimentShape(experiment_page(access.experiment_for(caller(request), uid))).data)


class Again(Api):
    """`experiments/{id}/again/`"""

    @extend_schema(request=SETTINGS, responses={202: ExperimentShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Another experiment with the same workload, under its settings save for those given."""
        owner = caller(request)
        row = access.experiment_for(owner, uid)
        chosen = Chosen.from_json(row.scenario).but(only(body_of(request), *NAMES))
        again = running.start(owner=owner, contract=row.contract, chosen=chosen, workload=row.workload, title=row.title)
        return _started(again)


class Result(Api):
    """`experiments/{id}/result/`"""

    @extend_schema(responses=dict[str, Any])
    def get(self, request: Request, uid: UUID) -> Response:
        """What came of it: spend and thresholds met of every allocator, by analyst too; as `manage.py laboratory --json`."""
        return Response(document(_done(request, uid)))


class Curves(Api):
    """`experiments/{id}/curves/`"""

    @extend_schema(responses=dict[str, Any])
    def get(self, request: Request, uid: UUID) -> Response:
        """The same question by question, thinned to what a chart can show."""
        return Response(_done(request, uid).charts)


def _readers(request: Request, uid: UUID) -> tuple[User, Contract]:
    """The caller and a contract that they curate or audit, or NotYours."""
    person = caller(request)
    contract = access.contract_for(person, uid)
    access.require(person, contract, *access.READERS)
    return person, contract


def _workload(request: Request, body: Mapping[str, Any]) -> str:
    """The workload, "" for the transcript; BadInput for an empty one: nobody who sends a file means the transcript."""
    workload = text_of(body, "workload", "")
    sent = "workload" in body or (request.content_type or "").startswith(LinesParser.media_type)
    if sent and not workload.strip():
        raise BadInput("bad_line", "workload: it is empty; JSON lines were expected", field="workload")
    return workload


def _started(made: Experiment) -> Response:
    return Response(ExperimentShape(experiment_page(made)).data, status=202)


def _done(request: Request, uid: UUID) -> ExperimentPage:
    found = experiment_page(access.experiment_for(caller(request), uid))
    if not found.report.get("allocators"):
        raise Conflict("no_result", f"There is no result: the experiment is {found.state}.")
    return found
