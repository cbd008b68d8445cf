"""Budget requests over JSON: an analyst asks for more, a curator decides."""

from uuid import UUID

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from curator.api.base import Api, body_of, caller, only, text_of
from curator.api.shapes import RequestShape
from curator.mechanism import rho
from curator.selectors import requests
from curator.services import budget_requests


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
        return Response(RequestShape(asked).data, status=201)


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
        return Response(RequestShape(decided).data)


class Reject(Api):
    """`budget-requests/{id}/reject/`"""

    @extend_schema(request=inline_serializer("BudgetRejection", {"note": serializers.CharField()}), responses=RequestShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Turn a request down, with a note (curators)."""
        curator = caller(request)
        asked = access.request_for(curator, uid, role=Role.CURATOR)
        note = text_of(only(body_of(request), "note"), "note")
        return Response(RequestShape(budget_requests.reject(curator=curator, request=asked, note=note)).data)
