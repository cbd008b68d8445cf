"""A question tried out on made-up people: what an answer would look like, with the noise that a real one would carry.

Nothing here comes near a record, a release or a balance. The people are made up from the public schema; the noise on their
counts is drawn as for an answer from scratch, by OpenDP, and thrown away. Because the people are made up, what a real page must
never show can be shown beside it: the count without noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from curator.laboratory.people import PEOPLE, made_up
from curator.language import Ask, Bin, bins_of
from curator.mechanism import accuracy
from curator.mechanism.accuracy import Relative, Target
from curator.mechanism.noise import Draw, ExactCount, release_all
from curator.mechanism.rho import Units
from curator.mechanism.schema import Schema

BINS = 60  # of a histogram are tried: a page, and bounded work
DRAWS = 20  # of a count: enough to see how far noise goes


@dataclass(frozen=True, slots=True)
class Tried:
    """One bin: how many made-up people are in it, and the noisy value with its bound. `value` None: too small for a share."""

    label: tuple[str, ...]
    count: int
    empty: bool
    value: int | None
    bound: int | None

    @property
    def low(self) -> int | None:
        """The lower end of the interval."""
        return None if self.value is None or self.bound is None else self.value - self.bound

    @property
    def high(self) -> int | None:
        """The upper end of the interval."""
        return None if self.value is None or self.bound is None else self.value + self.bound

    @property
    def off(self) -> int | None:
        """How far the noise took the value from the count."""
        return None if self.value is None else self.value - self.count

    @property
    def certain(self) -> bool:
        """Whether there is no noise: 0 by the schema, or no value at all."""
        return self.empty or self.value is None

    @property
    def within(self) -> bool:
        """Whether the interval holds the count."""
        return self.off is not None and self.bound is not None and abs(self.off) <= self.bound


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A question on made-up people; `draws`: a count drawn again and again, which a real one never is."""

    people: int
    bins: int
    tried: tuple[Tried, ...]
    draws: tuple[Tried, ...]
    confidence: Decimal

    @property
    def histogram(self) -> bool:
        """Whether there are groups."""
        return bool(self.tried[0].label)

    @property
    def draws_within(self) -> int:
        """How many of the draws came within the bound."""
        return sum(draw.within for draw in self.draws)

    @property
    def tried_within(self) -> int:
        """How many of the bins came within the bound."""
        return sum(tried.empty or tried.within for tried in self.tried)


def rehearse(ask: Ask, schema: Schema) -> Rehearsal:
    """Try `ask` on the made-up people of `schema`. Refused as asking would be: bad bins, a region too large.

    The work is bounded: PEOPLE people, at most BINS bins and as many draws, whatever is asked.
    """
    bins = bins_of(ask.question, schema)
    trials = [_Trial(bin_, _count(bin_, schema), len(bins)) for bin_ in bins[:BINS]]
    tried = _noisy(trials, ask.target)
    again = _noisy(trials * (DRAWS - 1), ask.target) if len(bins) == 1 and not tried[0].certain else ()
    return Rehearsal(PEOPLE, len(bins), tried, (*tried, *again) if again else (), accuracy.confidence_of(ask.target))


@dataclass(frozen=True, slots=True)
class _Trial:
    """A bin of `bins`, and how many made-up people are in it."""

    bin: Bin
    count: int
    bins: int

    def need(self, target: Target) -> tuple[int | None, Units] | None:
        """The bound and what it needs from scratch; None where there is nothing to draw.

        A share goes by the made-up count itself, where a real question takes a diagnostic first.
        """
        if self.bin.region.is_empty:
            return None
        if isinstance(target, Relative):
            return accuracy.relative_need(target, self.count)
        rho_min = accuracy.rho_min(target, bins=self.bins)
        return accuracy.bound_reached(rho_min, target, self.bins), rho_min


def _count(bin_: Bin, schema: Schema) -> int:
    return sum(map(bin_.region.contains, made_up(schema, bin_.region.columns)))


def _noisy(trials: Sequence[_Trial], target: Target) -> tuple[Tried, ...]:
    """Each trial with fresh noise; trials of equal needs are drawn together."""
    needs = [trial.need(target) for trial in trials]
    counts = [ExactCount(trial.count) for trial, need in zip(trials, needs, strict=True) if need]
    draws = iter(release_all(counts, [need[1] for need in needs if need]))
    return tuple(_tried(trial, need, next(draws) if need else None) for trial, need in zip(trials, needs, strict=True))


def _tried(trial: _Trial, need: tuple[int | None, Units] | None, draw: Draw | None) -> Tried:
    if trial.bin.region.is_empty:
        return Tried(trial.bin.label, 0, True, 0, 0)
    return Tried(trial.bin.label, trial.count, False, draw.value if draw else None, need[0] if need else None)
