"""The decision on one question from the standing of its contract, or the diagnostics that are wanted before it.

Rules of meaning live in `curator.mechanism`; here they meet the rows. No exact count is in sight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from curator.mechanism import accuracy, controller, qif
from curator.mechanism.accuracy import Relative
from curator.mechanism.controller import UNPRICED, Decision, Limit, Need, Terms
from curator.mechanism.rho import Units
from curator.services.pending import Cell, Pending
from curator.services.standing import Standing
from curator.services.versions import Version

CONTRACT_NOT_OPEN = "contract_not_open"
NO_DIAGNOSTIC = "no_diagnostic"
POPULATION_TOO_SMALL = "population_too_small"


@dataclass(frozen=True, slots=True)
class Part:
    """One bin as it was decided; `rho_min` is None where no price could be told."""

    cell: Cell
    rho_min: Units | None
    rho_hist: Units
    weight: Decimal
    rho_new: Units
    met: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided on a question, with every operand."""

    pending: Pending
    kind: str
    regime: str
    reason: str
    limit: Limit
    terms: Terms
    load: Units
    quota: Units
    parts: tuple[Part, ...]
    unweighed: tuple[int, ...] = ()  # bins that went without the weight they should have had: no diagnostic could be paid


@dataclass(frozen=True, slots=True)
class Wanted:
    """Diagnostics to take before this question can be decided: of some of its bins, and of the whole population."""

    pending: Pending
    digests: tuple[str, ...]
    population: bool


def consider(pending: Pending, version: Version, standing: Standing, *, insist: bool) -> Verdict | Wanted:
    """Decide from `standing`, or say which diagnostics that takes; with `insist` decide with those that are held."""
    if not pending.counted:
        return _nothing_to_count(pending, standing)
    unsized = _unsized(pending, standing)
    if unsized and standing.is_open and not insist:
        return Wanted(pending, unsized, population=False)
    prices = [price(pending, cell, standing.diagnostics.get(digest)) for cell, digest in pending.counted]
    known = [each for each in prices if each is not None]
    if len(known) < len(prices):
        return _unpriced(pending, standing, prices, NO_DIAGNOSTIC if unsized else POPULATION_TOO_SMALL)
    return _priced(pending, version, standing, known, insist=insist)


def _unsized(pending: Pending, standing: Standing) -> tuple[str, ...]:
    """The descriptors whose size a relative target needs and nobody has measured."""
    if not isinstance(pending.target, Relative):
        return ()
    return tuple(digest for _, digest in pending.counted if digest not in standing.diagnostics)


def price(pending: Pending, cell: Cell, diagnostic: qif.Diagnostic | None) -> Units | None:
    """rho_min of one bin; None for a relative target without a diagnostic, or of a group too small to promise anything."""
    if not isinstance(pending.target, Relative):
        return cell.rho_min
    if diagnostic is None:
        return None
    lower = diagnostic.lower_bound(accuracy.relative_z_lb(pending.target.confidence))
    need = accuracy.relative_need(pending.target, lower)
    return None if need is None else need[1]


def _priced(pending: Pending, version: Version, standing: Standing, prices: Sequence[Units], *, insist: bool) -> Verdict | Wanted:
    needs = _needs(pending, version, standing, prices)
    limits = standing.limits(pending.analyst_id, bins=len(needs))
    terms = standing.terms(pending.under_scarcity)
    hanging = controller.unweighed(needs, limits, terms, alpha=standing.contract.alpha)
    wanted = _wanted(pending, version, standing, hanging)
    if wanted and not insist:
        return wanted
    without = _without(pending, version, standing, hanging)
    return _verdict(pending, standing, needs, controller.decide(needs, limits, terms), terms, without)


def _needs(pending: Pending, version: Version, standing: Standing, prices: Sequence[Units]) -> list[Need]:
    return [
        Need(digest, price, standing.credit(digest).held.rho_hist, _weight(digest, version, standing))
        for (_, digest), price in zip(pending.counted, prices, strict=True)
    ]


def _weight(digest: str, version: Version, standing: Standing) -> Decimal:
    diagnostic = standing.diagnostics.get(digest)
    population = standing.diagnostics.get(version.everybody_digest)
    return qif.weight_of(diagnostic, population, alpha=standing.contract.alpha, beta=standing.contract.beta)


def _wanted(pending: Pending, version: Version, standing: Standing, hanging: Sequence[int]) -> Wanted | None:
    digests = [pending.counted[position][1] for position in hanging]
    unknown = tuple(digest for digest in digests if digest not in standing.diagnostics)
    population = bool(digests) and version.everybody_digest not in standing.diagnostics
    return Wanted(pending, unknown, population) if unknown or population else None


def _without(pending: Pending, version: Version, standing: Standing, hanging: Sequence[int]) -> tuple[int, ...]:
    known = version.everybody_digest in standing.diagnostics
    cells = [pending.counted[position] for position in hanging]
    return tuple(cell.position for cell, digest in cells if not known or digest not in standing.diagnostics)


def _verdict(
    pending: Pending, standing: Standing, needs: Sequence[Need], decision: Decision, terms: Terms, without: tuple[int, ...]
) -> Verdict:
    declined = isinstance(decision, controller.Decline)
    parts = tuple(
        Part(cell, need.rho_min, need.rho_hist, need.weight, amount, met)
        for (cell, _), need, amount, met in zip(pending.counted, needs, decision.amounts, decision.met, strict=True)
    )
    return Verdict(
        pending=pending, kind=decision.kind, regime=decision.regime,
        reason=decision.reason if standing.is_open or not declined else CONTRACT_NOT_OPEN,
        limit=decision.limit, terms=terms, load=decision.load, quota=decision.quota, parts=parts, unweighed=without,
    )  # fmt: skip


def _unpriced(pending: Pending, standing: Standing, prices: Sequence[Units | None], reason: str) -> Verdict:
    """A relative target that cannot be promised: nothing is spent, history is given as far as it reaches."""
    parts = tuple(
        Part(cell, price, standing.credit(digest).held.rho_hist, qif.UNWEIGHED, 0, met=False)
        for (cell, digest), price in zip(pending.counted, prices, strict=True)
    )
    why = reason if standing.is_open else CONTRACT_NOT_OPEN
    return _without_decision(pending, standing, kind="decline", regime=UNPRICED, reason=why, parts=parts)


def _nothing_to_count(pending: Pending, standing: Standing) -> Verdict:
    """The schema alone says that nobody can be there: 0, for nothing."""
    return _without_decision(pending, standing, kind="reuse", regime="history", reason="", parts=())


def _without_decision(
    pending: Pending, standing: Standing, *, kind: str, regime: str, reason: str, parts: tuple[Part, ...]
) -> Verdict:
    return Verdict(
        pending=pending, kind=kind, regime=regime, reason=reason, limit=standing.limits(pending.analyst_id, bins=1)[0],
        terms=standing.terms(pending.under_scarcity), load=0, quota=0, parts=parts,
    )  # fmt: skip
