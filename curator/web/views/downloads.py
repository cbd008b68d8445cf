"""One question's answers as files: CSV that is safe in a spreadsheet, and JSON with the whole provenance."""

import csv
import io
from decimal import Decimal
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts import access
from curator.mechanism import rho
from curator.mechanism.errors import Conflict
from curator.models import Query
from curator.selectors.answers import QueryPage, query_page
from curator.selectors.traces import BinAnswer
from curator.web.pages import reader
from curator.web.spreadsheet import safe_row

HEADER = (
    "bin", "value", "low", "high", "bound", "confidence", "met", "rho_min", "rho_hist", "rho_new", "rho_eff",
    "releases", "query", "version", "event", "head",
)  # fmt: skip


@require_safe
def csv_file(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One row per bin, each with where it comes from: its releases, the question, the receipt of the decision."""
    found = _final(access.query_for(reader(request), uid))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    writer.writerows(safe_row(_row(found, bin_)) for bin_ in found.bins)
    return _attachment(HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8"), found, "csv")


@require_safe
def json_file(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Everything the page shows; amounts as decimal strings of rho."""
    found = _final(access.query_for(reader(request), uid))
    return _attachment(JsonResponse(_document(found), json_dumps_params={"indent": 2, "ensure_ascii": False}), found, "json")


def _final(row: Query) -> QueryPage:
    found = query_page(row)
    if found.trace is None:
        raise Conflict("no_answer", f"There is nothing to download: the question is {found.state}.")
    return found


def _row(found: QueryPage, bin_: BinAnswer) -> tuple[str | int | None, ...]:
    amounts = (bin_.rho_min or 0, bin_.rho_hist, bin_.rho_new, bin_.rho_eff)
    label = " · ".join(bin_.label) or found.words
    met = "yes" if bin_.met else "no"
    figures = (label, bin_.value, bin_.low, bin_.high, bin_.bound, str(found.confidence), met, *map(rho.text, amounts))
    return (*figures, " ".join(uid for uid, _ in bin_.certificate), str(found.uid), found.version, *_receipt(found))


def _receipt(found: QueryPage) -> tuple[int, str]:
    assert found.trace is not None
    return found.trace.event_seq, found.trace.head


def _document(found: QueryPage) -> dict[str, object]:
    trace = found.trace
    assert trace is not None
    return {
        "query": str(found.uid),
        "contract": str(found.contract_uid),
        "question": found.words,
        "sql": found.sql,
        "label": found.label,
        "asked": found.asked,
        "under_scarcity": found.under_scarcity,
        "version": found.version,
        "state": found.state,
        "arrived_at": found.arrived_at.isoformat(),
        "finished_at": found.finished_at.isoformat() if found.finished_at else None,
        "decision": {
            "kind": trace.kind, "regime": trace.regime, "reason": trace.reason, "available": rho.text(trace.available),
            "limit": trace.limit, "charge": rho.text(trace.load), "contract_spent_before": rho.text(trace.spent_before),
            "contract_spent_after": rho.text(trace.spent_after),
        },
        "answers": [_answer(bin_, found.confidence) for bin_ in found.bins],
        "releases": [{"release": part.uid, "value": part.value, "rho": rho.text(part.rho)} for part in found.parts],
        "receipt": {"event": trace.event_seq, "head": trace.head},
    }  # fmt: skip


def _answer(bin_: BinAnswer, confidence: Decimal) -> dict[str, object]:
    return {
        "bin": list(bin_.label), "value": bin_.value, "low": bin_.low, "high": bin_.high, "bound": bin_.bound,
        "confidence": str(confidence), "met": bin_.met, "rho_min": None if bin_.rho_min is None else rho.text(bin_.rho_min),
        "rho_hist": rho.text(bin_.rho_hist), "rho_new": rho.text(bin_.rho_new), "rho_eff": rho.text(bin_.rho_eff),
        "weight": str(bin_.weight), "releases": bin_.releases,
        "certificate": [{"release": uid, "rho": rho.text(part)} for uid, part in bin_.certificate],
    }  # fmt: skip


def _attachment(answer: HttpResponse, found: QueryPage, ending: str) -> HttpResponse:
    answer["Content-Disposition"] = f'attachment; filename="answer-{str(found.uid)[:8]}.{ending}"'
    return answer
