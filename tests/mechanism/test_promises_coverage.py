"""Promise 10: what is shown is as close as promised, as often as promised; by simulation with the real draw, by summation."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from curator.mechanism import accounting, accuracy
from curator.mechanism.accuracy import Relative, Within, relative_need, relative_z_lb, rho_min
from curator.mechanism.noise import ExactCount, release_all
from curator.mechanism.qif import Diagnostic
from curator.mechanism.rho import UNITS_PER_RHO
from curator.mechanism.support import Held
from tests.mechanism import laws

P95 = Decimal("0.95")
ALPHA = 1e-6
RHO_D = accounting.split(UNITS_PER_RHO, Decimal("0.05"))[0] // 100


def answers(truth: int, amounts: Sequence[int], n: int) -> list[Held]:
    """What is held after releases of `amounts` units, in n independent runs."""
    held = [Held()] * n
    for rho in amounts:
        draws = release_all([ExactCount(truth)] * n, [rho] * n)
        held = [before.add(rho=rho, value=draw.value) for before, draw in zip(held, draws, strict=True)]
    return held


def steps(bounds: Sequence[int]) -> list[int]:
    """What is charged when one descriptor is asked for at these bounds one after the other, ever tighter."""
    needed = [rho_min(Within(bound, P95)) for bound in bounds]
    return [now - before for before, now in zip([0, *needed], needed, strict=False)]


def report(what: str, hits: int, n: int) -> tuple[float, float]:
    low, high = laws.interval(hits, n, alpha=ALPHA)
    print(f"{what}: {hits / n:.4f} of n = {n}, interval {low:.4f} to {high:.4f}")
    return low, high


@pytest.mark.parametrize(
    ("name", "bounds", "n"),
    [
        ("fresh, E = 2", [2], 20_000),
        ("fresh, E = 25", [25], 10_000),
        ("E = 13, then E = 1", [13, 1], 20_000),
        ("topped up twice, E = 20, 10, 5", [20, 10, 5], 10_000),
        ("topped up twice, E = 4, 3, 2", [4, 3, 2], 10_000),
    ],
)
def test_promise_10_the_answer_shown_covers_the_truth_as_often_as_promised(name: str, bounds: list[int], n: int) -> None:
    held = answers(500, steps(bounds), n)
    assert held[0].rho_hist == rho_min(Within(bounds[-1], P95))
    hits = sum(abs((each.shown or 0) - 500) <= bounds[-1] for each in held)
    assert report(name, hits, n)[1] >= 0.95


def test_promise_10_without_rounding_an_answer_topped_up_from_13_to_1_would_miss_the_promise() -> None:
    held = answers(500, steps([13, 1]), 20_000)
    hits = sum(abs(each.estimate - 500) <= 1 for each in held if each.estimate is not None)
    assert report("E = 13, then E = 1, unrounded", hits, 20_000)[1] < 0.95


def test_promise_10_ten_bins_at_once_are_all_within_their_bound_as_often_as_promised() -> None:
    each = rho_min(Within(10, P95, simultaneous=True), bins=10)
    noise = [draw.value - 7 for draw in release_all([ExactCount(7)] * 100_000, [each] * 100_000)]
    hits = sum(all(abs(value) <= 10 for value in noise[start : start + 10]) for start in range(0, 100_000, 10))
    assert report("ten bins at once, E = 10", hits, 10_000)[1] >= 0.95


@pytest.mark.parametrize(
    ("share", "truth", "n"),
    [
        ("0.05", 2_000, 10_000),
        ("0.05", 800, 10_000),
        ("0.05", 90, 10_000),
        ("0.2", 300, 10_000),
        ("0.2", 100, 10_000),
        ("0.2", 60, 10_000),
    ],
)
def test_promise_10_a_relative_target_is_answered_and_wrong_no_more_often_than_promised(share: str, truth: int, n: int) -> None:
    target = Relative(Decimal(share), P95)
    z = relative_z_lb(P95)
    diagnostics = [Diagnostic(draw.value, RHO_D) for draw in release_all([ExactCount(truth)] * n, [RHO_D] * n)]
    needed = [need for need in (relative_need(target, diagnostic.lower_bound(z)) for diagnostic in diagnostics) if need]
    draws = release_all([ExactCount(truth)] * len(needed), [amount for _, amount in needed])
    wrong = sum(abs(draw.value - truth) > Fraction(target.share) * truth for draw in draws)
    low, _ = report(f"relative {share} of {truth}: answered {len(needed)}, wrong", wrong, n)
    assert low <= 0.05


@pytest.mark.parametrize("bounds", [[5], [20, 10, 5], [13, 2]])
def test_promise_10_the_fused_estimate_is_unbiased_and_its_variance_is_that_of_its_support(bounds: list[int]) -> None:
    n = 10_000
    held = answers(500, steps(bounds), n)
    errors = np.array([float((each.estimate or 0) - 500) for each in held])
    variance = UNITS_PER_RHO / (2 * held[0].rho_hist)
    assert abs(errors.mean()) < 5 * sqrt(variance / n)
    assert (errors**2).mean() / variance == pytest.approx(1, abs=5 * sqrt(2 / n) + 0.002)


def test_promise_10_past_one_rho_in_a_release_the_variance_is_less_than_stated() -> None:
    errors = np.array([float((each.estimate or 0) - 500) for each in answers(500, steps([13, 1]), 10_000)])
    stated = UNITS_PER_RHO / (2 * rho_min(Within(1, P95)))
    assert abs(errors.mean()) < 5 * sqrt(stated / 10_000)
    assert (errors**2).mean() < 0.95 * stated


@pytest.mark.parametrize("confidence", ["0.6", "0.9", "0.95", "0.99", "0.999"])
def test_promise_10_coverage_by_summation_fresh_and_topped_up_at_every_pair_of_bounds(confidence: str) -> None:
    promised, worst, cases = Decimal(confidence), 1.0, 0
    for bound in range(1, 31):
        needed = rho_min(Within(bound, promised))
        halves = [needed // 2, needed - needed // 2]  # many fused values then lie exactly on a half
        loose = [[rho, needed - rho] for rho in (rho_min(Within(first, promised)) for first in range(bound + 1, 41))]
        for parts in ([needed], halves, *loose):
            worst, cases = min(worst, laws.fused_coverage(parts, bound) - float(promised)), cases + 1
    print(f"confidence {confidence}: {cases} cases, coverage at least {worst:+.5f} above it")
    assert worst >= 0


@pytest.mark.parametrize("rho", [10**9, 10**11, 5 * 10**11, 10**12, 3 * 10**12])
def test_promise_10_the_accuracy_reached_by_any_support_is_kept(rho: int) -> None:
    """After a partial answer the bound stated follows from the support; it need not come from a whole bound asked for."""
    for confidence in (Decimal("0.9"), P95, Decimal("0.99")):
        bound = accuracy.bound_reached(rho, Within(1, confidence))
        assert bound is not None
        assert laws.fused_coverage([rho], bound) >= confidence
        assert laws.fused_coverage([rho // 3, rho - rho // 3], bound) >= confidence
