"""Ways in, for whoever has no key yet: an invitation, a password, a link to a new password.

Nobody is signed in here, so calls are counted by address, and what pages count before they hash a password is counted in the same
rows. Secrets come in bodies, which no log keeps, never in an address. A way in begins a session: its cookie, with `csrf` in the
header `X-CSRFToken`, makes the first key (`tokens/`). Bodies must be JSON, which no other site's form can send.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import invitations, profile, resets, sign_ins, throttles
from accounts.forms import SignInForm
from accounts.models import Invitation, Role, User
from curator.api.base import Api, body_of, only, text_of
from curator.api.fields import Fields, RhoField
from curator.api.shapes import Shape
from curator.mechanism.errors import BadInput, Conflict
from curator.selectors import purchases
from rdp_site.addresses import client_network

SECRET = inline_serializer("InvitationSecret", {"secret": serializers.CharField(help_text="the end of the invitation's link")})
_IN: Fields = {"username": serializers.CharField(), "csrf": serializers.CharField(help_text="for the header X-CSRFToken")}
SIGNED_IN = inline_serializer("SessionBegun", dict(_IN))
JOINED = inline_serializer("InvitationJoined", {**_IN, "contract": serializers.CharField(), "role": serializers.CharField()})
_NEWCOMER: Fields = {name: serializers.CharField() for name in ("secret", "username", "password")}
NEWCOMER = inline_serializer("Newcomer", {**_NEWCOMER, "email": serializers.CharField(required=False)})
CREDENTIALS = inline_serializer("Credentials", {name: serializers.CharField() for name in ("username", "password")})
NEW_PASSWORD = inline_serializer(
    "NewPassword",
    {
        "uid": serializers.CharField(help_text="the last part but one of the link"),
        "token": serializers.CharField(help_text="the last part of the link"),
        "new_password": serializers.CharField(),
    },
)


class OpenDoor(Api):
    """A view for people who are nobody yet."""

    authentication_classes: Sequence[type[BaseAuthentication]] = []
    permission_classes: Sequence[type[BasePermission]] = []

    def check_throttles(self, request: Request) -> None:
        """Count the call for its address."""
        throttles.check("api-address", client_network(request._request), settings.API_ANONYMOUS_RATE)


class OfferShape(Shape):
    """What an invitation would give."""

    contract = serializers.CharField(source="contract.name")
    role = serializers.CharField()
    says = serializers.SerializerMethodField(help_text="what one may do in that role")
    allotment = RhoField(allow_null=True, help_text="an analyst's; null: no limit of one's own")
    buys = serializers.SerializerMethodField(help_text="what the allotment is good for, in words")
    invited_by = serializers.CharField(source="invited_by.username")
    expires_at = serializers.DateTimeField()
    asks_email = serializers.SerializerMethodField(
        help_text="whether a newcomer may name a mail address; else it is the invited one"
    )

    def get_says(self, found: Invitation) -> str:
        """As the page says it."""
        return invitations.SAYS[Role(found.role)]

    def get_buys(self, found: Invitation) -> str:
        """Empty where there is no limit of one's own."""
        return "" if found.allotment is None else purchases.buys(found.allotment)

    def get_asks_email(self, found: Invitation) -> bool:
        """The address that an invitation went to is told to nobody who has only its link."""
        return not found.email


class Look(OpenDoor):
    """`invitations/look/`"""

    @extend_schema(request=SECRET, responses=OfferShape)
    def post(self, request: Request) -> Response:
        """What the invitation with this secret would give. Looking uses nothing up; no key is needed."""
        found = invitations.find(text_of(only(body_of(request), "secret"), "secret"))
        return Response(OfferShape(found).data)


class Join(OpenDoor):
    """`invitations/join/`"""

    @extend_schema(request=NEWCOMER, responses={201: JOINED})
    def post(self, request: Request) -> Response:
        """Make an account and take the place. Whoever has an account accepts with it, at `invitations/accept/`."""
        body = only(body_of(request), "secret", "username", "password", "email")
        found = invitations.find(text_of(body, "secret"))
        if get_user(request._request).is_authenticated:  # of the session: there is one, although no view here asks for it
            raise Conflict("signed_in", "You have an account: accept with it, at invitations/accept/.")
        throttles.check("door", client_network(request._request), settings.DOOR_RATE)  # before any password is hashed
        chosen = {name: text_of(body, name) for name in ("username", "password")}
        user = invitations.join_found(invitation=found, email=text_of(body, "email", ""), **chosen)
        told = {"contract": str(found.contract.uid), "role": found.role}
        return Response({**_begun(request._request, user), **told}, status=201)


class SignIn(OpenDoor):
    """`session/`"""

    @extend_schema(request=CREDENTIALS, responses=SIGNED_IN)
    def post(self, request: Request) -> Response:
        """Begin a session by user name and password, counted and slowed as on the page."""
        body = only(body_of(request), "username", "password")
        typed = {name: text_of(body, name) for name in ("username", "password")}
        form = sign_ins.tried(request._request, typed)
        if not form.is_valid():
            raise BadInput("wrong_password", str(SignInForm.error_messages["invalid_login"]))
        user = form.get_user()
        assert isinstance(user, User)
        return Response(_begun(request._request, user))


class Forgotten(OpenDoor):
    """`password/forgotten/`"""

    @extend_schema(
        request=inline_serializer("PasswordForgotten", {"email": serializers.CharField()}),
        responses={202: inline_serializer("PasswordLinkAsked", {"detail": serializers.CharField()})},
    )
    def post(self, request: Request) -> Response:
        """Ask for a link to a new password by mail; the answer is the same whoever has the address, or nobody."""
        email = text_of(only(body_of(request), "email"), "email")
        if not email:
            raise BadInput("bad_email", "email: expected a mail address", field="email")
        profile.check_email(email)
        resets.ask(email, address=client_network(request._request))
        told: dict[str, Any] = {"detail": "If somebody here has this address, a link to a new password is on its way to it."}
        return Response(told, status=202)


class NewPassword(OpenDoor):
    """`password/new/`"""

    @extend_schema(request=NEW_PASSWORD, responses={204: None})
    def post(self, request: Request) -> Response:
        """Set a new password by the two last parts of such a link; keys end with it."""
        body = only(body_of(request), "uid", "token", "new_password")
        parts = {name: text_of(body, name) for name in ("uid", "token")}
        resets.set_new(password=text_of(body, "new_password"), **parts)
        return Response(status=204)


def _begun(request: HttpRequest, user: User) -> dict[str, str]:
    """Begin a session, and tell what its next change must bring along."""
    sign_ins.let_in(request, user)
    return {"username": user.username, "csrf": get_token(request)}
