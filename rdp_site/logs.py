"""What the processes say: one line per request and per event, with the request's id, as text or as JSON.

No line holds a path with its arguments, a form's content or a cookie: of a request it says the method, the name of the route, the
status, how long it took and the number of the person. Control characters in a message are written as escapes, so that no text can
begin a line of its own.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.json import JsonFormatter

logger = logging.getLogger("rdp_site.requests")

CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029)} | {10: "\\n", 9: "\\t", 13: "\\r"}
REQUEST_FIELDS = ("method", "route", "status", "milliseconds", "person")


class PlainFormatter(logging.Formatter):
    """Lines for people; a traceback follows its line, indented, so that only our own lines begin at the margin."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the library's name
        """The line, with every control character written out."""
        return super().formatMessage(record).translate(CONTROL)

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the library's name
        """The traceback, indented."""
        return "    " + super().formatException(ei).replace("\n", "\n    ")


class WithoutPaths(logging.Filter):
    """Django's own lines about a request (an error, a form without its token) name its route in place of its path."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without the request that is tied to it."""
        request = record.__dict__.pop("request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            shown = request.path.encode("unicode_escape").decode("ascii")  # as django.utils.log writes it
            record.args = tuple(_route(request) if arg in (request.path, shown) else arg for arg in record.args)
        return True


class StructuredFormatter(JsonFormatter):
    """One JSON object per line: at, level, logger, request, message, and of a request its facts."""

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(name)s %(correlation_id)s %(message)s",
            datefmt="%Y-%m-%dT%H:%M:%S%z",
            rename_fields={"asctime": "at", "levelname": "level", "name": "logger", "correlation_id": "request"},
            json_ensure_ascii=True,
        )


def log_requests(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: one line when a request has been answered."""

    def middleware(request: HttpRequest) -> HttpResponse:
        begun = time.monotonic()
        response = get_response(request)
        logger.info("%s %s %d", request.method, _route(request), response.status_code, extra=_facts(request, response, begun))
        return response

    return middleware


def _facts(request: HttpRequest, response: HttpResponse, begun: float) -> dict[str, object]:
    user = getattr(request, "user", None)
    values = (
        request.method,
        _route(request),
        response.status_code,
        round((time.monotonic() - begun) * 1000),
        getattr(user, "pk", None),
    )
    return dict(zip(REQUEST_FIELDS, values, strict=True))


def _route(request: HttpRequest) -> str:
    """The pattern that matched, not the path: ids and what people type into addresses stay out of the log."""
    return request.resolver_match.route if request.resolver_match else "(none)"
