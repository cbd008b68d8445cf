"""What every API view shares: who may call, how bodies are read, how a page of a list is written."""

from collections.abc import Mapping
from typing import Any, NoReturn
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.cache import add_never_cache_headers
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import access, throttles
from accounts.models import Role, User
from curator.mechanism.errors import BadInput
from curator.models import Contract
from curator.selectors.paging import Page
from rdp_site.addresses import client_network


class Api(APIView):
    """A view for signed-in people (see `authentication`); anything it returns is JSON."""

    reads_by_post = False
    reads_questions = False  # what is posted here is a question to read: that takes the processor longer than other calls

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let the person in, or nobody: whoever has no good key is counted by address, before they are told so."""
        try:
            super().initial(request, *args, **kwargs)
        except (AuthenticationFailed, NotAuthenticated):
            throttles.check("api-address", client_network(request._request), settings.API_ANONYMOUS_RATE)
            raise

    def check_throttles(self, request: Request) -> None:
        """Count the call for its person, whichever key or session it came with."""
        throttles.check("api", request.user.pk, settings.API_RATE)
        if self.reads_questions and request.method == "POST":
            throttles.check("question", request.user.pk, settings.QUOTE_RATE)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """No copy of an answer or of a refusal is kept on the way or in a browser: they are for one person, as pages are."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        add_never_cache_headers(answer)
        return answer


class Nothing(Api):
    """Every address below the API that there is none of: the JSON answer of what is missing, by whatever method."""

    schema = None

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        """The one refusal, not on the record: nobody was denied anything."""
        raise NotFound(access.not_yours().detail)


def caller(request: Request) -> User:
    """The person behind the request; permissions have made sure that there is one."""
    assert isinstance(request.user, User)
    return request.user


def curated(request: Request, uid: UUID) -> tuple[User, Contract]:
    """The person behind the request and a contract that they curate, or NotYours."""
    curator = caller(request)
    return curator, access.contract_for(curator, uid, role=Role.CURATOR)


def by_session(request: Request, what: str) -> None:
    """Refuse a key (403): what pages ask the password for, or makes another way in, or more rights than a key's few days last."""
    if request.auth is not None:
        raise PermissionDenied(f"Sign in to {what}: a key is not enough.")


def body_of(request: Request) -> Mapping[str, Any]:
    """The body as an object, or BadInput."""
    if not isinstance(request.data, Mapping):
        raise BadInput("bad_json", "The body must be a JSON object.")
    return request.data


def text_of(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A text member, or BadInput with its field; `default` where it may be left out."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise BadInput("bad_text", f"{name}: expected a text", field=name)
    return value


def truth_of(body: Mapping[str, Any], name: str, default: bool | None = None) -> bool:
    """True or false, or BadInput with its field; `default` where it may be left out."""
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise BadInput("bad_boolean", f"{name}: expected true or false", field=name)
    return value


def only(body: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The body itself, if it has no member besides `names`; a misspelt setting must not be passed over in silence."""
    unknown = next((name for name in body if name not in names), None)
    if unknown is not None:
        raise BadInput("unknown_field", f"{unknown}: expected only {', '.join(names)}", field=str(unknown))
    return body


def param(request: Request, name: str) -> str:
    """A text from the address, "" where there is none; BadInput for characters that no column holds."""
    text = request.query_params.get(name, "")
    if not text.isprintable():
        raise BadInput("bad_text", f"{name}: expected printable characters", field=name)
    return text


def mark_of(request: Request, name: str = "after") -> int:
    """A paging mark from the address, 0 where there is none."""
    text = request.query_params.get(name, "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadInput("bad_number", f"{name}: expected the mark that an earlier page gave", field=name)
    return int(text)


def paged(page: Page[Any], shape: type[serializers.Serializer[Any]]) -> dict[str, object]:
    """A page of a list: `results`, and `next` (a mark; null on the last page)."""
    return {"results": shape(page.items, many=True).data, "next": page.more or None}


def page_of(shape: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The OpenAPI shape of `paged`."""
    members = {"results": shape(many=True), "next": serializers.CharField(allow_null=True)}
    return type(f"{shape.__name__}Page", (serializers.Serializer,), members)
