"""A decision as steps of arithmetic, each with its figure and its reason, so that a reader can do it again by hand.

Figures are those of the record; the words say which rule of the mechanism each comes from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from curator.mechanism import accuracy, scarcity
from curator.mechanism.accuracy import Exactly, Relative, StandardError, Target, Within
from curator.mechanism.controller import UNPRICED, cost
from curator.mechanism.rho import Units
from curator.models import Decision
from curator.selectors.formatting import spoken

LIMITS = {
    "contract": "what the contract has left",
    "allotment": "what is left of the allotment",
    "cap": "the contract's cap on one question",
}
OUTCOMES = {
    "reuse": "history answers it: no record was looked at, no noise drawn",
    "measure": "one new release",
    "partial": "what scarcity gives",
    "decline": "nothing was spent; what history knows is given",
}
REGIMES = {
    "known": "the public schema alone gives the answer",
    "history": "nothing was missing: earlier releases answer it",
    "feasible": "what was missing could be paid in full",
    "scarce": "less was left than was missing",
}
MISSED = {
    "contract_exceeded": "The contract has less left than this question still needs.",
    "allotment_exceeded": "The allotment has less left than this question still needs.",
    "cap_exceeded": "This question needs more than the contract lets one question spend.",
    "price_too_high": "The price of scarcity is higher than what this question would gain; the rest is kept for others.",
    "contract_not_open": "The contract was not open when the question's turn came.",
    "no_diagnostic": "A share of the value can only be promised after a diagnostic, and none could be paid.",
    "population_too_small": "The group is too small: the share of its lower bound is less than one person.",
}


@dataclass(frozen=True, slots=True)
class BinAnswer:
    """The answer of one bin and the figures behind it. `value` None: nothing is known; `empty`: 0 by the schema alone."""

    label: tuple[str, ...]
    empty: bool
    value: int | None
    low: int | None
    high: int | None
    bound: int | None
    met: bool
    rho_min: Units | None
    rho_hist: Units
    residual: Units
    rho_new: Units
    rho_eff: Units
    shortfall: Units
    weight: Decimal
    releases: int
    certificate: tuple[tuple[str, Units], ...] = ()  # the releases in it, each with its rho: they weigh as rho / rho_eff


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the arithmetic; `units` None where the figure is not an amount and stands in `figure`."""

    name: str
    units: Units | None
    figure: str
    why: str
    total: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """The decision with its operands, and the steps that lead to it."""

    kind: str
    regime: str
    regime_words: str
    reason: str
    missed_because: str
    available: Units
    limit: str
    limit_words: str
    load: Units
    spent_before: Units
    spent_after: Units
    event_seq: int
    head: str
    decided_at: datetime
    steps: tuple[Step, ...]


def trace_of(decision: Decision, bins: Sequence[BinAnswer], target: Target, *, kappa: Decimal, all_or_nothing: bool) -> Trace:
    """Lay a recorded decision out in steps; `kappa` is the contract's, `all_or_nothing` the analyst's choice."""
    live = [bin_ for bin_ in bins if not bin_.empty]
    scarce = _scarce_steps(decision, live, kappa=kappa, all_or_nothing=all_or_nothing) if decision.regime == "scarce" else []
    return Trace(
        kind=decision.kind,
        regime=decision.regime,
        regime_words=REGIMES.get(decision.regime, ""),
        reason=decision.reason,
        missed_because=MISSED.get(decision.reason, ""),
        available=decision.available,
        limit=decision.limit,
        limit_words=LIMITS.get(decision.limit, decision.limit),
        load=decision.load,
        spent_before=decision.spent_before,
        spent_after=decision.spent_after,
        event_seq=decision.event_seq,
        head=decision.head,
        decided_at=decision.decided_at,
        steps=tuple(_steps(decision, live, need_words(target, len(bins)), scarce)),
    )


def _steps(decision: Decision, live: Sequence[BinAnswer], formula: str, scarce: Sequence[Step]) -> list[Step]:
    if not live:
        return [Step("Charged", 0, "", "known from the public schema alone", total=True)]
    if decision.regime == UNPRICED:
        return [Step("Charged", 0, "", "no price could be told", total=True)]
    whole = cost([bin_.rho_min or 0 for bin_ in live], decision.k)
    missing = cost([bin_.residual for bin_ in live], decision.k)
    return [
        Step("Needed from scratch", whole, "", f"{formula}{_dearest(live, decision.k)}"),
        Step("Credited from history", whole - missing, "", history_words(live)),
        Step("Residual", missing, "", "needed less credited, never below zero"),
        Step("Available", decision.available, "", f"{LIMITS.get(decision.limit, decision.limit)}: {_regime(decision, missing)}"),
        *scarce,
        Step("Charged", decision.load, "", _outcome(decision.kind, fused=decision.load > 0 and missing < whole), total=True),
    ]


def _outcome(kind: str, *, fused: bool) -> str:
    return OUTCOMES[kind] + (", fused with history by inverse variance" if fused else "")


def _dearest(live: Sequence[BinAnswer], k: int) -> str:
    if len(live) == 1:
        return ""
    return (
        "; one person is in one bin, so only the dearest is charged"
        if k == 1
        else f"; the {min(k, len(live))} dearest bins are charged"
    )


def need_words(target: Target, bins: int) -> str:
    """The formula behind rho_min with its figures."""
    match target:
        case Within():
            z = accuracy.z_two_sided(target.confidence, bins if target.simultaneous else 1)
            return f"z² / (2 · {target.bound}²) with z = {z:.6f}"
        case StandardError():
            return f"1 / (2 · {target.value}²)"
        case Relative():
            z = accuracy.z_two_sided(target.confidence, 2)
            return f"z² / (2 · E²) with z = {z:.6f} and E = {target.share} of the diagnostic's lower bound"
        case Exactly():
            return "the support asked for"


def history_words(live: Sequence[BinAnswer]) -> str:
    """What history consists of."""
    before = sum(bin_.releases - (bin_.rho_new > 0) for bin_ in live)
    if before == 0:
        return "nothing was released about this before"
    held = f", {spoken(live[0].rho_hist)} in all" if len(live) == 1 else ""
    return f"{before} earlier release{'s' if before > 1 else ''} of the same question{held}"


def _regime(decision: Decision, missing: Units) -> str:
    if decision.regime == "scarce":
        return f"short of {spoken(max(0, missing - decision.available), price=True)}, so scarce"
    return "enough, so feasible" if missing else "not needed"


def _scarce_steps(decision: Decision, live: Sequence[BinAnswer], *, kappa: Decimal, all_or_nothing: bool) -> list[Step]:
    """The closed form with its figures; of one bin where there is one, else what holds for all of them."""
    if all_or_nothing:
        return [Step("Given", 0, "", "all or nothing was asked for, and all is not available")]
    mu = Fraction(decision.mu)
    price = Step("Price of scarcity μ", floor(mu), "", f"κ · ρ_ans with κ = {kappa.normalize():f}")
    if len(live) == 1:
        return [price, *_closed_form(live[0], mu)]
    share = scarcity.shares([decision.available] * len(live), [bin_.residual for bin_ in live], k=decision.k)[0]
    words = "a bin gets its residual where that fits, else residual − μ / (2w), at least 0 and at most this; figures by bin below"
    return [price, Step("Share of a bin", share, "", words)]


def _closed_form(bin_: BinAnswer, mu: Fraction) -> list[Step]:
    aim = ceil(mu / (2 * Fraction(bin_.weight)))  # as the closed form rounds: what is given is rounded down
    return [
        Step("Weight w", None, f"{bin_.weight.normalize():f}", "difficulty of the question; 1 where no diagnostic was taken"),
        Step("Shortfall aimed at", aim, "", "μ / (2w)"),
        Step("Given", bin_.rho_new, "", "residual − μ / (2w), at least 0 and at most what is available"),
        Step("Shortfall", bin_.shortfall, "", "residual less given"),
    ]
