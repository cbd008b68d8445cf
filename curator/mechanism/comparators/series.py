"""What one allocator did, question by question, kept small: nine bytes per question, however long the stream.

Totals and curves of any analyst are read from it, so nothing has to be decided twice. Shortfalls are kept for missed bins only.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from curator.mechanism.comparators.events import Asked
from curator.mechanism.comparators.protocol import Kind, Outcome
from curator.mechanism.rho import Units

KINDS = tuple(Kind)
CODES = {kind: code for code, kind in enumerate(KINDS)}


@dataclass(slots=True)
class Tally:
    """Spend in units and questions by outcome."""

    spent: Units = 0
    met: int = 0
    partial: int = 0
    declined: int = 0

    def add(self, kind: Kind, charge: Units) -> None:
        """Count one question."""
        self.spent += charge
        if kind is Kind.MET:
            self.met += 1
        elif kind is Kind.PARTIAL:
            self.partial += 1
        else:
            self.declined += 1

    @property
    def asked(self) -> int:
        """All questions counted."""
        return self.met + self.partial + self.declined


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One bin whose target was missed: how difficult it was (its weight) and what support it was left without, in units."""

    position: int
    analyst: str
    weight: Decimal
    missing: Units


@dataclass(frozen=True, slots=True)
class Curve:
    """After each question (of all, or of one analyst): its position, the spend so far in units, the questions met so far."""

    positions: tuple[int, ...]
    spent: tuple[Units, ...]
    met: tuple[int, ...]

    def thinned(self, points: int) -> "Curve":
        """At most `points` (2 or more) of the points, evenly, the first and last among them: what a chart can show."""
        last = len(self.positions) - 1
        if last < points:
            return self
        keep = [i * last // (points - 1) for i in range(points)]
        return Curve(
            positions=tuple(self.positions[i] for i in keep),
            spent=tuple(self.spent[i] for i in keep),
            met=tuple(self.met[i] for i in keep),
        )


class Series:
    """The outcomes of one allocator, in order."""

    __slots__ = ("_charges", "_kinds", "by_analyst", "shortfalls", "total")

    def __init__(self) -> None:
        self._kinds = array("b")
        self._charges = array("q")
        self.total = Tally()
        self.by_analyst: dict[str, Tally] = {}
        self.shortfalls: list[Shortfall] = []

    def add(self, asked: Asked, outcome: Outcome) -> None:
        """Take in what was done with the next question."""
        if outcome.kind is not Kind.MET:
            self._miss(asked, outcome)
        kind, charge = outcome.kind, outcome.charge
        self._kinds.append(CODES[kind])
        self._charges.append(charge)
        self.total.add(kind, charge)
        tally = self.by_analyst.get(outcome.analyst)
        if tally is None:
            tally = self.by_analyst[outcome.analyst] = Tally()
        tally.add(kind, charge)

    def _miss(self, asked: Asked, outcome: Outcome) -> None:
        position = len(self._kinds)
        for asked_bin, missing in zip(asked.bins, outcome.shortfall, strict=True):
            if missing:
                self.shortfalls.append(Shortfall(position, asked.analyst, asked_bin.weight, missing))

    def at(self, position: int) -> tuple[Kind, Units]:
        """Outcome and charge of the question at this position (0 = first asked)."""
        return KINDS[self._kinds[position]], self._charges[position]

    def curve(self, positions: Iterable[int] | None = None) -> Curve:
        """The running totals over these positions, in order; over the whole stream without."""
        taken = tuple(range(len(self._kinds)) if positions is None else positions)
        spent, met, running = [], [], Tally()
        for position in taken:
            running.add(*self.at(position))
            spent.append(running.spent)
            met.append(running.met)
        return Curve(positions=taken, spent=tuple(spent), met=tuple(met))
