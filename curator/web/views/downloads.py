"""One question's answers as files: CSV that is safe in a spreadsheet, and JSON with the whole provenance."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts import access
from curator.selectors import answer_files
from curator.selectors.answers import QueryPage
from curator.web.pages import reader


@require_safe
def csv_file(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One row per bin."""
    found = answer_files.final(access.query_for(reader(request), uid))
    return _attachment(HttpResponse(answer_files.csv_text(found), content_type="text/csv; charset=utf-8"), found, "csv")


@require_safe
def json_file(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Everything the page shows."""
    found = answer_files.final(access.query_for(reader(request), uid))
    told = JsonResponse(answer_files.document(found), json_dumps_params={"indent": 2, "ensure_ascii": False})
    return _attachment(told, found, "json")


def _attachment(answer: HttpResponse, found: QueryPage, ending: str) -> HttpResponse:
    answer["Content-Disposition"] = f'attachment; filename="answer-{str(found.uid)[:8]}.{ending}"'
    return answer
