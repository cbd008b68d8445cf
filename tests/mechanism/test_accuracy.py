"""Targets: the support they need, the accuracy that support gives, and the accuracy object of the API."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curator.mechanism import rho
from curator.mechanism.accuracy import (
    MAX_BOUND,
    Exactly,
    Relative,
    StandardError,
    Target,
    Within,
    bound_reached,
    confidence_of,
    parse_target,
    relative_need,
    relative_z_lb,
    rho_min,
    target_json,
    z_two_sided,
)
from curator.mechanism.errors import BadInput

P95, P99 = Decimal("0.95"), Decimal("0.99")
bounds = st.integers(1, MAX_BOUND)
confidences = st.decimals("0.500001", "0.999999", places=6)


def within(bound: int, confidence: Decimal = P95) -> int:
    return rho_min(Within(bound, confidence))


@pytest.mark.parametrize(
    ("bound", "confidence", "expected"),
    [
        (20, P95, "0.00480182"),
        (15, P95, "0.00853658"),
        (10, P95, "0.01920729"),
        (5, P95, "0.07682918"),
        (1, P95, "1.92072941"),
        (10, P99, "0.03317448"),
    ],
)
def test_check_values(bound: int, confidence: Decimal, expected: str) -> None:
    assert f"{Decimal(rho.text(within(bound, confidence))):.8f}" == expected


def test_ten_bins_at_once_need_more_than_ten_bins_each_on_its_own() -> None:
    together = rho_min(Within(10, P95, simultaneous=True), bins=10)
    assert f"{z_two_sided(P95, 10):.6f}" == "2.807034"
    assert f"{Decimal(rho.text(together)):.8f}" == "0.03939719"
    assert rho_min(Within(10, P95), bins=10) == within(10)


def test_standard_error_and_support_itself() -> None:
    assert rho_min(StandardError(Decimal(5))) == 2 * 10**10
    assert rho_min(StandardError(Decimal("0.3"))) == 5_555_555_555_556  # 1 / 0.18, rounded up
    assert rho_min(Exactly(7 * 10**11)) == 7 * 10**11


def test_tighter_and_surer_cost_more() -> None:
    costs = [within(20), within(10), within(5), within(1)]
    assert all(loose < tight for loose, tight in pairwise(costs))
    sure = [within(10, Decimal("0.9")), within(10), within(10, P99)]
    assert all(less < more for less, more in pairwise(sure))


@given(bounds, confidences)
@example(10**9, P95)
def test_a_charge_covers_the_true_need_and_is_never_nothing(bound: int, confidence: Decimal) -> None:
    exact = Fraction(z_two_sided(confidence)) ** 2 / (2 * bound**2)
    charged = within(bound, confidence)
    assert charged >= 1
    assert Fraction(charged, rho.UNITS_PER_RHO) >= exact


@given(confidences)
def test_z_leaves_the_tail_it_promises(confidence: Decimal) -> None:
    tail = NormalDist().cdf(-z_two_sided(confidence))
    assert tail == pytest.approx(float((1 - confidence) / 2), rel=1e-9)


def test_z_of_a_confidence_close_to_one_comes_from_the_exact_tail() -> None:
    close = Decimal("0.999999999999999999")  # as a float this is 1, whose z is infinite
    assert 8.7 < z_two_sided(close) < 8.9


@given(bounds, confidences)
@example(2, P95)
def test_alice_reaches_at_least_the_bound_she_asked_for(bound: int, confidence: Decimal) -> None:
    target = Within(bound, confidence)
    reached = bound_reached(rho_min(target), target)
    assert reached is not None and reached <= bound


@given(st.integers(1, 10**13), confidences, st.integers(1, 10_000))
def test_the_bound_reached_is_the_least_whole_one(units: int, confidence: Decimal, bins: int) -> None:
    target = Within(1, confidence, simultaneous=True)
    reached = bound_reached(units, target, bins)
    assert reached is not None and reached >= 1
    square = Fraction(z_two_sided(confidence, bins)) ** 2 * rho.UNITS_PER_RHO / (2 * units)
    assert (reached - 1) ** 2 < square <= reached**2
    assert rho_min(Within(reached, confidence, simultaneous=True), bins=bins) <= units  # so it is what `units` can buy


def test_nothing_known_reaches_no_bound() -> None:
    assert bound_reached(0, Within(10, P95)) is None


def test_bounds_of_targets_without_a_confidence_are_stated_at_95_percent() -> None:
    assert bound_reached(2 * 10**10, StandardError(Decimal(5))) == 10  # 1.96 * 5 = 9.8
    assert bound_reached(5 * 10**11, Exactly(5 * 10**11)) == 2
    assert confidence_of(StandardError(Decimal(5))) == confidence_of(Exactly(1)) == P95
    assert confidence_of(Within(5, P99)) == confidence_of(Relative(Decimal("0.1"), P99)) == P99


def test_a_relative_target_splits_its_error_between_diagnostic_and_noise() -> None:
    target = Relative(Decimal("0.05"), P95)
    assert relative_z_lb(P95) == pytest.approx(NormalDist().inv_cdf(0.975))
    need = relative_need(target, 1999.9)
    assert need is not None
    bound, support = need
    z = NormalDist().inv_cdf((3 + 0.95) / 4)
    assert bound == 99
    assert support / 1e12 == pytest.approx(z**2 / (2 * 99**2))
    assert bound_reached(support, target) == 99


@pytest.mark.parametrize(("lower", "bound"), [(0.0, None), (19.999, None), (20.0, 1), (Fraction(399, 10), 1), (40.0, 2)])
def test_a_relative_target_has_no_bound_while_a_whole_person_is_too_much(lower: float | Fraction, bound: int | None) -> None:
    need = relative_need(Relative(Decimal("0.05"), P95), lower)
    assert (need and need[0]) == bound


targets: st.SearchStrategy[Target] = st.one_of(
    st.builds(Within, bounds, confidences, st.booleans()),
    st.builds(StandardError, st.decimals("0.001", 10**9, places=3)),
    st.builds(Exactly, st.integers(1, rho.MAX_UNITS)),
    st.builds(Relative, st.decimals("0.0001", "0.9999", places=4), confidences),
)


@given(targets)
def test_an_accuracy_object_reads_back_as_the_same_target(target: Target) -> None:
    assert parse_target(target_json(target)) == target


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"within": 25}, Within(25, P95)),
        ({"within": "25", "confidence": "0.99", "simultaneous": True}, Within(25, P99, simultaneous=True)),
        ({"within": Decimal("25.0"), "confidence": Decimal("0.95")}, Within(25, P95)),
        ({"within": 10**9}, Within(10**9, P95)),
        ({"within": 25.0, "confidence": 0.95}, Within(25, P95)),
        ({"standard_error": "5"}, StandardError(Decimal(5))),
        ({"rho": "0.7"}, Exactly(7 * 10**11)),
        ({"rho": "0.0000000000001"}, Exactly(1)),
        ({"relative": Decimal("0.05")}, Relative(Decimal("0.05"), P95)),
    ],
)
def test_accuracy_objects_of_the_api(body: dict[str, object], target: Target) -> None:
    assert parse_target(body) == target


NOT_NUMBERS = [
    "abc",
    "",
    "NaN",
    "Infinity",
    "-inf",
    "1e400",
    Decimal("1e400"),
    Decimal("NaN"),
    True,
    None,
    [25],
    {"a": 1},
    float("nan"),
]
NOT_BOUNDS = [0, -5, "-0", "0.5", "25.5", Decimal("25.0001"), 10**9 + 1, "1e12"]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=str)
@pytest.mark.parametrize("name", ["within", "standard_error", "rho", "relative"])
def test_what_is_no_number_is_refused_with_its_field(name: str, value: object) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_target({name: value})
    assert (refusal.value.code, refusal.value.field) == ("bad_number", f"accuracy.{name}")


@pytest.mark.parametrize("value", NOT_BOUNDS, ids=str)
def test_a_bound_is_a_whole_number_of_people(value: object) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_target({"within": value})
    assert (refusal.value.code, refusal.value.field) == ("bad_bound", "accuracy.within")


@pytest.mark.parametrize("value", ["0.5", "1", "1.2", 0, -1, 95, "0.4", "0.9500000000000000001"], ids=str)
def test_a_confidence_lies_between_one_half_and_one(value: object) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_target({"within": 25, "confidence": value})
    assert (refusal.value.code, refusal.value.field) == ("bad_confidence", "accuracy.confidence")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "bad_bound", "accuracy"),
        ({"confidence": "0.95"}, "bad_bound", "accuracy"),
        ([], "bad_bound", "accuracy"),
        ("within", "bad_bound", "accuracy"),
        (None, "bad_bound", "accuracy"),
        ({"within": 25, "relative": "0.1"}, "unknown_field", "accuracy.relative"),
        ({"within": 25, "confidance": "0.95"}, "unknown_field", "accuracy.confidance"),
        ({"standard_error": 5, "confidence": "0.95"}, "unknown_field", "accuracy.confidence"),
        ({"rho": "0.7", "simultaneous": False}, "unknown_field", "accuracy.simultaneous"),
        ({"within": 25, "confidence": "high"}, "bad_number", "accuracy.confidence"),
        ({"within": 25, "confidence": True}, "bad_number", "accuracy.confidence"),
        ({"within": 25, "simultaneous": "yes"}, "bad_bound", "accuracy.simultaneous"),
        ({"within": 25, "simultaneous": 1}, "bad_bound", "accuracy.simultaneous"),
        ({"standard_error": "0"}, "bad_bound", "accuracy.standard_error"),
        ({"standard_error": "-5"}, "bad_bound", "accuracy.standard_error"),
        ({"standard_error": "0.0001"}, "bad_bound", "accuracy.standard_error"),
        ({"rho": "0"}, "bad_bound", "accuracy.rho"),
        ({"rho": "-0.7"}, "bad_bound", "accuracy.rho"),
        ({"rho": "9223373"}, "bad_bound", "accuracy.rho"),
        ({"relative": "0"}, "bad_bound", "accuracy.relative"),
        ({"relative": "1"}, "bad_bound", "accuracy.relative"),
        ({"relative": "-0.05"}, "bad_bound", "accuracy.relative"),
    ],
)
def test_bad_accuracy_objects_are_refused_with_the_place(body: object, code: str, field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_target(body)  # type: ignore[arg-type]  # the point of the test
    assert (refusal.value.code, refusal.value.field) == (code, field)


@given(targets)
def test_every_target_that_can_be_asked_for_fits_the_ledger(target: Target) -> None:
    if not isinstance(target, Relative):
        assert 1 <= rho_min(target, bins=10_000) <= rho.MAX_UNITS
    assert sqrt(z_two_sided(confidence_of(target), 10_000)) > 0
