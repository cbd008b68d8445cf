"""The length of a request's body is looked at before a byte of it is read.

Django's form parser would write any body to disk before a view, or the check against forged requests, could refuse it. So only
addresses that take files (`takes_files` on the view), and only from people who have signed in, get more than a form needs.
A body without a length is an empty one here: chunked bodies are read by nobody.
"""

import sys
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

FORM = 8 << 20  # bytes of any other body: the largest form of ours, with a small file in it
AROUND = 1 << 20  # what a form may add to its file


class BodyLimit:
    """Answers 413 for a body that its address does not take, and closes the connection instead of reading on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> HttpResponse | None:
        """Before the view, and before anything parses the form."""
        most = most_bytes(request, view)
        if length(request) <= most:
            return None
        answer = _refusal(request, most)
        answer.headers["Connection"] = "close"
        return answer


def length(request: HttpRequest) -> int:
    """The length that the client declares; what is none counts as nothing, and nothing more is read of it.

    A number with more digits than any machine has bytes is one all the same: the server would take it at its word.
    """
    text = str(request.META.get("CONTENT_LENGTH") or "0")
    if not (text.isascii() and text.isdigit()):
        return 0
    return int(text) if len(text) < 20 else sys.maxsize


def most_bytes(request: HttpRequest, view: Callable[..., Any]) -> int:
    """The largest body for this view from this visitor. A program's key is checked by the API before it reads a body."""
    of_class = getattr(view, "cls", None)
    takes_files = getattr(view, "takes_files", False) or getattr(of_class, "takes_files", False)
    known = request.user.is_authenticated or (of_class is not None and "HTTP_AUTHORIZATION" in request.META)
    return settings.UPLOAD_MAX_BYTES + AROUND if takes_files and known else FORM


def _refusal(request: HttpRequest, most: int) -> HttpResponse:
    detail = f"What was sent is too large: expected at most {most:,} bytes here."
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "body_too_large", "detail": detail, "field": None}, status=413)
    return render(request, "refused.html", {"refused": {"detail": detail}}, status=413)
