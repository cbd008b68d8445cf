"""Answers already released under a contract, for everybody in it: by column, by text, and by what is accurate enough."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.models import Role
from curator.mechanism.accuracy import DEFAULT_CONFIDENCE, Within, parse_target
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from curator.selectors.released import Sought, released
from curator.selectors.workspace import schema_of
from curator.web.forms.ask_body import hundredth, problem_of, typed
from curator.web.forms.ask_state import find
from curator.web.pages import contract_page, reader

MAX_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """The search as typed: what the fields show again, and what the address of another page keeps."""

    column: str
    search: str
    within: str
    confidence: str

    @property
    def kept(self) -> dict[str, str]:
        """For an address; a confidence alone filters nothing, but says at which one bounds are stated."""
        given = {"column": self.column, "search": self.search, "within": self.within}
        found = {name: value for name, value in given.items() if value}
        return found if self.confidence == "95" else found | {"confidence": self.confidence}


@require_safe
def released_answers(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What is known already, newest first."""
    user = reader(request)
    contract = access.contract_for(user, uid)
    schema = schema_of(contract)
    filters = _typed(request.GET)
    sought, problems = _sought(filters, schema)
    found = released(contract, sought, after=number(request.GET.get("after", "")))
    here = reverse("released", args=[contract.uid])
    return contract_page(
        request,
        "release/list.html",
        contract,
        here="released",
        status=400 if problems else 200,
        released=found,
        filters=filters,
        problems=problems,
        columns=schema.names,
        confidence=sought.confidence,
        asks=access.has_place(user, contract, Role.ANALYST),
        more_url=f"{here}?{urlencode(filters.kept | {'after': found.more})}" if found.more else "",
        first_url="" if found.first else f"{here}?{urlencode(filters.kept)}",
    )


def _typed(data: QueryDict) -> Filters:
    def one(name: str) -> str:
        return data.get(name, "").strip()[:MAX_SEARCH]

    return Filters(one("column"), one("search"), one("within"), one("confidence") or "95")


def _sought(filters: Filters, schema: Schema) -> tuple[Sought, dict[str, str]]:
    """What to look for, and what is wrong with a field, by its name; a wrong field filters nothing."""
    problems = {}
    column = filters.column if find(schema, filters.column) else ""
    if filters.column and not column:
        problems["column"] = "There is no such column."
    within, confidence = None, DEFAULT_CONFIDENCE
    try:
        target = parse_target(
            {"within": filters.within or "1", "confidence": hundredth(typed(filters.confidence, "accuracy.confidence"))}
        )
        assert isinstance(target, Within)
        within, confidence = target.bound if filters.within else None, target.confidence
    except Refused as refused:
        problems["confidence" if refused.field == "accuracy.confidence" else "within"] = problem_of(refused).text
    return Sought(column, filters.search, within, confidence), problems


def number(text: str) -> int:
    """A mark made of digits; anything else is the beginning."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
