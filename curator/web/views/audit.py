"""The record: a log with filters that stay in the address, one event, an explained balance, receipts and files."""

from datetime import date
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from curator.mechanism import receipts
from curator.selectors import audit as reads
from curator.selectors import balances, exports
from curator.selectors.audit import Filters
from curator.web.pages import page, reader
from curator.web.problems import Problem
from curator.web.views.released import number

Answer = TypeVar("Answer", HttpResponse, StreamingHttpResponse)


@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Events of the chains I may read, newest first."""
    chains = access.record_of(reader(request))
    filters, problems = read_filters(request.GET)
    found = reads.log(chains, filters, before=number(request.GET.get("before", "")))
    kept = {name: value for name, value in request.GET.items() if name != "before" and value}
    here = reverse("audit")
    return page(
        request,
        "audit/log.html",
        here="audit",
        status=400 if problems else 200,
        page=found,
        filters=filters,
        problems=problems,
        heads=reads.heads(chains),
        kinds=reads.kinds(chains),
        untold=reads.untold(chains),
        more_url=f"{here}?{urlencode(kept | {'before': found.more})}" if found.more else "",
        first_url="" if found.first else f"{here}?{urlencode(kept)}",
    )


@require_safe
def event(request: HttpRequest, chain: str, seq: int) -> HttpResponse:
    """One event with its operands and the bytes that were hashed."""
    row = access.event_for(reader(request), chain, seq)
    return page(request, "audit/event.html", here="audit", page=reads.event_page(row))


@require_safe
def balance(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What a contract, or one of its analysts, has spent, event by event."""
    user = reader(request)
    contract = access.contract_for(user, uid)
    access.require(user, contract, *access.READERS)
    name = request.GET.get("analyst", "")
    analyst = access.analyst_of(contract, name) if name else None
    found = balances.explain(contract, analyst, after=number(request.GET.get("after", "")))
    here = reverse("audit-balance", args=[uid])
    kept = {"analyst": name} if name else {}
    return page(
        request,
        "audit/balance.html",
        here="audit",
        balance=found,
        contract=contract,
        more_url=f"{here}?{urlencode(kept | {'after': found.more})}" if found.more else "",
        first_url="" if found.first else f"{here}?{urlencode(kept)}",
    )


@require_safe
def receipts_page(request: HttpRequest) -> HttpResponse:
    """The newest head of each chain I may read, and what was spent by then."""
    chains = access.record_of(reader(request))
    lines = reads.receipts(chains)
    return page(request, "audit/receipts.html", here="audit", receipts=lines, heads=reads.heads(chains))


@require_safe
def receipts_file(request: HttpRequest) -> HttpResponse:
    """The same as lines of JSON, which both verifiers take as an anchor."""
    found = exports.newest(reads.ordered(access.record_of(reader(request))))
    return _attachment(HttpResponse(b"".join(map(receipts.line, found)), content_type="application/jsonl"), "receipts.jsonl")


@require_safe
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Every event of one chain, or of all I may read, as it was hashed; sent while it is read."""
    chains = access.record_of(reader(request))
    chosen = request.GET.get("chain", "")
    if chosen and chosen not in chains:
        raise access.not_yours()
    lines = exports.record([chosen] if chosen else reads.ordered(chains))
    return _attachment(StreamingHttpResponse(lines, content_type="application/x-ndjson"), "record.ndjson")


@require_safe
def verifier(request: HttpRequest) -> HttpResponse:
    """The stand-alone verifier, one file of plain Python."""
    access.record_of(reader(request))
    return _attachment(HttpResponse(exports.verifier(), content_type="text/x-python; charset=utf-8"), "verify_record.py")


def _attachment(answer: Answer, name: str) -> Answer:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def read_filters(data: QueryDict) -> tuple[Filters, list[Problem]]:
    """The filters as typed; a day that is none is told and left out."""
    problems: list[Problem] = []
    since, until = (_day(data, name, problems) for name in ("since", "until"))
    texts = {name: data.get(name, "").strip()[:150].replace("\x00", "") for name in ("chain", "kind", "actor")}
    return Filters(**texts, since=since, until=until), problems


def _day(data: QueryDict, name: str, problems: list[Problem]) -> date | None:
    text = data.get(name, "").strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        problems.append(Problem(name, name, f"{'From' if name == 'since' else 'Through'}: expected a day written YYYY-MM-DD."))
        return None
