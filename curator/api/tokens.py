"""Keys for programs over JSON: list, make (shown once), revoke."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import tokens
from accounts.models import ApiToken
from curator.api.base import Api, body_of, by_session, caller, only, text_of
from curator.mechanism.errors import BadInput


class TokenShape(serializers.Serializer[Any]):
    """A key without its secret."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    scope = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewTokenShape(TokenShape):
    """A key just made."""

    secret = serializers.CharField(help_text="shown this once")


NEW = inline_serializer(
    "TokenBody",
    {"name": serializers.CharField(), "scope": serializers.CharField(), "days": serializers.IntegerField(required=False)},
)


class Tokens(Api):
    """`tokens/`"""

    @extend_schema(responses=TokenShape(many=True))
    def get(self, request: Request) -> Response:
        """My keys, newest first."""
        return Response(TokenShape(ApiToken.objects.filter(user=caller(request)).order_by("-id"), many=True).data)

    @extend_schema(request=NEW, responses={201: NewTokenShape})
    def post(self, request: Request) -> Response:
        """Make a key; only a session can, so that a key never begets another."""
        by_session(request, "make a key")
        body = only(body_of(request), "name", "scope", "days")
        days = body.get("days", 90)
        if isinstance(days, bool) or not isinstance(days, int):
            raise BadInput("bad_number", f"days: expected a whole number from 1 to {tokens.MAX_DAYS}", field="days")
        made, secret = tokens.issue(user=caller(request), name=text_of(body, "name"), scope=text_of(body, "scope"), days=days)
        return Response({**TokenShape(made).data, "secret": secret}, status=201)


class Revoke(Api):
    """`tokens/{id}/revoke/`"""

    @extend_schema(request=None, responses=TokenShape)
    def post(self, request: Request, token_id: int) -> Response:
        """End one of my keys."""
        return Response(TokenShape(tokens.revoke(user=caller(request), token_id=token_id)).data)
