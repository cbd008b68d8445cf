"""The Query Influence Factor: a weight of difficulty (not of importance) from a noisy diagnostic count (section 5 of the paper).

QIF = (v + beta b) / (1 + m_LB) and w = QIF ** alpha, all from the released diagnostic m of a region and N of the whole
population. v is taken at the lower bound m_LB, not at m. The weight then never rises with the size of a group as long as
beta * sigma_d >= 1 (`falls_with_size`), which the default settings give for every rho_total up to 1,000.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

from curator.mechanism.rho import UNITS_PER_RHO, Units

Z_ONE_SIDED = -NormalDist().inv_cdf(0.05)  # 1.6448536...: 95 %, one-sided
LIGHTEST, HEAVIEST = Decimal("0.001"), Decimal(1000)
_STEP = Decimal("0.000001")
UNWEIGHED = Decimal("1.000000")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One released discrete Gaussian count `value`, drawn for `rho` units of the est account."""

    value: int
    rho: Units

    @property
    def sigma(self) -> float:
        """Standard deviation of its noise, in people: 1 / sqrt(2 rho)."""
        return sqrt(UNITS_PER_RHO / (2 * self.rho))

    def lower_bound(self, z: float = Z_ONE_SIDED) -> float:
        """m_LB = max(0, m - z sigma): the count is at least this, at the one-sided confidence of z."""
        return max(0.0, self.value - z * self.sigma)


def quotient(variability: float, instability: float, lower_bound: float, *, beta: Decimal) -> float:
    """(v + beta b) / g(m_LB) with g(m) = 1 + m (equation for QIF_i in section 5)."""
    return (variability + float(beta) * instability) / (1.0 + lower_bound)


def qif(diagnostic: Diagnostic, population: Diagnostic, *, beta: Decimal) -> float:
    """The factor of one region; `population` is the diagnostic of everybody in the same dataset version."""
    size = max(1, population.value)
    prevalence = min(1.0, max(0.0, diagnostic.value / size))
    lower = diagnostic.lower_bound()
    return quotient(lower * (1.0 - prevalence), diagnostic.sigma, lower, beta=beta)


def weight(qif: float, alpha: Decimal) -> Decimal:
    """w = QIF ** alpha, clipped to [0.001, 1000] and fixed to 6 decimals: the form in which it is stored and used."""
    if alpha == 0:
        return Decimal("1.000000")
    exponent = float(alpha) * log(qif) if qif > 0 else float("-inf")
    if exponent >= log(HEAVIEST):  # compared as logarithms: the power itself may overflow
        return HEAVIEST.quantize(_STEP)
    if exponent <= log(LIGHTEST):
        return LIGHTEST.quantize(_STEP)
    return Decimal(qif ** float(alpha)).quantize(_STEP, ROUND_HALF_EVEN)


def weight_of(diagnostic: Diagnostic | None, population: Diagnostic | None, *, alpha: Decimal, beta: Decimal) -> Decimal:
    """The weight of a region from what is held of it and of everybody; 1 where either was never measured."""
    if diagnostic is None or population is None:
        return UNWEIGHED
    return weight(qif(diagnostic, population, beta=beta), alpha)


def falls_with_size(*, rho_d: Units, beta: Decimal) -> bool:
    """Whether these settings promise that a larger group never weighs more: beta * sigma_d >= 1, decided exactly.

    Past it (a very dear diagnostic, or beta near 0) v outweighs beta b for groups of a few people, and w first rises with size.
    """
    return Fraction(beta) ** 2 * UNITS_PER_RHO >= 2 * rho_d


def est_share(rho_est: Units, allotments: Mapping[str, Units | None], analyst: str) -> Units:
    """The most of `rho_est` that diagnostics caused by `analyst` may cost in all, rounded down; 0 for somebody not listed.

    An allotment of 0 has no share. The others share in proportion to their allotments; if one of them has none (None, no limit
    of their own) there is no proportion, and those others share equally.
    """
    takers = {name: allotment for name, allotment in allotments.items() if allotment != 0}
    if analyst not in takers:
        return 0
    amounts = [allotment for allotment in takers.values() if allotment is not None]
    own = takers[analyst]
    if own is None or len(amounts) < len(takers):
        return rho_est // len(takers)
    return rho_est * own // sum(amounts)
