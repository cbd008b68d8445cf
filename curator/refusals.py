"""What both edges, pages and API, say of a refusal: its HTTP status, and how the record names the request that was refused."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import ResolverMatch

from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused, TooLarge, TooMany

STATUS: dict[type[Refused], int] = {BadInput: 400, NotYours: 404, Conflict: 409, TooLarge: 413, TooMany: 429, Refused: 400}


def status_of(refused: Refused) -> int:
    """HTTP status of a refusal: that of the nearest class in the table."""
    return next(STATUS[cls] for cls in type(refused).__mro__ if cls in STATUS)


def retry_after(refused: Refused | None) -> dict[str, str]:
    """The header that says when to come back, where there is a refusal that knows."""
    wait = None if refused is None else refused.operands.get("wait")
    return {} if wait is None else {"Retry-After": str(wait)}


def say_when(answer: HttpResponse, refused: Refused | None) -> HttpResponse:
    """The same answer with that header."""
    for name, value in retry_after(refused).items():
        answer.headers[name] = value
    return answer


def asked(method: str | None, match: ResolverMatch | None) -> str:
    """A request as the record names it: the method and the pattern that matched, with the public ids of things filled in.

    Never the path: a path may hold the secret of an invitation or of a link to a new password, and the record is for ever.
    """
    if match is None:
        return f"{method} (none)"
    route = match.route
    for name, value in match.kwargs.items():
        if isinstance(value, UUID):  # ids of contracts, questions, …: they open nothing
            route = route.replace(f"<uuid:{name}>", str(value))
    return f"{method} /{route}"
