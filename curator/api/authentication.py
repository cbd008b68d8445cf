"""Who calls: a session of the site (with its CSRF token) or a key for programs in `Authorization: Bearer rdp_…`.

A `read` key may look and ask for quotes; everything that changes a row needs `ask`.
"""

from typing import TYPE_CHECKING

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts import tokens
from accounts.models import ApiToken, User

if TYPE_CHECKING:  # the views name these classes as their defaults: importing views here would be a circle
    from rest_framework.views import APIView

SAFE = ("GET", "HEAD", "OPTIONS")
LONGEST_KEY = 100


class BearerAuthentication(BaseAuthentication):
    """Sign in by the secret of an `ApiToken`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The token's person; None without such a header, AuthenticationFailed for a key that is not (or no longer) good."""
        scheme, _, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = tokens.holder(secret.strip().decode("ascii", "replace")) if len(secret) <= LONGEST_KEY else None
        if token is None:
            raise AuthenticationFailed("This key is not valid, has ended or was revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """What makes an anonymous call a 401."""
        return "Bearer"


class SessionOrNothing(SessionAuthentication):
    """Django's session; its CSRF check stays on."""


class ScopeAllows(BasePermission):
    """A `read` key may only look; a view that merely reads by POST says so with `reads_by_post = True`."""

    message = "This key may read only. A key with the scope ask is needed."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Whether the method is within the key's scope; a session has every scope."""
        reading = request.method in SAFE or getattr(view, "reads_by_post", False)
        return reading or not isinstance(request.auth, ApiToken) or request.auth.scope == ApiToken.Scope.ASK


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped upstream
    """The key in the OpenAPI document."""

    target_class = "curator.api.authentication.BearerAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """An HTTP bearer scheme."""
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped upstream
    """The site's session cookie in the OpenAPI document."""

    target_class = "curator.api.authentication.SessionOrNothing"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """An API key in a cookie."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
