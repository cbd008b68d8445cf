"""The people of a contract over JSON: places, allotments, invitations; for its curators."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access, invitations
from accounts.models import Role
from accounts.services import person
from curator.api.base import Api, body_of, by_session, caller, curated, only, text_of
from curator.api.fields import Fields, RhoField, TextField
from curator.api.shapes import Shape
from curator.mechanism import rho
from curator.mechanism.errors import BadInput
from curator.selectors import control
from curator.selectors.allotments import allotment_lines
from curator.services import memberships

_MEMBER: Fields = {name: serializers.CharField() for name in ("username", "role")}
REMOVED = inline_serializer("ContractMemberRole", dict(_MEMBER))
_MEMBER |= {"allotment": serializers.CharField(required=False, allow_null=True), "reason": serializers.CharField(required=False)}
MEMBER = inline_serializer("ContractMember", _MEMBER)


class MemberShape(serializers.Serializer[Any]):
    """A place in a contract; amounts are an analyst's."""

    username = serializers.CharField()
    full_name = serializers.CharField()
    role = serializers.CharField()
    allotment = RhoField(allow_null=True)
    spent = RhoField()
    left = RhoField(allow_null=True)
    asked = serializers.IntegerField(help_text="questions decided")
    met = serializers.IntegerField()
    partition = RhoField(allow_null=True, help_text="what budget partitioning would have charged")
    added_at = serializers.DateTimeField()


class InvitationShape(serializers.Serializer[Any]):
    """An invitation that may still be accepted."""

    id = TextField(source="uid")
    email = serializers.CharField()
    role = serializers.CharField()
    allotment = RhoField(allow_null=True)
    invited_by = serializers.CharField(source="invited_by.username")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitationShape(InvitationShape):
    """An invitation just made."""

    link = serializers.CharField(help_text="shown this once")
    mailed = serializers.BooleanField(help_text="whether the mail server took it")


INVITATION = inline_serializer(
    "InvitationBody",
    {
        "role": serializers.CharField(),
        "allotment": serializers.CharField(required=False, allow_null=True),
        "email": serializers.CharField(required=False),
        "days": serializers.IntegerField(required=False),
    },
)


class Members(Api):
    """`contracts/{id}/members/`"""

    @extend_schema(responses=MemberShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """Who has a place, analysts with what they may spend and have spent (curators)."""
        _, found = curated(request, uid)
        return Response(MemberShape(control.people(found), many=True).data)

    @extend_schema(
        request=MEMBER,
        responses={201: REMOVED},
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Give a person a place: an analyst with an `allotment` (null: no limit of their own), others by session (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "username", "role", "allotment", "reason")
        user, role = person(text_of(body, "username")), text_of(body, "role")
        if role != Role.ANALYST:
            by_session(request, "add a curator or an auditor")
        if role == Role.ANALYST and "allotment" not in body:
            raise BadInput("bad_number", "allotment: expected an amount of rho, or null for no limit", field="allotment")
        allotment = None if body.get("allotment") is None else rho.parse(body["allotment"], field="allotment")
        memberships.add_member(
            curator=curator, contract=found, user=user, role=role, allotment=allotment, reason=text_of(body, "reason", "")
        )
        return Response({"username": user.username, "role": role}, status=201)


class Removal(Api):
    """`contracts/{id}/members/remove/`"""

    @extend_schema(
        request=inline_serializer(
            "ContractMemberRemoval",
            {
                "username": serializers.CharField(),
                "role": serializers.CharField(),
                "reason": serializers.CharField(required=False),
            },
        ),
        responses=REMOVED,
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """End a place, somebody's or one's own (curators); what was spent in it stays on the record."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "username", "role", "reason")
        user, role = person(text_of(body, "username")), text_of(body, "role")
        if role != Role.ANALYST:
            by_session(request, "add a curator or an auditor")
        memberships.remove_member(curator=curator, contract=found, user=user, role=role, reason=text_of(body, "reason", ""))
        return Response({"username": user.username, "role": role})


class AllotmentShape(Shape):
    """A change of an allotment; null: no limit of one's own."""

    at = serializers.DateTimeField()
    before = RhoField(allow_null=True)
    after = RhoField(allow_null=True)
    first = serializers.BooleanField(help_text="there was none before")
    why = serializers.CharField()
    by = serializers.CharField()


class Allotment(Api):
    """`contracts/{id}/allotments/`"""

    @extend_schema(responses=AllotmentShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """How my own allotment changed, newest first (analysts)."""
        visitor = caller(request)
        found = access.contract_for(visitor, uid, role=Role.ANALYST)
        return Response(AllotmentShape(allotment_lines(found, visitor), many=True).data)

    @extend_schema(
        request=inline_serializer(
            "AllotmentChange",
            {
                "username": serializers.CharField(),
                "rho": serializers.CharField(allow_null=True),
                "reason": serializers.CharField(),
            },
        ),
        responses=inline_serializer(
            "AllotmentSet", {"username": serializers.CharField(), "rho": serializers.CharField(allow_null=True)}
        ),
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Set what an analyst may spend in all; null is the explicit "no limit of their own" (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), "username", "rho", "reason")
        if "rho" not in body:
            raise BadInput("bad_number", "rho: expected an amount of rho, or null for no limit", field="rho")
        amount = None if body["rho"] is None else rho.parse(body["rho"], field="rho")
        analyst = person(text_of(body, "username"))
        memberships.set_allotment(curator=curator, contract=found, analyst=analyst, rho=amount, reason=text_of(body, "reason"))
        return Response({"username": analyst.username, "rho": None if amount is None else rho.text(amount)})


class Invitations(Api):
    """`contracts/{id}/invitations/`"""

    @extend_schema(responses=InvitationShape(many=True))
    def get(self, request: Request, uid: UUID) -> Response:
        """Invitations that may still be accepted (curators)."""
        _, found = curated(request, uid)
        return Response(InvitationShape(invitations.open_invitations(found), many=True).data)

    @extend_schema(request=INVITATION, responses={201: NewInvitationShape})
    def post(self, request: Request, uid: UUID) -> Response:
        """Invite somebody: an analyst with an `allotment` (null: no limit); the link is shown once (curators, by session)."""
        curator, found = curated(request, uid)
        by_session(request, "invite somebody")
        body = only(body_of(request), "role", "allotment", "email", "days")
        role, days = text_of(body, "role"), body.get("days", invitations.USUAL_DAYS)
        if role == Role.ANALYST and "allotment" not in body:
            raise BadInput("bad_number", "allotment: expected an amount of rho, or null for no limit", field="allotment")
        allotment = None if body.get("allotment") is None else rho.parse(body["allotment"], field="allotment")
        made, secret = invitations.invite(
            curator=curator, contract=found, role=role, allotment=allotment, email=text_of(body, "email", ""), days=whole(days)
        )
        link = request.build_absolute_uri(reverse("invitation", args=[secret]))
        told = {**InvitationShape(made).data, "link": link, "mailed": invitations.send(made, secret)}
        return Response(told, status=201)


class RevokeInvitation(Api):
    """`invitations/{id}/revoke/`"""

    @extend_schema(request=None, responses=InvitationShape)
    def post(self, request: Request, uid: UUID) -> Response:
        """Take an invitation back (curators of its contract)."""
        curator = caller(request)
        taken = invitations.revoke(curator=curator, invitation=access.invitation_for(curator, uid))
        return Response(InvitationShape(taken).data)


class AcceptInvitation(Api):
    """`invitations/accept/`"""

    @extend_schema(
        request=inline_serializer("InvitationAcceptance", {"secret": serializers.CharField()}),
        responses=inline_serializer("InvitationAccepted", {"contract": serializers.CharField(), "role": serializers.CharField()}),
    )
    def post(self, request: Request) -> Response:
        """Take the place that the end of an invitation's link names, as myself."""
        secret = text_of(only(body_of(request), "secret"), "secret")
        place = invitations.accept(user=caller(request), secret=secret)
        return Response({"contract": str(place.contract.uid), "role": place.role})


def whole(days: object) -> int:
    """A whole number, or BadInput."""
    if isinstance(days, bool) or not isinstance(days, int):
        raise BadInput("bad_number", f"days: expected a whole number from 1 to {invitations.MOST_DAYS}", field="days")
    return days
