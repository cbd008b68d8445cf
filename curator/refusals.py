"""What both edges, pages and API, say of a refusal: its HTTP status, and how the record names the request that was refused."""

from uuid import UUID

from django.urls import ResolverMatch

from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused, TooLarge, TooMany

STATUS: dict[type[Refused], int] = {BadInput: 400, NotYours: 404, Conflict: 409, TooLarge: 413, TooMany: 429, Refused: 400}


def status_of(refused: Refused) -> int:
    """HTTP status of a refusal: that of the nearest class in the table."""
    return next(STATUS[cls] for cls in type(refused).__mro__ if cls in STATUS)


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
