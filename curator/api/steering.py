"""What a contract's curators change over JSON: its state, its last day, its total."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, body_of, caller, curated, only, text_of, truth_of
from curator.api.contracts import STANDS, day_of
from curator.api.fields import RhoField, TextField
from curator.api.shapes import ContractLine
from curator.mechanism import rho
from curator.mechanism.errors import BadInput
from curator.models import Contract as Row
from curator.models import TotalRaise
from curator.selectors import control
from curator.services import contracts, raises

RAISED = inline_serializer("ContractRaised", {"id": serializers.CharField(), "state": serializers.CharField()})
MOVES = {Row.State.FROZEN: contracts.freeze, Row.State.OPEN: contracts.reopen, Row.State.CLOSED: contracts.close}


def _contract(changed: Row) -> Response:
    return Response(ContractLine(changed).data)


def _raised(raised: TotalRaise) -> Response:
    return Response({"id": str(raised.uid), "state": raised.state})


class State(Api):
    """`contracts/{id}/state/`"""

    @extend_schema(
        request=inline_serializer(
            "ContractState",
            {
                "state": serializers.CharField(),
                "reason": serializers.CharField(required=False, help_text="save for opening a draft"),
                "stands": serializers.BooleanField(required=False, help_text=STANDS),
            },
        ),
        responses=ContractLine,
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Freeze, reopen, close or discard a contract with a `reason`; open a draft, saying that `stands` (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "state", "reason", "stands")
        if found.state == Row.State.DRAFT and body.get("state") == Row.State.OPEN:
            return _contract(contracts.open_draft(curator=curator, contract=found, stands=truth_of(body, "stands", False)))
        state = text_of(body, "state")
        if state not in MOVES:
            raise BadInput("bad_state", f"state: expected one of {', '.join(MOVES)}", field="state")
        return _contract(MOVES[Row.State(state)](curator=curator, contract=found, reason=text_of(body, "reason")))


class EndDate(Api):
    """`contracts/{id}/end-date/`"""

    @extend_schema(
        request=inline_serializer("ContractEnd", {"ends_on": serializers.DateField(allow_null=True)}), responses=ContractLine
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Another last day (through its end, UTC), or null for none (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "ends_on")
        if "ends_on" not in body:
            raise BadInput("bad_date", "ends_on: expected a day as YYYY-MM-DD, or null", field="ends_on")
        ends_on = None if body["ends_on"] is None else day_of(body["ends_on"], "ends_on")
        return _contract(contracts.set_end_date(curator=curator, contract=found, ends_on=ends_on))


class RaiseShape(serializers.Serializer[Any]):
    """A raise of the total, proposed or decided."""

    id = TextField(source="uid")
    before = RhoField()
    after = RhoField()
    reason = serializers.CharField()
    proposed_by = serializers.CharField()
    state = serializers.CharField()
    decided_by = serializers.CharField()
    note = serializers.CharField()
    created_at = serializers.DateTimeField()


class Raises(Api):
    """`contracts/{id}/raises/`"""

    @extend_schema(responses=RaiseShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """The latest raises, undecided ones first (curators)."""
        _, found = curated(request, uid)
        return Response(RaiseShape(control.raises(found), many=True).data)


class Raise(Api):
    """`contracts/{id}/raise/`"""

    @extend_schema(
        request=inline_serializer("ContractRaise", {"rho_total": serializers.CharField(), "reason": serializers.CharField()}),
        responses=RAISED,
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Raise the total, with a reason; a second curator, where there is one, decides it (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "rho_total", "reason")
        total = rho.parse(body.get("rho_total", ""), field="rho_total")
        return _raised(raises.raise_total(curator=curator, contract=found, rho_total=total, reason=text_of(body, "reason")))


class ApproveRaise(Api):
    """`raises/{id}/approve/`"""

    @extend_schema(request=None, responses=RAISED)
    def post(self, request: Request, uid: UUID) -> Response:
        """Apply a raise that another curator proposed (curators)."""
        curator = caller(request)
        return _raised(raises.approve_raise(curator=curator, proposal=access.raise_for(curator, uid)))


class RejectRaise(Api):
    """`raises/{id}/reject/`"""

    @extend_schema(request=inline_serializer("RaiseRejection", {"note": serializers.CharField()}), responses=RAISED)
    def post(self, request: Request, uid: UUID) -> Response:
        """Turn down a raise, or withdraw one's own, with a note (curators)."""
        curator = caller(request)
        proposal = access.raise_for(curator, uid)
        note = text_of(only(body_of(request), "note"), "note")
        return _raised(raises.reject_raise(curator=curator, proposal=proposal, note=note))
