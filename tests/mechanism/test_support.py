"""Fusion of releases and the residual: O(1) state, exact, and recomputable from the releases."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.mechanism.support import Certificate, Held, check, residual

releases = st.lists(st.tuples(st.integers(1, 10**15), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=20)


def fused(parts: list[tuple[int, int]]) -> Held:
    held = Held()
    for units, value in parts:
        held = held.add(rho=units, value=value)
    return held


def test_releases_100_and_110_fuse_to_103() -> None:
    held = Held().add(rho=7 * 10**11, value=100).add(rho=3 * 10**11, value=110)
    assert held.estimate == 103
    assert held.shown == 103
    assert held.rho_hist == 10**12


def test_history_of_0_7_leaves_0_3_to_pay_for_1_0() -> None:
    assert residual(10**12, 7 * 10**11) == 3 * 10**11
    assert residual(7 * 10**11, 10**12) == 0


def test_where_nothing_was_released_nothing_is_known() -> None:
    assert Held().estimate is None
    assert Held().shown is None


@pytest.mark.parametrize(("doubled", "shown"), [(5, 3), (-5, -3), (4, 2), (-4, -2), (1, 1), (-1, -1), (0, 0)])
def test_halves_are_shown_away_from_zero(doubled: int, shown: int) -> None:
    assert Held(2, doubled).shown == shown


@given(st.data(), releases)
def test_fusion_does_not_depend_on_the_order_of_the_releases(data: st.DataObject, parts: list[tuple[int, int]]) -> None:
    assert fused(parts) == fused(data.draw(st.permutations(parts)))


@given(releases)
def test_the_fused_value_is_the_inverse_variance_mean_and_lies_among_the_releases(parts: list[tuple[int, int]]) -> None:
    held = fused(parts)
    total = sum(units for units, _ in parts)
    assert held.estimate == sum(Fraction(units, total) * value for units, value in parts)
    assert min(value for _, value in parts) <= held.estimate <= max(value for _, value in parts)
    assert held.shown is not None and abs(held.shown - held.estimate) <= Fraction(1, 2)


@given(releases)
def test_a_certificate_is_checked_against_the_releases_it_names(parts: list[tuple[int, int]]) -> None:
    named = [(f"release-{place}", units) for place, (units, _) in enumerate(parts)]
    values = {f"release-{place}": value for place, (_, value) in enumerate(parts)}
    assert check(Certificate(tuple(named)), values, fused(parts))


def test_a_certificate_that_names_other_releases_is_found_out() -> None:
    values, held = {"a": 100, "b": 110}, Held(10, 1030)
    assert check(Certificate((("a", 7), ("b", 3))), values, held)
    assert not check(Certificate((("a", 3), ("b", 7))), values, held)
    assert not check(Certificate((("a", 7),)), values, held)
    assert not check(Certificate((("a", 7), ("c", 3))), values, held)
    assert not check(Certificate((("a", 7), ("b", 3))), {"a": 100, "b": 111}, held)
    assert not check(Certificate((("a", 7), ("a", 3))), values, Held(10, 1000))
    assert not check(Certificate((("a", 10), ("b", 0))), values, Held(10, 1000))


def test_a_free_release_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one unit"):
        Held().add(rho=0, value=5)
