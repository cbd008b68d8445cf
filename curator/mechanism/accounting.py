"""The two accounts of a contract, and (epsilon, delta) for a total of rho by OpenDP's tight conversion, rounded up.

An epsilon is stated of a total only: epsilons of parts do not add up to it. Rho never depends on epsilon, except where a curator
enters (epsilon, delta) and gets the largest rho that keeps it.
"""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, log, nextafter, sqrt

import opendp.prelude as dp

from curator.mechanism import noise
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import MAX_UNITS, UNITS_PER_RHO, Units, allowance_units

DIGITS = 6  # significant digits of an epsilon, rounded up
# Far above this OpenDP's search overflows. The plain bound is within 1 % there, and no such rho protects anybody.
TIGHT_UP_TO = 1000 * UNITS_PER_RHO
_UP = Context(prec=DIGITS, rounding=ROUND_CEILING)


def split(rho_total: Units, xi: Decimal) -> tuple[Units, Units]:
    """(rho_est, rho_ans): floor(xi * rho_total) for diagnostics, the rest for answers."""
    rho_est = allowance_units(Fraction(xi) * Fraction(rho_total, UNITS_PER_RHO))
    return rho_est, rho_total - rho_est


@lru_cache(maxsize=4096)
def epsilon(rho: Units, delta: Decimal) -> Decimal:
    """The epsilon of (epsilon, delta)-DP that `rho` units of zCDP imply, in 6 significant digits, rounded up; 0 for no rho.

    Refused (bad_number) unless 0 < delta < 1. May be 0 for a tiny rho too, where delta alone covers every difference.
    """
    smaller = _float_below(delta)
    if rho <= 0:
        return Decimal(0)
    exact = _tight(rho, smaller) if rho <= TIGHT_UP_TO else _plain(rho, smaller)
    return _UP.plus(Decimal(exact))


def _float_below(delta: Decimal) -> float:
    """The nearest float not above delta: a smaller delta gives a larger epsilon."""
    if not delta.is_finite() or not 0 < delta < 1:
        raise BadInput("bad_number", "delta: expected a number between 0 and 1, both excluded", field="delta")
    nearest = float(delta)
    return nearest if Fraction(nearest) <= Fraction(delta) else nextafter(nearest, 0.0)


def _tight(rho: Units, delta: float) -> float:
    """OpenDP's conversion of a measurement that costs at least `rho` by its own map."""
    scale = noise.scale_for(rho)
    while noise.cost(scale) < Fraction(rho, UNITS_PER_RHO):
        scale = nextafter(scale, 0.0)
    converted = dp.c.make_zCDP_to_approxDP(noise.measurement(scale))
    curve = converted.map(1)  # type: ignore[no-untyped-call]  # OpenDP leaves map untyped
    return float(curve.epsilon(delta))


def _plain(rho: Units, delta: float) -> float:
    """rho + 2 sqrt(rho log(1 / delta)) (Bun, Steinke 2016), widened past any rounding of its own."""
    amount = rho / UNITS_PER_RHO
    return nextafter((amount + 2 * sqrt(amount * -log(delta))) * (1 + 1e-12), inf)


@lru_cache(maxsize=256)
def rho_for(epsilon_asked: Decimal, delta: Decimal) -> Units:
    """The largest rho, in units, whose `epsilon` at this delta is at most the one asked for.

    Refused (bad_number) unless 0 < delta < 1 and epsilon is finite and not negative.
    """
    if not epsilon_asked.is_finite() or epsilon_asked < 0:
        raise BadInput("bad_number", "epsilon: expected a number of 0 or more", field="epsilon")
    low, high = 0, MAX_UNITS
    while low < high:
        middle = (low + high + 1) // 2
        if epsilon(middle, delta) <= epsilon_asked:
            low = middle
        else:
            high = middle - 1
    return low


def short(amount: Decimal) -> str:
    """An epsilon in 3 significant digits, rounded up, as pages show it."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).plus(amount)
    return f"{rounded:f}"
