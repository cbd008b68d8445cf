"""What every allocator is: a pure function of the events so far, that answers each question with an outcome.

`Ruled` is the only implementation: the controller's own decision under a credit rule, a ledger rule, and a weight that is used or
not. `price` looks without changing anything; `observe` takes the event in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from curator.mechanism.comparators.events import ONE, Asked, Bin, Event, Settings
from curator.mechanism.comparators.rules import Credit, Ledger
from curator.mechanism.controller import Decision, Limit, Need, Terms, UnderScarcity, decide, price_of_scarcity
from curator.mechanism.rho import Units
from curator.mechanism.scarcity import optimum
from curator.mechanism.support import residual

NOTHING_MISSING = (0,)


class Kind(StrEnum):
    """Met: every bin reached its target. Partial: spent something, missed a target. Declined: spent nothing, missed one."""

    MET = "met"
    PARTIAL = "partial"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one allocator did with one question: its charge, and per bin the support bought and still missing, in units."""

    query: str
    analyst: str
    kind: Kind
    charge: Units
    amounts: tuple[Units, ...]
    shortfall: tuple[Units, ...]


class Allocator(Protocol):
    """Takes the stream in order; a question gets an outcome, any other event None."""

    @property
    def name(self) -> str:
        """Its name in the table."""
        ...

    def observe(self, event: Event) -> Outcome | None:
        """Take the next event in."""
        ...

    def price(self, asked: Asked) -> Outcome:
        """What the question would get now, were it asked. Changes nothing."""
        ...


class Ruled:
    """An allocator made of rules: sections 5 and 6 of the mechanism with this credit, this ledger, and QIF weights or none.

    A question of many bins goes through the controller's `decide`. A single count, which is nearly every question of a long
    stream, is settled in the few steps that `decide` comes to for one bin: the same residual, limit and closed form. Tests
    compare the two on any stream; `shortcut=False` sends every question through `decide`.
    """

    __slots__ = ("_credit", "_ledger", "_mu", "_shortcut", "_weigh", "name")

    def __init__(self, name: str, *, credit: Credit, ledger: Ledger, weigh: bool, shortcut: bool = True) -> None:
        self.name = name
        self._credit = credit
        self._ledger = ledger
        self._weigh = weigh
        self._shortcut = shortcut
        self._mu = Fraction(0)

    def observe(self, event: Event) -> Outcome | None:
        """Take one event in. Raises ValueError where the stream does not start with its settings or contradicts its frame."""
        if isinstance(event, Asked):
            return self._settle(event)
        self._ledger.observe(event)
        if isinstance(event, Settings):
            self._mu = price_of_scarcity(event.kappa, event.rho_ans)
        return None

    def price(self, asked: Asked) -> Outcome:
        """What the question would get now. Changes nothing."""
        limits = self._ledger.available(asked.analyst, len(asked.bins))
        if self._shortcut and len(asked.bins) == 1:
            return self._counted(asked, asked.bins[0], limits[0].units)
        return self._decided(asked, limits)

    def _counted(self, asked: Asked, only: Bin, limit: Units) -> Outcome:
        missing = residual(only.rho_min, self._credit.held(only))
        if missing <= limit:
            return Outcome(asked.query, asked.analyst, Kind.MET, missing, (missing,), NOTHING_MISSING)
        amount = 0
        if asked.under_scarcity is UnderScarcity.PARTIAL:
            amount = optimum(missing, limit, weight=only.weight if self._weigh else ONE, mu=self._mu)
        kind = Kind.PARTIAL if amount else Kind.DECLINED
        return Outcome(asked.query, asked.analyst, kind, amount, (amount,), (missing - amount,))

    def _settle(self, asked: Asked) -> Outcome:
        outcome = self.price(asked)
        if outcome.charge:
            for asked_bin, amount in zip(asked.bins, outcome.amounts, strict=True):
                self._credit.record(asked_bin, amount)
            self._ledger.charge(asked.analyst, load=outcome.charge, quota=outcome.charge)
        return outcome

    def _decided(self, asked: Asked, limits: Sequence[Limit]) -> Outcome:
        needs = [self._need(b) for b in asked.bins]
        k = self._ledger.settings.k if asked.k is None else asked.k
        return _outcome(asked, needs, decide(needs, limits, Terms(k=k, mu=self._mu, under_scarcity=asked.under_scarcity)))

    def _need(self, asked: Bin) -> Need:
        weight = asked.weight if self._weigh else ONE
        return Need(descriptor=asked.key, rho_min=asked.rho_min, rho_hist=self._credit.held(asked), weight=weight)


def _outcome(asked: Asked, needs: list[Need], decision: Decision) -> Outcome:
    missing = tuple(need.residual - amount for need, amount in zip(needs, decision.amounts, strict=True))
    missed = Kind.PARTIAL if decision.charge else Kind.DECLINED
    return Outcome(
        query=asked.query,
        analyst=asked.analyst,
        kind=Kind.MET if decision.all_met else missed,
        charge=decision.charge,
        amounts=decision.amounts,
        shortfall=missing,
    )
