"""One question with everything an analyst may know about it: its place in the queue, its answers, and how they were decided.

The decision is shown with the operands that were recorded, so that its arithmetic can be done again by hand. A provenance
names releases, never who asked for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from curator.mechanism import accuracy
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.rho import Units
from curator.mechanism.support import residual
from curator.models import Answer, Decision, Query, QueryBin, Release
from curator.selectors import comparison, wording
from curator.selectors.traces import BinAnswer, Trace, trace_of
from curator.selectors.workspace import query_title

SHOWN_PARTS = 50
SHOWN_BINS = 500


@dataclass(frozen=True, slots=True)
class Part:
    """One release in an answer, its share of the answer in percent, and whether it was drawn for this very question."""

    uid: str
    rho: Units
    value: int
    percent: Decimal
    drawn_here: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryPage:
    """A question as its asker, a curator or an auditor sees it."""

    uid: UUID
    contract_uid: UUID
    title: str
    label: str
    words: str
    sql: str
    analyst: str
    state: str
    failure: str
    histogram: bool
    asked: str
    confidence: Decimal
    simultaneous: bool
    under_scarcity: str
    version: int
    arrived_at: datetime
    finished_at: datetime | None
    place: int | None
    bins: tuple[BinAnswer, ...]
    trace: Trace | None
    parts: tuple[Part, ...]
    beside: "comparison.Beside | None"

    @property
    def final(self) -> bool:
        """Whether nothing about it will change any more."""
        return self.state != Query.State.WAITING

    @property
    def answer(self) -> BinAnswer | None:
        """The one answer of a count."""
        return None if self.histogram or not self.bins else self.bins[0]

    @property
    def shown_bins(self) -> tuple[BinAnswer, ...]:
        """As many bins as a page can show."""
        return self.bins[:SHOWN_BINS]

    @property
    def negative(self) -> bool:
        """Whether noise has taken a count below zero."""
        return any(bin_.value is not None and bin_.value < 0 for bin_ in self.bins)

    @property
    def missed(self) -> int:
        """How many bins did not reach the accuracy asked for."""
        return sum(not bin_.met for bin_ in self.bins)


def place_in_queue(query: Query) -> int | None:
    """How many questions of the contract are decided before this one, itself included; None once it is final."""
    if query.state != Query.State.WAITING:
        return None
    ahead = Query.objects.filter(contract=query.contract_id, state=Query.State.WAITING, id__lt=query.pk)
    return ahead.count() + 1


def query_page(query: Query) -> QueryPage:
    """Everything about one question, in a fixed number of queries."""
    decision = Decision.objects.filter(query=query).first()
    answers = list(Answer.objects.filter(query=query).select_related("release").order_by("position"))
    bins = _bins(query, answers)
    return QueryPage(
        uid=query.uid,
        contract_uid=query.contract.uid,
        title=query_title(query),
        label=query.label,
        words=wording.question_words(query.question),
        sql=query.sql,
        analyst=query.analyst.get_username(),
        state=query.state,
        failure=query.failure,
        histogram=query.aggregate == Query.Aggregate.HISTOGRAM,
        asked=wording.target_words(query.accuracy),
        confidence=accuracy.confidence_of(accuracy.parse_target(query.accuracy)),
        simultaneous=bool(query.accuracy.get("simultaneous")),
        under_scarcity=query.under_scarcity,
        version=query.version.number,
        arrived_at=query.arrived_at,
        finished_at=query.finished_at,
        place=place_in_queue(query),
        bins=bins,
        trace=_trace(query, decision, bins) if decision else None,
        parts=_parts(answers[0]) if len(answers) == 1 else (),
        beside=comparison.beside(query.contract, query.uid, query.analyst.get_username()) if decision else None,
    )


def _trace(query: Query, decision: Decision, bins: Sequence[BinAnswer]) -> Trace:
    target = accuracy.parse_target(query.accuracy)
    all_or_nothing = query.under_scarcity == UnderScarcity.ALL_OR_NOTHING
    return trace_of(decision, bins, target, kappa=query.contract.kappa, all_or_nothing=all_or_nothing)


def _bins(query: Query, answers: Sequence[Answer]) -> tuple[BinAnswer, ...]:
    """The answers with the labels of their bins; none while nothing is decided."""
    rows = QueryBin.objects.filter(query=query).values_list("position", "label", "descriptor_id") if answers else []
    labels = {position: (tuple(label), not digest) for position, label, digest in rows}
    return tuple(_bin_answer(answer, *labels[answer.position]) for answer in answers)


def _bin_answer(answer: Answer, label: tuple[str, ...], empty: bool) -> BinAnswer:
    missing = 0 if empty else residual(answer.rho_min or 0, answer.rho_hist)
    low, high = _interval(answer.value, answer.bound)
    return BinAnswer(
        label=label,
        empty=empty,
        value=answer.value,
        low=low,
        high=high,
        bound=answer.bound,
        met=answer.met,
        rho_min=answer.rho_min,
        rho_hist=answer.rho_hist,
        residual=missing,
        rho_new=answer.rho_new,
        rho_eff=answer.rho_eff,
        shortfall=max(0, missing - answer.rho_new),
        weight=answer.weight,
        releases=len(answer.certificate),
        certificate=tuple((uid, rho) for uid, rho in answer.certificate),
    )


def _interval(value: int | None, bound: int | None) -> tuple[int | None, int | None]:
    return (None, None) if value is None or bound is None else (value - bound, value + bound)


def _parts(answer: Answer) -> tuple[Part, ...]:
    """The newest releases in an answer, by its certificate; each weighs as its rho does in the sum."""
    own = str(answer.release.uid) if answer.release else ""
    shares = dict(answer.certificate[-SHOWN_PARTS:])
    rows = Release.objects.filter(uid__in=shares).order_by("-id")
    return tuple(_part(row, shares[str(row.uid)], answer.rho_eff, own) for row in rows)


def _part(row: Release, rho: Units, whole: Units, own: str) -> Part:
    percent = (Decimal(100 * rho) / whole).quantize(Decimal("0.1"))
    return Part(str(row.uid), rho, row.value, percent, str(row.uid) == own, row.created_at)
