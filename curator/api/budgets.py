"""Budget requests over JSON: an analyst asks for more, a curator decides."""

from uuid import UUID

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, curated, only, text_of
from curator.api.fields import RhoField
from curator.api.shapes import RequestShape, Shape
from curator.mechanism import rho
from curator.selectors import requests
from curator.services import budget_requests


class EffectShape(Shape):
    """What granting a request whole would change."""

    allotment = RhoField()
    allotment_after = RhoField()
    allotted = RhoField(help_text="to all analysts")
    allotted_after = RhoField()
    not_allotted = RhoField()
    not_allotted_after = RhoField()
    exceeds = serializers.BooleanField(help_text="whether more would be allotted than there is")


class WaitingRequestShape(Shape):
    """A request that waits for a decision."""

    request = RequestShape(source="line")
    own = serializers.BooleanField(help_text="mine: another curator decides it")
    spent = RhoField(help_text="by its analyst")
    left = RhoField()
    asked = serializers.IntegerField()
    free = serializers.IntegerField(help_text="how many of these cost nothing")
    effect = EffectShape()
    buys = serializers.CharField()


class InboxShape(Shape):
    """A curator's inbox."""

    open = WaitingRequestShape(many=True)
    decided = RequestShape(many=True)


class BudgetRequests(Api):
    """`contracts/{id}/budget-requests/`"""

    @extend_schema(responses=RequestShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """My requests; for a curator of the contract, those that wait and the latest decided ones."""
        visitor = caller(request)
        contract = access.contract_for(visitor, uid)
        if not access.has_place(visitor, contract, Role.CURATOR):
            return Response(RequestShape(requests.own_requests(contract, visitor), many=True).data)
        inbox = requests.inbox(contract, visitor)
        return Response(RequestShape([*(each.line for each in inbox.open), *inbox.decided], many=True).data)

    @extend_schema(
        request=inline_serializer("BudgetRequestBody", {"amount": serializers.CharField(), "reason": serializers.CharField()}),
        responses={201: RequestShape},
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Ask for more."""
        analyst = caller(request)
        contract = access.contract_for(analyst, uid, role=Role.ANALYST)
        body = only(body_of(request), "amount", "reason")
        amount = rho.parse(body.get("amount", ""), field="amount")
        asked = budget_requests.request(analyst=analyst, contract=contract, amount=amount, reason=text_of(body, "reason"))
        return Response(RequestShape(requests.request_line(asked)).data, status=201)


class Inbox(Api):
    """`contracts/{id}/budget-requests/inbox/`"""

    @extend_schema(responses=InboxShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """What waits, oldest first, with its analyst's history and what granting it would change; what was decided (curators)."""
        curator, contract = curated(request, uid)
        return Response(InboxShape(requests.inbox(contract, curator)).data)


class Approve(Api):
    """`budget-requests/{id}/approve/`"""

    @extend_schema(
        request=inline_serializer(
            "BudgetApproval", {"granted": serializers.CharField(required=False), "note": serializers.CharField(required=False)}
        ),
        responses=RequestShape,
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Grant a request whole, or `granted` of it (curators; nobody decides their own)."""
        curator = caller(request)
        asked = access.request_for(curator, uid, role=Role.CURATOR)
        body = only(body_of(request), "granted", "note")
        granted = rho.parse(body["granted"], field="granted") if "granted" in body else asked.amount
        decided = budget_requests.approve(curator=curator, request=asked, granted=granted, note=text_of(body, "note", ""))
        return Response(RequestShape(requests.request_line(decided)).data)


class Reject(Api):
    """`budget-requests/{id}/reject/`"""

    @extend_schema(request=inline_serializer("BudgetRejection", {"note": serializers.CharField()}), responses=RequestShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Turn a request down, with a note (curators)."""
        curator = caller(request)
        asked = access.request_for(curator, uid, role=Role.CURATOR)
        note = text_of(only(body_of(request), "note"), "note")
        decided = budget_requests.reject(curator=curator, request=asked, note=note)
        return Response(RequestShape(requests.request_line(decided)).data)
