"""What the same questions would have cost under other rules, replayed from the public stream of a contract.

The replay of a contract is kept in the process and taken on by what is new, so no page grows with the history. It is keyed by the
contract's random uid, and started afresh where the record is shorter than what was replayed (a restored backup).
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from curator.mechanism.comparators import events
from curator.mechanism.comparators.offline import Optimum
from curator.mechanism.comparators.protocol import Kind
from curator.mechanism.comparators.replay import Replay
from curator.mechanism.comparators.series import Curve, Tally
from curator.mechanism.comparators.table import ALLOCATORS, BUDGET_PARTITION, OFFLINE_OPTIMUM, RESIDUAL
from curator.mechanism.rho import Units
from curator.models import AuditHead, Contract
from curator.selectors.audit import SITE
from curator.selectors.stream import head_seq, stream

KEPT, WARMED = 64, 8  # contracts whose replay a process remembers
POINTS = 400  # of a curve: what a chart can show

RULES = {
    "residual": ("Residual", "credits what was released before, weighs difficulty when budget is scarce"),
    "reuse_only": ("Reuse only", "credits what was released before, no weights"),
    "accuracy_aware": ("Accuracy-aware", "prices every question from scratch, weighs difficulty"),
    "state_agnostic": ("State-agnostic", "prices every question from scratch, no weights"),
    "budget_partition": ("Budget partition", "prices from scratch inside each analyst's own share"),
    "offline_optimum": ("Optimum", "knows all questions beforehand"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One allocator's totals over the questions looked at. None: not known for this rule or this selection."""

    name: str
    title: str
    does: str
    spent: Units | None
    met: int | None
    partial: int | None
    declined: int | None


@dataclass(frozen=True, slots=True)
class AnalystLine:
    """One analyst here and under partition."""

    analyst: str
    spent: Units
    partition: Units
    saved: Units
    asked: int
    met: int
    partition_met: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Totals, curves and analysts; `analyst` is empty for the whole contract."""

    analyst: str
    asked: int
    rules: tuple[Rule, ...]
    curves: dict[str, Curve]
    by_analyst: tuple[AnalystLine, ...]
    residual: Rule
    partition: Rule
    saved: Units
    saved_percent: int | None
    optimum_reason: str


@dataclass(frozen=True, slots=True)
class Beside:
    """One question and its asker so far, here and under partition."""

    kind: str
    charge: Units
    partition_kind: str
    partition_charge: Units
    asked: int
    spent: Units
    partition_spent: Units
    met: int
    partition_met: int


@dataclass(slots=True)
class _Kept:
    """A replay under way and the place in the chain up to which it went."""

    replay: Replay = field(default_factory=lambda: Replay(events.Frame(capped=True)))
    seq: int = 0
    compared: dict[str, Comparison] = field(default_factory=dict)  # by analyst, good until the next event
    lock: threading.Lock = field(default_factory=threading.Lock)


_kept: OrderedDict[UUID, _Kept] = OrderedDict()
_kept_lock = threading.Lock()


def _entry(uid: UUID, *, afresh: bool = False) -> _Kept:
    with _kept_lock:
        if afresh or uid not in _kept:
            _kept[uid] = _Kept()
        _kept.move_to_end(uid)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return _kept[uid]


def _caught_up(contract: Contract) -> _Kept:
    """The contract's replay, taken on to the newest event; the caller must hold its lock while reading."""
    entry = _entry(contract.uid)
    head = head_seq(contract)
    if head < entry.seq:
        entry = _entry(contract.uid, afresh=True)
    with entry.lock:
        if entry.seq < head:
            new = [placed.event for placed in stream(contract, after=entry.seq, upto=head)]
            entry.seq = head
            entry.compared.clear()
            entry.replay.advance(new)
    return entry


def warm() -> int:
    """Replay the `WARMED` longest records before anybody asks; how many. What is opened meanwhile waits for its own only.

    Raises django.db.DatabaseError.
    """
    longest = list(AuditHead.objects.exclude(chain=SITE).order_by("-seq").values_list("chain", flat=True)[:WARMED])
    found = Contract.objects.filter(uid__in=longest, opened_at__isnull=False)
    return len([_caught_up(contract) for contract in found])


def comparison(contract: Contract, analyst: str = "") -> Comparison | None:
    """Every rule over the whole contract, or over one analyst's questions in it; None before the contract is open."""
    if contract.opened_at is None:
        return None
    entry = _caught_up(contract)
    with entry.lock:
        if analyst not in entry.compared:
            entry.compared[analyst] = _compared(entry.replay, analyst)
        return entry.compared[analyst]


def _compared(replay: Replay, analyst: str) -> Comparison:
    whose = analyst or None
    tallies = {name: replay.tally(name, whose) for name in ALLOCATORS}
    residual, partition = tallies[RESIDUAL], tallies[BUDGET_PARTITION]
    optimum = None if analyst else replay.optimum()
    rules = [_rule(name, tallies[name]) for name in RULES if name in tallies]
    return Comparison(
        analyst=analyst,
        asked=residual.asked,
        rules=tuple(rules if optimum is None else [*rules, _optimum_rule(optimum)]),
        curves={name: curve.thinned(POINTS) for name, curve in replay.curves(whose).items()},
        by_analyst=() if analyst else _analyst_lines(replay),
        residual=_rule(RESIDUAL, residual),
        partition=_rule(BUDGET_PARTITION, partition),
        saved=partition.spent - residual.spent,
        saved_percent=round(100 * (partition.spent - residual.spent) / partition.spent) if partition.spent else None,
        optimum_reason=(optimum.reason or "") if optimum else "",
    )


def analyst_lines(contract: Contract) -> tuple[AnalystLine, ...]:
    """Each analyst's totals here and under partition; none before the contract is open."""
    if contract.opened_at is None:
        return ()
    entry = _caught_up(contract)
    with entry.lock:
        return _analyst_lines(entry.replay)


def _rule(name: str, tally: Tally) -> Rule:
    title, does = RULES[name]
    return Rule(name, title, does, tally.spent, tally.met, tally.partial, tally.declined)


def _optimum_rule(optimum: Optimum) -> Rule:
    title, does = RULES[OFFLINE_OPTIMUM]
    return Rule(OFFLINE_OPTIMUM, title, does, optimum.spent, optimum.met, None, None)


def _analyst_lines(replay: Replay) -> tuple[AnalystLine, ...]:
    pairs = [(name, replay.tally(RESIDUAL, name), replay.tally(BUDGET_PARTITION, name)) for name in replay.analysts]
    return tuple(
        AnalystLine(name, ours.spent, theirs.spent, theirs.spent - ours.spent, ours.asked, ours.met, theirs.met)
        for name, ours, theirs in pairs
    )


def beside(contract: Contract, query: UUID, analyst: str) -> Beside | None:
    """One decided question beside partition, with its asker's totals so far; None while it is not decided."""
    entry = _caught_up(contract)
    with entry.lock:
        outcomes = entry.replay.outcome(str(query))
        ours, theirs = entry.replay.tally(RESIDUAL, analyst), entry.replay.tally(BUDGET_PARTITION, analyst)
    if outcomes is None:
        return None
    (kind, charge), (partition_kind, partition_charge) = outcomes[RESIDUAL], outcomes[BUDGET_PARTITION]
    return Beside(kind, charge, partition_kind, partition_charge, ours.asked, ours.spent, theirs.spent, ours.met, theirs.met)


def partition_price(contract: Contract, asked: events.Asked) -> tuple[Kind, Units] | None:
    """What partition would do with a question now; None before the contract is open."""
    if contract.opened_at is None:
        return None
    entry = _caught_up(contract)
    with entry.lock:
        outcome = entry.replay.preview(asked)[BUDGET_PARTITION]
    return outcome.kind, outcome.charge


def partition_charges(contract: Contract, queries: Sequence[UUID]) -> dict[UUID, Units]:
    """What partition would have charged for each of these questions, where decided."""
    entry = _caught_up(contract)
    with entry.lock:
        found = {uid: entry.replay.outcome(str(uid)) for uid in queries}
    return {uid: outcomes[BUDGET_PARTITION][1] for uid, outcomes in found.items() if outcomes is not None}
