"""One question's answers as files: CSV that is safe in a spreadsheet, and JSON with the whole provenance."""

import csv
import io
from decimal import Decimal

from curator.mechanism import rho
from curator.mechanism.errors import Conflict
from curator.models import Query
from curator.selectors.answers import QueryPage, query_page
from curator.selectors.spreadsheet import safe_row
from curator.selectors.traces import BinAnswer

HEADER = (
    "bin", "value", "low", "high", "bound", "confidence", "met", "rho_min", "rho_hist", "rho_new", "rho_eff",
    "releases", "query", "version", "event", "head",
)  # fmt: skip


def final(row: Query) -> QueryPage:
    """The question with its answers; Conflict no_answer where none was given."""
    found = query_page(row)
    if found.trace is None:
        raise Conflict("no_answer", f"There is nothing to download: the question is {found.state}.")
    return found


def csv_text(found: QueryPage) -> str:
    """One row per bin, each with where it comes from: its releases, the question, the receipt of the decision."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    writer.writerows(safe_row(_row(found, bin_)) for bin_ in found.bins)
    return text.getvalue()


def _row(found: QueryPage, bin_: BinAnswer) -> tuple[str | int | None, ...]:
    amounts = (bin_.rho_min or 0, bin_.rho_hist, bin_.rho_new, bin_.rho_eff)
    label = " · ".join(bin_.label) or found.words
    met = "yes" if bin_.met else "no"
    figures = (label, bin_.value, bin_.low, bin_.high, bin_.bound, str(found.confidence), met, *map(rho.text, amounts))
    return (*figures, " ".join(uid for uid, _ in bin_.certificate), str(found.uid), found.version, *_receipt(found))


def _receipt(found: QueryPage) -> tuple[int, str]:
    assert found.trace is not None
    return found.trace.event_seq, found.trace.head


def document(found: QueryPage) -> dict[str, object]:
    """Everything the page shows; amounts as decimal strings of rho."""
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
