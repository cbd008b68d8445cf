"""A contract's public event stream, read from its rows in the order of its audit chain, for the comparators.

Everything in it is public within the contract: settings, allotments, descriptors, prices and weights; never a value.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from curator.mechanism.comparators import events
from curator.mechanism.controller import UNPRICED, UnderScarcity
from curator.models import Allotment, Answer, AuditEvent, AuditHead, Contract, Decision, QueryBin

OPENED, RAISED = "contract.opened", "contract.raised"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placed:
    """An event and its place in the contract's audit chain."""

    seq: int
    event: events.Event


def head_seq(contract: Contract) -> int:
    """The newest committed place in the contract's chain; whatever lies at or before it is committed too."""
    return AuditHead.objects.filter(chain=str(contract.uid)).values_list("seq", flat=True).first() or 0


def stream(contract: Contract, *, after: int = 0, upto: int) -> list[Placed]:
    """The events placed after `after` and not after `upto`, in order; a fixed number of queries, and rows only of what is new.

    `upto` is a head read beforehand: without it, something committed between two of the queries would be passed over for ever.
    """
    span = (after + 1, upto)
    found = [*_settings(contract, span), *_allotments(contract, span), *_questions(contract, span)]
    return sorted(found, key=lambda placed: placed.seq)


def _settings(contract: Contract, span: Span) -> Iterator[Placed]:
    """The settings at opening and after each raise: only the total and its parts ever change."""
    rows = AuditEvent.objects.filter(chain=str(contract.uid), kind__in=(OPENED, RAISED), seq__range=span)
    for row in rows.order_by("seq"):
        data = json.loads(bytes(row.body))["data"]
        parts = data["settings"] if row.kind == OPENED else {**data, "rho_total": data["after"]}
        yield Placed(row.seq, _settings_event(contract, parts))


def _settings_event(contract: Contract, parts: dict[str, int]) -> events.Settings:
    """Settings as the comparators take them, with the three amounts of that moment."""
    return events.Settings(
        rho_total=parts["rho_total"],
        rho_est=parts["rho_est"],
        rho_ans=parts["rho_ans"],
        kappa=contract.kappa,
        k=contract.k,
        cap=contract.query_cap,
    )


def _allotments(contract: Contract, span: Span) -> Iterator[Placed]:
    rows = Allotment.objects.filter(contract=contract, event_seq__range=span).order_by("event_seq")
    for seq, analyst, rho in rows.values_list("event_seq", "analyst__username", "rho"):
        yield Placed(seq, events.AllotmentSet(analyst, rho))


def _questions(contract: Contract, span: Span) -> Iterator[Placed]:
    """Plain columns, no rows of models: a process that starts beside a long record reads all of it once."""
    decisions = Decision.objects.filter(query__contract=contract, event_seq__range=span).exclude(regime=UNPRICED)
    columns = ("event_seq", "query_id", "query__analyst__username", "query__uid", "query__under_scarcity", "k")
    rows = list(decisions.order_by("event_seq").values_list(*columns))
    bins = _bins([row[1] for row in rows])
    for seq, query, analyst, uid, under_scarcity, k in rows:
        yield Placed(seq, events.Asked(analyst, str(uid), tuple(bins[query]), UnderScarcity(under_scarcity), k))


def _bins(query_ids: list[int]) -> dict[int, list[events.Bin]]:
    """The bins of each question with the price and weight they had when it was decided."""
    answers = Answer.objects.filter(query_id__in=query_ids).values_list("query_id", "position", "rho_min", "weight")
    decided = {(query, position): (rho_min, weight) for query, position, rho_min, weight in answers}
    rows = QueryBin.objects.filter(query_id__in=query_ids).order_by("query_id", "position")
    bins: dict[int, list[events.Bin]] = defaultdict(list)
    for query, position, digest, rho_min in rows.values_list("query_id", "position", "descriptor_id", "rho_min"):
        price, weight = decided.get((query, position), (rho_min, Decimal(1)))
        bins[query].append(bin_event(digest, position, price or 0, weight))
    return bins


def bin_event(digest: str | None, position: int, rho_min: int, weight: Decimal) -> events.Bin:
    """One bin; an empty region has no descriptor and needs nothing."""
    return events.Bin(digest or f"empty-{position}", rho_min if digest else 0, weight)
