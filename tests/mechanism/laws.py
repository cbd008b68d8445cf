"""Theory that the noise is held against: the discrete Gaussian law, and p-values of samples under it."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binomtest, chi2

from curator.mechanism.rho import UNITS_PER_RHO

Floats = NDArray[np.float64]


def law(sigma2: float) -> tuple[NDArray[np.int64], Floats]:
    """Support (to 12 sigma either side) and probabilities of the discrete Gaussian with parameter sigma2."""
    reach = int(12 * sqrt(sigma2)) + 3
    support = np.arange(-reach, reach + 1)
    mass = np.exp(-(support.astype(float) ** 2) / (2 * sigma2))
    return support, mass / mass.sum()


def moments(sigma2: float) -> tuple[float, float]:
    """Variance and fourth moment of that law."""
    support, mass = law(sigma2)
    return float((mass * support**2).sum()), float((mass * support.astype(float) ** 4).sum())


def chi_square(noise: Sequence[int], sigma2: float) -> float:
    """p-value of `noise` against the law, in cells of about 1 % each (fewer where single values weigh more)."""
    support, mass = law(sigma2)
    cell = np.minimum((np.cumsum(mass) - mass / 2) * 100, 99).astype(int)
    _, cell = np.unique(cell, return_inverse=True)
    expected = np.bincount(cell, weights=mass) * len(noise)
    inside = np.clip(np.asarray(noise), support[0], support[-1]) - support[0]
    observed = np.bincount(cell[inside], minlength=len(expected))
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def too_little(noise: Sequence[int], sigma2: float) -> float:
    """One-sided p-value that the variance of `noise` is as low as it is, under the law."""
    variance, fourth = moments(sigma2)
    measured = float((np.asarray(noise, dtype=float) ** 2).mean())
    return NormalDist().cdf((measured - variance) / sqrt((fourth - variance**2) / len(noise)))


def off_centre(noise: Sequence[int], sigma2: float) -> float:
    """Two-sided p-value of the mean of `noise` under the law."""
    variance, _ = moments(sigma2)
    return 2 * NormalDist().cdf(-abs(float(np.mean(noise))) / sqrt(variance / len(noise)))


def lopsided(noise: Sequence[int]) -> float:
    """Two-sided p-value that values above and below 0 are as unequal in number as they are, under a symmetric law."""
    above, below = sum(value > 0 for value in noise), sum(value < 0 for value in noise)
    return float(binomtest(above, above + below).pvalue) if above + below else 1.0


def tail(noise: Sequence[int], sigma2: float) -> float:
    """Two-sided p-value of the number of values past 3 sigma, under the law."""
    support, mass = law(sigma2)
    beyond = sum(abs(value) > 3 * sqrt(sigma2) for value in noise)
    return float(binomtest(beyond, len(noise), float(mass[np.abs(support) > 3 * sqrt(sigma2)].sum())).pvalue)


def fused_coverage(parts: Sequence[int], bound: int) -> float:
    """P(|fused value, shown| <= bound) for one or two releases of so many units of a true 0, by summing their laws.

    A fused value exactly on the half past `bound` counts as a miss, whichever way it is rounded.
    """
    first, second = law(UNITS_PER_RHO / (2 * parts[0])), law(UNITS_PER_RHO / (2 * parts[-1]))
    if len(parts) == 1:
        return float(first[1][np.abs(first[0]) <= bound].sum())
    below = np.concatenate([[0.0], np.cumsum(second[1])])
    reach = (bound + 0.5) * sum(parts)
    low = np.floor((-reach - parts[0] * first[0].astype(float)) / parts[1] + 1e-9) + 1 - second[0][0]
    high = np.ceil((reach - parts[0] * first[0].astype(float)) / parts[1] - 1e-9) - second[0][0]
    inside = [below[np.clip(edge, 0, len(second[0])).astype(int)] for edge in (low, high)]
    return float((first[1] * np.maximum(0, inside[1] - inside[0])).sum())


def interval(hits: int, n: int, *, alpha: float) -> tuple[float, float]:
    """Exact (Clopper-Pearson) interval of a probability, alpha / 2 on either side."""
    low = float(beta.ppf(alpha / 2, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.isf(alpha / 2, hits + 1, n - hits)) if hits < n else 1.0
    return low, high
