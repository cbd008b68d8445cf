"""Discrete Gaussian noise (Canonne, Kamath, Steinke 2020) from OpenDP, and the wrapper that exact counts travel in.

Noise is drawn at a scale whose cost, as OpenDP's own privacy map reports it, is at most the units charged, compared as exact
fractions: a scale computed in floats alone overspends in half of all cases. A measurement is never used in another process
than the one that built it. Nothing after the draw can fail because of its value: a sum past 64 bits saturates.
"""

import operator
import os
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
        """For `release` alone."""
        return self.__hidden

    def __repr__(self) -> str:
        return "<exact count>"

    def __format__(self, specification: str) -> str:
        return "<exact count>"

    def _refuse(self, *_: object) -> Never:
        raise TypeError("an exact count is not to be compared, converted, copied or stored")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refuse


@dataclass(frozen=True, slots=True)
class Draw:
    """One released value and the scale it was drawn at (repr of the float given to OpenDP)."""

    value: int
    scale: str


def measurement(scale: float) -> dp.Measurement:
    """A fresh discrete Gaussian of sensitivity 1 on counts of 64 bits, for this process only."""
    return dp.m.make_gaussian(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=scale)


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
    scale = sqrt(UNITS_PER_RHO / (2 * rho))
    while 2 * Fraction(scale) ** 2 * allowed > 1:
        scale = nextafter(scale, 0.0)
    while cost(scale) > allowed:
        scale = nextafter(scale, inf)
    return scale


def release(count: ExactCount, rho: Units) -> Draw:
    """One noisy value of `count` for `rho` units. Never clipped: it may be negative."""
    scale = scale_for(rho)
    return Draw(int(_measurement(scale, os.getpid())(count._reveal())), repr(scale))
