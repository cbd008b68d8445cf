"""What must hold whatever is asked: composition, minimality, scarcity, and decisions that no exact count can reach.

The promises are numbered as in the README of the mechanism; 9 and 10 have files of their own, 3 to 5 and 7 are the comparators'.
"""

import random
import subprocess
import sys
import typing
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from curator.mechanism import noise
from curator.mechanism.controller import Decline, Limit, Measure, Need, Reuse, Terms, UnderScarcity, cost, decide, unweighed
from curator.mechanism.scarcity import optimum
from tests.mechanism.ledger import Contract

units = st.integers(0, 3000)  # few enough for limits to be met often; nothing here depends on the scale
parts = st.integers(0, 1000)
needs = st.builds(Need, st.sampled_from("pqrstuvw"), st.integers(1, 1000), st.just(0), st.decimals("0.001", 1000, places=6))
questions = st.lists(needs, min_size=1, max_size=5, unique_by=lambda need: need.descriptor)
analysts = st.sampled_from(["alice", "bob", "eve"])
steps = st.one_of(
    st.tuples(st.just("look"), analysts, questions, st.sampled_from(UnderScarcity)),
    st.tuples(st.just("settle"), st.integers(0, 99)),
    st.tuples(st.just("ask"), analysts, questions, st.sampled_from(UnderScarcity)),
    st.tuples(st.just("diagnose"), analysts, st.integers(1, 5), st.integers(1, 100)),
    st.tuples(st.just("allot"), analysts, st.none() | parts),
    st.tuples(st.just("raise"), units),
)
contracts = st.builds(
    Contract,
    rho_est=units,
    rho_ans=units,
    k=st.integers(1, 4),
    mu=st.just(Fraction(0)) | st.fractions(0, 1000, max_denominator=7),
    cap=st.none() | parts,
    allotments=st.dictionaries(analysts, st.none() | parts),
)


def take(contract: Contract, step: tuple[typing.Any, ...], pending: list[tuple[typing.Any, ...]]) -> None:
    """One step: questions are looked at when they come and settled in any order later, from the state of that moment."""
    match step:
        case ("look", analyst, question, choice):
            pending.append((analyst, question, choice))
        case ("settle", place) if pending:
            take(contract, ("ask", *pending.pop(place % len(pending))), pending)
        case ("ask", analyst, question, choice):
            decision = contract.settle(analyst, question, choice)
            allotment = contract.allotments.get(analyst)
            assert not decision.charge or allotment is None or contract.spent[analyst] <= allotment
            assert contract.cap is None or decision.charge <= contract.cap
        case ("diagnose", analyst, bins, rho_d):
            contract.diagnose(analyst, bins, rho_d)
        case ("allot", analyst, amount):
            contract.allotments[analyst] = amount
        case ("raise", more):
            contract.rho_ans += more


@given(contracts, st.lists(steps, max_size=40))
@settings(max_examples=300, deadline=None)
def test_promise_1_spending_never_exceeds_the_contract_on_any_prefix_of_any_interleaving(
    contract: Contract, workload: list[tuple[typing.Any, ...]]
) -> None:
    pending: list[tuple[typing.Any, ...]] = []
    for step in workload:
        take(contract, step, pending)
        assert sum(contract.spent.values()) <= contract.rho_ans
        assert sum(contract.est_spent.values()) <= contract.rho_est
        assert contract.charged <= contract.rho_est + contract.rho_ans
        assert max(contract.exposed) <= contract.charged


@st.composite
def decisions(draw: st.DrawFn) -> tuple[list[Need], tuple[Limit, ...], Terms]:
    """Any needs with any history, any limit (the same for all bins), any terms."""
    amounts = st.integers(0, 10**6)
    asked = [Need(str(place), draw(amounts), draw(amounts)) for place in range(draw(st.integers(1, 6)))]
    limits = (Limit(draw(st.integers(0, 3 * 10**6)), "contract"),) * len(asked)
    mu = Fraction(draw(st.integers(0, 10**7)), draw(st.integers(1, 7)))
    return asked, limits, Terms(draw(st.integers(1, 7)), mu, draw(st.sampled_from(UnderScarcity)))


@given(decisions(), st.data())
@settings(max_examples=300, deadline=None)
def test_promise_2_a_feasible_charge_is_the_least_that_reaches_every_rho_min(
    case: tuple[list[Need], tuple[Limit, ...], Terms], data: st.DataObject
) -> None:
    asked, limits, terms = case
    decision = decide(asked, limits, terms)
    if isinstance(decision, Measure | Reuse):
        pairs = list(zip(asked, decision.amounts, strict=True))
        assert decision.all_met and all(need.rho_hist + amount >= need.rho_min for need, amount in pairs)
        assert all(amount == 0 or need.rho_hist + amount - 1 < need.rho_min for need, amount in pairs)
        enough = [max(0, need.rho_min - need.rho_hist) + data.draw(st.integers(0, 9)) for need in asked]
        assert decision.charge <= cost(enough, terms.k)
    else:
        assert not decision.all_met and cost([need.residual for need in asked], terms.k) > limits[0].units


@given(decisions())
@settings(max_examples=300, deadline=None)
def test_promise_2_history_that_suffices_costs_nothing_and_nothing_else_is_free(
    case: tuple[list[Need], tuple[Limit, ...], Terms],
) -> None:
    asked, limits, terms = case
    decision = decide(asked, limits, terms)
    assert isinstance(decision, Reuse) == all(need.rho_hist >= need.rho_min for need in asked)
    assert (decision.charge == 0) == isinstance(decision, Reuse | Decline)
    assert decision.charge == cost(decision.amounts, terms.k) <= limits[0].units


def searched(residual: int, share: int, weight: Fraction, mu: Fraction) -> int:
    """The whole number in [0, share] that minimises w (a - x)^2 + mu x, by bisection over values of that convex function."""

    def objective(x: int) -> Fraction:
        return weight * (residual - x) ** 2 + mu * x

    low, high = 0, share
    while low < high:
        middle = (low + high) // 2
        if objective(middle + 1) < objective(middle):
            low = middle + 1
        else:
            high = middle
    return low


def scarce_cases(n: int) -> list[tuple[int, int, Decimal, Fraction]]:
    """(residual, share, weight, mu), spread over the orders of magnitude that occur, a tenth of them without a price."""
    generator = random.Random(20261129)
    cases = []
    for _ in range(n):
        residual = int(10 ** generator.uniform(0.5, 13))
        weight = Decimal(10 ** generator.uniform(-3, 3)).quantize(Decimal("0.000001"))
        parts = generator.randint(1, 9)
        mu = Fraction(int(2 * residual * float(weight) * generator.uniform(0, 1.3) * parts), parts)
        cases.append((residual, generator.randrange(residual), weight, mu * generator.choice([0, *[1] * 9])))
    return cases


def test_promise_6_the_closed_form_equals_a_numeric_minimiser_on_ten_thousand_cases() -> None:
    at_zero = interior = at_share = 0
    for residual, share, weight, mu in scarce_cases(10_000):
        found = optimum(residual, share, weight=weight, mu=mu)
        numeric = searched(residual, share, Fraction(weight), mu)
        assert numeric - 1 <= found <= numeric  # the real minimum lies between two units and is rounded down
        at_zero, at_share, interior = at_zero + (found == 0), at_share + (found == share > 0), interior + (0 < found < share)
    print(f"10,000 cases: {at_zero} at 0, {interior} interior, {at_share} at the share")
    assert min(at_zero, interior, at_share) > 500


def one(residual: int, limit: int, weight: Decimal, mu: Fraction) -> int:
    """What a question of one bin gets under scarcity."""
    terms = Terms(1, mu, UnderScarcity.PARTIAL)
    return decide([Need("q", residual, 0, weight)], [Limit(limit, "contract")], terms).amounts[0]


def test_promise_6_the_interior_shortfall_is_mu_over_2w() -> None:
    interior = 0
    for residual, share, weight, mu in scarce_cases(3_000):
        amount = one(residual, share, weight, mu)
        if 0 < amount < share:
            interior += 1
            assert 0 <= (residual - amount) - mu / (2 * Fraction(weight)) < 1
    assert interior > 200


@given(st.integers(10**6, 10**12), st.decimals("0.01", 100, places=6), st.decimals("0.01", 100, places=6), st.integers(1, 10**10))
def test_promise_6_two_interior_allocations_differ_by_half_mu_times_the_difference_of_inverse_weights(
    residual: int, of_t: Decimal, of_s: Decimal, mu: int
) -> None:
    limit = residual - 1
    amounts = [one(residual, limit, weight, Fraction(mu)) for weight in (of_t, of_s)]
    if all(0 < amount < limit for amount in amounts):
        expected = Fraction(mu, 2) * (1 / Fraction(of_s) - 1 / Fraction(of_t))
        assert abs(amounts[0] - amounts[1] - expected) < 1


def reached(annotation: object, seen: set[object]) -> set[object]:
    """Every type that a value of this annotation can hold, through containers and dataclass fields."""
    inner = typing.get_args(annotation)
    for argument in inner:
        reached(argument, seen)
    if not inner and annotation not in seen:
        seen.add(annotation)
        if isinstance(annotation, type) and is_dataclass(annotation):
            hints = typing.get_type_hints(annotation)
            for each in fields(annotation):
                reached(hints[each.name], seen)
    return seen


def test_promise_8_no_exact_count_can_be_handed_to_a_decision() -> None:
    for function in (decide, unweighed):
        hints = typing.get_type_hints(function)
        taken = set().union(*(reached(hint, set()) for name, hint in hints.items() if name != "return"))
        assert noise.ExactCount not in taken
        enums = {each for each in taken if isinstance(each, type) and issubclass(each, Enum)}
        assert taken - enums == {Need, Limit, Terms, str, int, Decimal, Fraction}


def test_promise_8_the_check_by_type_sees_a_count_hidden_in_a_container() -> None:
    assert noise.ExactCount in reached(Sequence[tuple[Need, list[noise.ExactCount | None]]], set())


def test_promise_8_the_controller_loads_neither_counts_nor_draws_nor_rows() -> None:
    listing = "import sys, curator.mechanism.controller, curator.mechanism.accuracy, curator.mechanism.qif; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "curator.mechanism.controller" in loaded
    forbidden = (
        "curator.engine",
        "curator.models",
        "curator.services",
        "curator.mechanism.noise",
        "django",
        "opendp",
        "ibis",
        "sqlglot",
    )
    assert not [name for name in loaded if name.startswith(forbidden)]
