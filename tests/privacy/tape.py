"""A tape of everything that the mechanism was asked, and a way to force what it answers.

It stands in for `noise.release_all`, the one place where an exact count meets noise, from inside the test's process: the product
itself has no switch that could fix a draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from curator.mechanism import controller, noise
from curator.mechanism.noise import Draw, ExactCount
from curator.services import drawing
from curator.services.drawing import Counts, Fresh


@dataclass(frozen=True, slots=True)
class Call:
    """One group of disjoint bins that was measured: which, for how much each, at which scales, and the price of the group."""

    descriptors: tuple[str, ...]
    amounts: tuple[int, ...]
    scales: tuple[str, ...]
    price: int


@dataclass(slots=True)
class Tape:
    """`calls` in their order; `values` as they were given out, `exact` as they were counted (both a list per call)."""

    forced: Sequence[Sequence[int]] | None = None
    k: int = 1
    calls: list[Call] = field(default_factory=list)
    values: list[list[int]] = field(default_factory=list)
    exact: list[list[int]] = field(default_factory=list)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Take the place of the draw until `patch` is undone."""
        draw, real = drawing.draw, noise.release_all

        def recorded(counts: Counts, amounts: Mapping[str, int]) -> dict[str | None, Fresh]:
            if amounts:
                price = controller.cost(list(amounts.values()), self.k)
                scales = tuple(repr(noise.scale_for(rho)) for rho in amounts.values())
                self.calls.append(Call(tuple(amounts), tuple(amounts.values()), scales, price))
            return draw(counts, amounts)

        def released(counts: Sequence[ExactCount], amounts: Sequence[int]) -> list[Draw]:
            if not counts:
                return []
            draws = self._force(real(counts, amounts))
            self.exact.append([count._reveal() for count in counts])
            self.values.append([each.value for each in draws])
            return draws

        patch.setattr(drawing, "draw", recorded)
        patch.setattr(noise, "release_all", released)

    def _force(self, draws: list[Draw]) -> list[Draw]:
        """The values recorded at this place of the other tape; the draws as they are where it has none that fit."""
        place = len(self.values)
        if self.forced is None or place >= len(self.forced) or len(self.forced[place]) != len(draws):
            return draws
        return [Draw(value, each.scale) for value, each in zip(self.forced[place], draws, strict=True)]


def used(one: Tape, other: Tape) -> list[Fraction]:
    """Of each call, which share of its price it would have taken to hide exactly what differs between two data sets.

    A count that a person moves by d costs d² times what was drawn for it; at most 1 says that the declared sensitivity covers it.
    """
    return [
        Fraction(sum(rho * (a - b) ** 2 for rho, a, b in zip(call.amounts, mine, theirs, strict=True)), call.price)
        for call, mine, theirs in zip(one.calls, one.exact, other.exact, strict=True)
    ]
