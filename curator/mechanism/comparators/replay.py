"""Replays a public stream through the allocators, all at once or event by event, and adds up what each did.

`replay` is for a finished stream. `Replay` goes on for as long as a contract lives: `advance` takes only the new events,
`preview` says what a question would get without asking it, `report` adds up. All amounts are whole units; ratios are exact
fractions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from curator.mechanism.comparators.events import Asked, Event, Frame, Settings, frame_of
from curator.mechanism.comparators.offline import Optimum, Thresholds
from curator.mechanism.comparators.protocol import Kind, Outcome
from curator.mechanism.comparators.series import Curve, Series, Shortfall, Tally
from curator.mechanism.comparators.table import ALLOCATORS, BUDGET_PARTITION, STATE_AGNOSTIC, Factory
from curator.mechanism.rho import Units


@dataclass(frozen=True, slots=True)
class Account:
    """What one allocator did, in all and by analyst, and what it saved against `budget_partition` (below 0: it spent more).

    `ratio_to_optimum` = its spend / the least that meets every threshold; None where the pool cannot pay that least, it is
    zero, or it is unknown. `missed` is the shortfall of every missed bin with its weight.
    """

    name: str
    total: Tally
    by_analyst: Mapping[str, Tally]
    saved: Units | None
    saved_by_analyst: Mapping[str, Units]
    ratio_to_optimum: Fraction | None
    missed: tuple[Shortfall, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All accounts of a stream. `overhead` = 1 + rho_est / optimum (Proposition 4); `break_even_share` is E.4's.

    The break-even share is the share of the from-scratch spend that reuse must save before the diagnostic account pays for
    itself: rho_est / sum of rho_min from scratch. None where pricing from scratch met scarcity anywhere, or the sum is zero.
    """

    accounts: Mapping[str, Account]
    optimum: Optimum
    rho_est: Units
    overhead: Fraction | None
    break_even_share: Fraction | None


class Replay:
    """A stream under way. `frame` states what must be known of the whole of it (see `Frame`)."""

    def __init__(self, frame: Frame, allocators: Mapping[str, Factory] = ALLOCATORS) -> None:
        self._allocators = {name: factory(frame) for name, factory in allocators.items()}
        self._series = {name: Series() for name in allocators}
        self._thresholds = Thresholds()
        self._settings: Settings | None = None
        self._analysts: list[str] = []
        self._positions: dict[str, int] = {}
        self._optimum: tuple[tuple[int, Units], Optimum] | None = None
        self.least_spends: list[Units] = []  # after each question, while the stream is scalar: the least that meets all so far

    def advance(self, events: Iterable[Event]) -> None:
        """Take these events in, in order. ValueError for a stream that breaks its frame or has no settings first."""
        for event in events:
            if isinstance(event, Asked):
                self._ask(event)
            else:
                self._note(event)

    def _note(self, event: Event) -> None:
        for allocator in self._allocators.values():
            allocator.observe(event)
        if isinstance(event, Settings):
            self._settings = event

    def _ask(self, asked: Asked) -> None:
        for name, allocator in self._allocators.items():
            outcome = allocator.observe(asked)
            if outcome is not None:
                self._series[name].add(asked, outcome)
        self._positions[asked.query] = len(self._analysts)
        self._analysts.append(asked.analyst)
        self._thresholds.add(asked)
        least = self._thresholds.least_spend
        if least is not None:
            self.least_spends.append(least)

    @property
    def pool(self) -> Units:
        """rho_ans in force. Raises ValueError before the settings."""
        return self._required().rho_ans

    @property
    def analysts(self) -> tuple[str, ...]:
        """Everybody who has asked something so far, by name."""
        return tuple(sorted({name for series in self._series.values() for name in series.by_analyst}))

    def preview(self, asked: Asked) -> dict[str, Outcome]:
        """What each allocator would do with this question now. Changes nothing."""
        return {name: allocator.price(asked) for name, allocator in self._allocators.items()}

    def outcome(self, query: str) -> dict[str, tuple[Kind, Units]] | None:
        """Outcome and charge by allocator of the question with this id (the last one of that id); None if it was not asked."""
        position = self._positions.get(query)
        if position is None:
            return None
        return {name: series.at(position) for name, series in self._series.items()}

    def tally(self, name: str, analyst: str | None = None) -> Tally:
        """One allocator's totals so far, of everybody or of one analyst; costs nothing, unlike a report."""
        series = self._series[name]
        return replace(series.total if analyst is None else series.by_analyst.get(analyst, Tally()))

    def curves(self, analyst: str | None = None) -> dict[str, Curve]:
        """Cumulative spend and thresholds met by allocator, of everybody or of one analyst's questions."""
        positions = None if analyst is None else [i for i, who in enumerate(self._analysts) if who == analyst]
        return {name: series.curve(positions) for name, series in self._series.items()}

    def optimum(self) -> Optimum:
        """The offline optimum of the stream so far; computed once per state, as the knapsack can take a second."""
        settings = self._required()
        state = (self._thresholds.asked, settings.rho_ans)
        if self._optimum is None or self._optimum[0] != state:
            self._optimum = state, self._thresholds.optimum(settings.rho_ans)
        return self._optimum[1]

    def report(self) -> Report:
        """Everything added up so far. Raises ValueError before the settings."""
        settings, optimum = self._required(), self.optimum()
        least = _payable(optimum, settings)
        return Report(
            accounts={name: self._account(name, least) for name in self._series},
            optimum=optimum,
            rho_est=settings.rho_est,
            overhead=None if least is None else 1 + Fraction(settings.rho_est, least),
            break_even_share=_break_even(settings.rho_est, self._series.get(STATE_AGNOSTIC)),
        )

    def _account(self, name: str, least: Units | None) -> Account:
        series, base = self._series[name], self._series.get(BUDGET_PARTITION)
        return Account(
            name=name,
            total=replace(series.total),
            by_analyst={analyst: replace(tally) for analyst, tally in series.by_analyst.items()},
            saved=None if base is None else base.total.spent - series.total.spent,
            saved_by_analyst={} if base is None else _saved(base, series),
            ratio_to_optimum=None if least is None else Fraction(series.total.spent, least),
            missed=tuple(series.shortfalls),
        )

    def _required(self) -> Settings:
        if self._settings is None:
            raise ValueError("a stream starts with its settings")
        return self._settings


def _saved(base: Series, series: Series) -> dict[str, Units]:
    return {analyst: tally.spent - series.by_analyst[analyst].spent for analyst, tally in base.by_analyst.items()}


def _payable(optimum: Optimum, settings: Settings) -> Units | None:
    """The least spend that meets everything, where the pool can pay it and it is not zero."""
    least = optimum.least_spend
    return least if least is not None and 0 < least <= settings.rho_ans else None


def _break_even(rho_est: Units, from_scratch: Series | None) -> Fraction | None:
    if from_scratch is None or from_scratch.total.met < from_scratch.total.asked or not from_scratch.total.spent:
        return None
    return Fraction(rho_est, from_scratch.total.spent)


def replay(events: Sequence[Event], allocators: Mapping[str, Factory] = ALLOCATORS) -> Report:
    """Replay a finished stream and report. Raises ValueError where it does not start with its settings."""
    under_way = Replay(frame_of(events), allocators)
    under_way.advance(events)
    return under_way.report()
