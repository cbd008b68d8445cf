"""Promise 9: the noise is the declared discrete Gaussian, at every scale, and the test would notice if it were less.

Each p-value is held against one in a million, so these tests, which draw real noise, fail by chance once in many thousand runs.
"""

from math import sqrt

import numpy as np
import pytest

from curator.mechanism import noise
from curator.mechanism.noise import ExactCount, release_all, scale_for
from curator.mechanism.rho import UNITS_PER_RHO
from tests.fixtures.figures import Figure
from tests.mechanism import laws

ALPHA = 1e-6
TRUTH = 1000


def rho_of(sigma2: float) -> int:
    return int(UNITS_PER_RHO / (2 * sigma2))


def drawn(sigma2: float, n: int) -> list[int]:
    """The noise of n released values."""
    draws = release_all([ExactCount(TRUTH)] * n, [rho_of(sigma2)] * n)
    return [draw.value - TRUTH for draw in draws]


def drawn_low(sigma2: float, n: int, *, factor: float) -> list[int]:
    """The same from OpenDP, at a scale that is wrong by `factor`."""
    return list(noise.measurement(factor * scale_for(rho_of(sigma2)))([0] * n))


def p_values(sample: list[int], sigma2: float) -> dict[str, float]:
    return {
        "chi-square": laws.chi_square(sample, sigma2),
        "variance": laws.too_little(sample, sigma2),
        "mean": laws.off_centre(sample, sigma2),
        "symmetry": laws.lopsided(sample),
        "tail": laws.tail(sample, sigma2),
    }


def check(sigma2: float, n: int) -> str:
    """Hold n draws against the law; gives the p-values in words."""
    found = p_values(drawn(sigma2, n), sigma2)
    assert min(found.values()) > ALPHA, found
    return f"sigma² {sigma2:g}: chi-square p = {found['chi-square']:.2g}, variance p = {found['variance']:.2g}"


@pytest.mark.trust
@pytest.mark.parametrize("sigma2", [0.25, 1, 100, 1e6])
def test_promise_9_noise_follows_the_discrete_gaussian_law(sigma2: float, figure: Figure) -> None:
    figure(row=6, n=100_000, seen=check(sigma2, 100_000))


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.parametrize("sigma2", [0.05, 0.25, 0.5, 1, 4, 30, 1e2, 1e3, 1e4, 1e6, 5e7])
def test_promise_9_noise_follows_the_law_at_many_scales(sigma2: float, figure: Figure) -> None:
    figure(row=6, n=300_000, seen=check(sigma2, 300_000))


@pytest.mark.trust
@pytest.mark.parametrize(("factor", "words"), [(0.5, "halved"), (0.95, "5 % low")])
def test_promise_9_a_scale_that_is_halved_or_5_percent_low_is_noticed(factor: float, words: str, figure: Figure) -> None:
    largest = 0.0
    for sigma2 in (0.25, 1, 100, 1e6):
        sample = drawn_low(sigma2, 40_000, factor=factor)
        largest = max(largest, min(laws.chi_square(sample, sigma2), laws.too_little(sample, sigma2)))
    assert largest < ALPHA
    figure(row=6, n=4 * 40_000, mutant=f"scale {words}: p below {max(largest, 1e-300):.0e}, caught")


def test_promise_9_a_gaussian_rounded_to_whole_numbers_is_noticed() -> None:
    """Where the noise is small it is another law, whose price nobody has proved."""
    generator = np.random.default_rng(1)
    sample = [int(value) for value in np.rint(generator.normal(0, 0.5, 40_000))]
    assert laws.chi_square(sample, 0.25) < ALPHA


def test_promise_9_noise_that_is_off_centre_or_lopsided_is_noticed() -> None:
    sample = drawn(100, 20_000)
    assert laws.off_centre([value + 1 for value in sample], 100) < ALPHA
    assert laws.lopsided([value if value > 0 else value + 1 for value in sample]) < ALPHA
    assert laws.tail([value for value in sample if abs(value) < 30], 100) < ALPHA


def test_promise_9_the_tiniest_charge_has_the_widest_noise() -> None:
    """One unit: sigma = 707,107 people, where the discrete law and the continuous one have the same moments."""
    sample = np.array([draw.value for draw in release_all([ExactCount(0)] * 20_000, [1] * 20_000)], dtype=float)
    sigma2 = UNITS_PER_RHO / 2
    assert abs(sample.mean()) < 5 * sqrt(sigma2 / 20_000)
    assert abs((sample**2).mean() / sigma2 - 1) < 5 * sqrt(2 / 20_000)


def test_promise_9_the_largest_charge_has_hardly_any_noise() -> None:
    assert {draw.value for draw in release_all([ExactCount(7)] * 1000, [10**15] * 1000)} == {7}


def test_the_variance_is_as_stated_to_0_21_percent_while_each_release_has_at_most_one_rho() -> None:
    """Fusion takes the variance of a release to be 1 / (2 rho); the discrete law has a little less, never more."""
    for rho in (1e-6, 1e-3, 0.1, 0.5, 0.9, 1.0):
        variance, _ = laws.moments(1 / (2 * rho))
        assert 0.9979 <= variance * 2 * rho <= 1 + 1e-9
    assert all(laws.moments(1 / (2 * rho))[0] * 2 * rho < 0.99 for rho in (1.5, 2, 5))


def test_an_empty_bin_is_released_like_any_other_half_of_the_time_below_zero() -> None:
    values = [draw.value for draw in release_all([ExactCount(0)] * 1000, [10**9] * 1000)]
    assert abs(sum(values)) / 1000 < 5 * 22.4 / sqrt(1000)
    assert 400 < sum(value < 0 for value in values) < 600
