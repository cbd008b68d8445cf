"""Discrete Gaussian noise (Canonne, Kamath, Steinke 2020) from OpenDP, and the wrapper that exact counts travel in.

Noise is drawn at a scale whose cost, as OpenDP's own privacy map reports it, is at most the units charged, compared as exact
fractions: a scale computed in floats alone overspends in half of all cases. A measurement is never used in another process
than the one that built it. Nothing after the draw can fail because of its value: a sum past 64 bits saturates.
"""

import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter, sqrt
from typing import Never, SupportsIndex, final

import opendp.prelude as dp

from curator.mechanism.rho import UNITS_PER_RHO, Units

dp.enable_features("contrib")

LARGEST_COUNT = 2**62  # leaves room for any noise in 64 bits


@final
class ExactCount:
    """An exact count on its way from the engine to the draw. It cannot be shown, compared, converted, copied or pickled."""

    __slots__ = ("__hidden",)

    def __init__(self, value: SupportsIndex) -> None:
        hidden = operator.index(value)
        if not 0 <= hidden <= LARGEST_COUNT:
            raise ValueError("an exact count is a whole number from 0 to 2**62")
        self.__hidden = hidden

    def _reveal(self) -> int:
        """For `release_all` alone."""
        return self.__hidden

    def __repr__(self) -> str:
        return "<exact count>"

    def __format__(self, specification: str) -> str:
        return "<exact count>"

    def _refuse(self, *_: object) -> Never:
        raise TypeError("an exact count is not to be compared, converted, copied or stored")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = __getstate__ = __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refuse


@dataclass(frozen=True, slots=True)
class Draw:
    """One released value and the scale it was drawn at (repr of the float given to OpenDP)."""

    value: int
    scale: str


def measurement(scale: float) -> dp.Measurement:
    """A fresh discrete Gaussian on vectors of 64-bit counts, for this process only.

    The noise of each element is independent. Its price is that of one count that a person can move by 1; over disjoint bins,
    which a person can move only one each of their k records, it is the controller's C that adds the elements up.
    """
    counts = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_gaussian(counts, dp.l2_distance(T="i64"), scale=scale)


@lru_cache(maxsize=256)
def _measurement(scale: float, process: int) -> dp.Measurement:
    return measurement(scale)


def cost(scale: float) -> Fraction:
    """rho of one count of sensitivity 1 drawn at `scale`, as OpenDP's privacy map reports it, exactly."""
    return Fraction(measurement(scale).map(1))  # type: ignore[no-untyped-call]  # OpenDP leaves map untyped


@lru_cache(maxsize=4096)
def scale_for(rho: Units) -> float:
    """The least scale, hence least noise, that costs at most `rho` units (>= 1) by OpenDP's own map."""
    if rho < 1:
        raise ValueError("noise costs at least one unit")
    allowed = Fraction(rho, UNITS_PER_RHO)
    scale = nextafter(sqrt(UNITS_PER_RHO / (2 * rho)), 0.0)
    while 2 * Fraction(scale) ** 2 * allowed < 1:  # dearer even in exact arithmetic: no need to ask OpenDP, which rounds up
        scale = nextafter(scale, inf)
    while cost(scale) > allowed:
        scale = nextafter(scale, inf)
    return scale


def release(count: ExactCount, rho: Units) -> Draw:
    """One noisy value of `count` for `rho` units. Never clipped: it may be negative."""
    return release_all([count], [rho])[0]


def release_all(counts: Sequence[ExactCount], amounts: Sequence[Units]) -> list[Draw]:
    """One noisy value of each count, for its own amount of units (>= 1). Equal amounts are drawn in one go, ten times faster."""
    places: dict[Units, list[int]] = {}
    for place, (_, rho) in enumerate(zip(counts, amounts, strict=True)):
        places.setdefault(rho, []).append(place)
    draws: dict[int, Draw] = {}
    for rho, group in places.items():
        scale = scale_for(rho)
        values = _measurement(scale, os.getpid())([counts[place]._reveal() for place in group])
        draws.update((place, Draw(int(value), repr(scale))) for place, value in zip(group, values, strict=True))
    return [draws[place] for place in range(len(counts))]
