"""The shape of every error: `{"code", "detail", "field"}`.

Refusals are made from the request and the public schema alone; the few of which what a file holds decides are marked `private`,
told to the file's curator only, and counted nowhere.
"""

from django.db import InterfaceError, OperationalError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler

from accounts import access
from curator.mechanism.errors import Refused
from curator.refusals import asked, retry_after, status_of

CODES: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "not_signed_in",
    exceptions.AuthenticationFailed: "not_signed_in",
    exceptions.PermissionDenied: "forbidden",
    exceptions.NotFound: "not_found",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.UnsupportedMediaType: "unsupported_media_type",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.Throttled: "too_many_requests",
    exceptions.ParseError: "bad_json",
}


def handle(error: Exception, context: dict[str, object]) -> Response | None:
    """DRF exception handler; None lets an unforeseen error become a plain 500 without detail."""
    if isinstance(error, Refused):
        _count(error, context["request"])
        told = {"code": error.code, "detail": error.detail, "field": error.field}
        return Response(told, status=status_of(error), headers=retry_after(error))
    if isinstance(error, OperationalError | InterfaceError):
        return Response(
            {"code": "unavailable", "detail": "The database does not answer: try again soon.", "field": None}, status=503
        )
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        code = next((CODES[cls] for cls in type(error).__mro__ if cls in CODES), "refused")
        response.data = {"code": code, "detail": str(error.detail), "field": None}
    return response


def _count(refused: Refused, request: object) -> None:
    """What was denied or refused goes onto the record, in sums."""
    assert isinstance(request, Request)
    access.count(request.user, asked(request.method, request.resolver_match), refused)
