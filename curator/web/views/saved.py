"""Questions kept under names: the list of one's own under a contract, and what can be done with each."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from accounts import access
from accounts.models import Role
from curator.mechanism.errors import BadInput, Refused
from curator.models import SavedQuestion
from curator.refusals import status_of
from curator.selectors.saved import saved_lines
from curator.services import saved
from curator.web.pages import contract_page, reader
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def saved_questions(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The list; each line asks again, takes another name, or goes."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    problem, typed, status = "", "", 200
    if request.method == "POST":
        row = access.saved_for(user, request.POST.get("question", ""))
        try:
            messages.success(request, _done(request, row))
            return see_other("saved", contract.uid)
        except Refused as refused:
            problem, typed, status = _plain(refused), str(row.uid), status_of(refused)
    return contract_page(
        request,
        "query/saved.html",
        contract,
        here="saved",
        status=status,
        lines=saved_lines(contract, user),
        most=saved.MOST,
        problem=problem,
        typed_uid=typed,
        typed_name=request.POST.get("name", ""),
    )


def _done(request: HttpRequest, row: SavedQuestion) -> str:
    name = row.name
    match request.POST.get("do"):
        case "rename":
            return f"“{name}” is now called “{saved.rename(saved=row, name=request.POST.get('name', '')).name}”."
        case "delete":
            saved.delete(saved=row)
            return f"“{name}” is deleted. Its answers stay."
    raise BadInput("bad_choice", "Expected rename or delete.")


@require_POST
def save_query(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Keep the question of one's own query page."""
    user = reader(request)
    query = access.query_for(user, uid, own=True)
    try:
        row = saved.save_query(owner=user, query=query, name=request.POST.get("name", ""))
        messages.success(request, f"Kept as “{row.name}” among your saved questions.")
    except Refused as refused:
        messages.error(request, _plain(refused))
    return see_other("query", query.uid)


def _plain(refused: Refused) -> str:
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    return detail[:1].upper() + detail[1:]
