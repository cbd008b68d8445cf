"""The decision on one question: what history gives, what is charged, and what each bin gets (sections 3 and 4 of the paper).

A pure function of public state: needs fixed by descriptors and targets, released support, limits, contract terms. No exact
count can reach it, so every decision can be replayed from the public record and the contract is a zCDP filter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from heapq import nlargest
from typing import ClassVar, Literal

from curator.mechanism import scarcity, support
from curator.mechanism.rho import Units

PRICE_TOO_HIGH = "price_too_high"
UNPRICED = "unpriced"  # the regime of a relative target that has no price: its group is not measured, or too small to promise

Regime = Literal["history", "feasible", "scarce"]


class UnderScarcity(StrEnum):
    """What the analyst chose for the case that not every target can be met."""

    PARTIAL = "partial"
    ALL_OR_NOTHING = "all_or_nothing"


@dataclass(frozen=True, slots=True)
class Need:
    """One bin: support asked for and support held of its descriptor, and the weight of difficulty it has in scarcity (> 0)."""

    descriptor: str
    rho_min: Units
    rho_hist: Units
    weight: Decimal = Decimal(1)

    @property
    def residual(self) -> Units:
        """What is still missing, in units."""
        return support.residual(self.rho_min, self.rho_hist)


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that may be spent, and whose limit it is: "contract", "allotment" or "cap"."""

    units: Units
    reason: str


@dataclass(frozen=True, slots=True)
class Terms:
    """k: most records of one person; mu: price of scarcity, kappa * rho_ans in units, unrounded; the analyst's choice."""

    k: int
    mu: Fraction
    under_scarcity: UnderScarcity


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Common to the four decisions: `amounts` (rho_new) and `met` per bin, the charge, the binding limit, the regime.

    `reason`: why something was missed: "contract_exceeded", "allotment_exceeded", "cap_exceeded", "price_too_high"; else "".
    """

    amounts: tuple[Units, ...]
    charge: Units
    limit: Limit
    regime: Regime
    met: tuple[bool, ...]
    reason: str = ""
    kind: ClassVar[str]

    @property
    def load(self) -> Units:
        """Charged to the contract (privacy)."""
        return self.charge

    @property
    def quota(self) -> Units:
        """Charged to the analyst's allotment (fairness); the same as the load today."""
        return self.charge

    @property
    def all_met(self) -> bool:
        """A question is met only if every bin is."""
        return all(self.met)


class Reuse(_Outcome):
    """History meets every target: nothing is charged, no data are read, no noise is drawn."""

    __slots__ = ()
    kind = "reuse"


class Measure(_Outcome):
    """Every residual is paid exactly; every target is met."""

    __slots__ = ()
    kind = "measure"


class Partial(_Outcome):
    """Something was spent, not every target is met."""

    __slots__ = ()
    kind = "partial"


class Decline(_Outcome):
    """Nothing is spent and not every target is met; what history knows is still given."""

    __slots__ = ()
    kind = "decline"


Decision = Reuse | Measure | Partial | Decline


def price_of_scarcity(kappa: Decimal, rho_ans: Units) -> Fraction:
    """mu = kappa * rho_ans in units, unrounded: what keeps a scarce question from taking all that is left."""
    return Fraction(kappa) * rho_ans


def available(*, pool: Units, allotment: Units | None, spent: Units, cap: Units | None, bins: int) -> tuple[Limit, ...]:
    """The limit of each of `bins` bins, never negative; today the same for all, the tightest of the three.

    `pool` is rho_ans less what all have spent; `spent` is this analyst's own; None means no such limit, 0 that nothing may be
    spent.
    """
    limits = [Limit(max(0, pool), "contract")]
    if allotment is not None:
        limits.append(Limit(max(0, allotment - spent), "allotment"))
    if cap is not None:
        limits.append(Limit(max(0, cap), "cap"))
    return (_tightest(limits),) * bins


def _tightest(limits: Iterable[Limit]) -> Limit:
    return min(limits, key=lambda limit: limit.units)


def cost(amounts: Iterable[Units], k: int) -> Units:
    """C(x): the sum of the min(k, bins) largest amounts. A person has at most k records, so is in at most k disjoint bins."""
    return sum(nlargest(k, amounts))


def decide(needs: Sequence[Need], limits: Sequence[Limit], terms: Terms) -> Decision:
    """What to spend on each bin, from public state only. ValueError without bins (a question of empty regions needs no decision).

    Feasible where the whole residual costs no more than the tightest limit of a bin that misses something (Theorem 2: exactly
    the residual); scarcity then reads the limit of each bin. Amounts stay within the limit of their bin; where all limits are
    equal, as `available` gives them, the charge stays within it too.
    """
    if not needs:
        raise ValueError("a decision needs at least one bin")
    residuals = tuple(need.residual for need in needs)
    limit = _binding(residuals, limits)
    if not any(residuals):
        return Reuse(residuals, 0, limit, "history", (True,) * len(needs))
    charge = cost(residuals, terms.k)
    if charge <= limit.units:
        return Measure(residuals, charge, limit, "feasible", (True,) * len(needs))
    return _scarce(needs, limits, terms, limit)


def _binding(residuals: Sequence[Units], limits: Sequence[Limit]) -> Limit:
    missing = [limit for residual, limit in zip(residuals, limits, strict=True) if residual]
    return _tightest(missing or limits)


def _scarce(needs: Sequence[Need], limits: Sequence[Limit], terms: Terms, limit: Limit) -> Decision:
    residuals = tuple(need.residual for need in needs)
    amounts = (0,) * len(needs)
    if terms.under_scarcity is UnderScarcity.PARTIAL:
        weights = tuple(need.weight for need in needs)
        amounts = scarcity.allocate(residuals, [each.units for each in limits], weights=weights, k=terms.k, mu=terms.mu)
    met = tuple(amount >= residual for amount, residual in zip(amounts, residuals, strict=True))
    if not any(amounts):
        return Decline(amounts, 0, limit, "scarce", met, _why_nothing(residuals, limits, terms, limit))
    return Partial(amounts, cost(amounts, terms.k), limit, "scarce", met, f"{limit.reason}_exceeded")


def _why_nothing(residuals: Sequence[Units], limits: Sequence[Limit], terms: Terms, limit: Limit) -> str:
    """The price, where something could have been spent and the closed form gave 0; else the limit."""
    priced = terms.under_scarcity is UnderScarcity.PARTIAL and any(_contested(residuals, limits, k=terms.k))
    return PRICE_TOO_HIGH if priced else f"{limit.reason}_exceeded"


def _contested(residuals: Sequence[Units], limits: Sequence[Limit], *, k: int) -> list[bool]:
    """Per bin: it misses more than its share, and the share is not 0, so its amount is up to weight and price."""
    shares = scarcity.shares([limit.units for limit in limits], residuals, k=k)
    return [0 < share < residual for share, residual in zip(shares, residuals, strict=True)]


def unweighed(needs: Sequence[Need], limits: Sequence[Limit], terms: Terms, *, alpha: Decimal) -> tuple[int, ...]:
    """Positions of the bins whose weight the decision hangs on, whether or not a diagnostic of them is held already.

    Empty unless the question is scarce under "partial" with a price (mu > 0) and a weight (alpha > 0) that count for something.
    """
    residuals = tuple(need.residual for need in needs)
    if terms.under_scarcity is not UnderScarcity.PARTIAL or terms.mu <= 0 or alpha <= 0 or not any(residuals):
        return ()
    if cost(residuals, terms.k) <= _binding(residuals, limits).units:
        return ()
    return tuple(position for position, contested in enumerate(_contested(residuals, limits, k=terms.k)) if contested)
