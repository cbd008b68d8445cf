"""Twenty analysts who share everything get no more than one would; and a million grains of dust are each paid for."""

from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice
from math import floor
from typing import Any

import psycopg
import pytest

from accounts.models import Role, User
from curator import queue
from curator.mechanism import accuracy, controller, rho
from curator.mechanism.accuracy import Within
from curator.mechanism.controller import Need, Terms, UnderScarcity
from curator.mechanism.rho import UNITS_PER_RHO
from curator.models import AnalystBudget, Contract, LedgerEntry, Query
from curator.services import claiming, contracts, execution
from tests.cast import ROWS, Cast, cast, make_contract, person, units
from tests.fixtures.figures import Figure
from tests.worker.scene import answer, ask, at_once, check_books, places

ANALYSTS, ROUNDS = 20, 5
FARTHEST = Within(10**9, Decimal("0.95"))


@pytest.fixture
def people(db: None, monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


@pytest.mark.trust
def test_twenty_adaptive_analysts_who_share_all_get_no_more_than_one_would(people: Cast, figure: Figure) -> None:
    """Each asks next what the last shared answer suggests. An account per analyst would claim a twentieth of what they know."""
    contract = make_contract(people, rows=ROWS, rho_total="0.5")
    claims = collude(people, contract)
    assert sum(claims) == contract.spent_bound <= contract.rho_total == units("0.5")
    check_books(contract)
    known, claimed = contract.spent_bound / UNITS_PER_RHO, max(claims) / UNITS_PER_RHO
    assert known > 5 * claimed
    figure(
        row=11, n=ANALYSTS * ROUNDS,
        seen=f"together {known:.3f} of 0.5 rho; an account per analyst alone would have claimed {claimed:.3f} (unsound)",
    )  # fmt: skip


def collude(people: Cast, contract: Contract) -> list[int]:
    """Twenty with an allotment each ask and share, round after round; what an account of each alone would say."""
    ring = [person(f"colluder{n}", Role.ANALYST) for n in range(ANALYSTS)]
    for each in ring:
        contracts.add_member(curator=people.carol, contract=contract, user=each, role=Role.ANALYST, allotment=units("0.05"))
    where, shared = list(islice(places(), 1200)), 0
    for _ in range(ROUNDS):
        asked = at_once([partial(_ask_on, each, contract, where[(shared * 31 + n * 57) % 1200]) for n, each in enumerate(ring)])
        while claiming.is_waiting(contract.pk):
            execution.run(contract.pk)
        shared += sum(answer(query).value or 0 for query in asked)
    contract.refresh_from_db()
    return list(AnalystBudget.objects.filter(contract=contract, analyst__in=ring).values_list("spent", flat=True))


@pytest.mark.trust
def test_with_an_account_of_each_alone_they_would_get_more(
    people: Cast, monkeypatch: pytest.MonkeyPatch, owner_connection: psycopg.Connection[Any], figure: Figure
) -> None:
    """Each within their allotment, and nobody looks at the whole: not the controller, not the database."""
    available = controller.available
    monkeypatch.setattr(controller, "available", lambda *, pool, **rest: available(pool=UNITS_PER_RHO, **rest))
    owner_connection.execute("ALTER TABLE curator_contract DROP CONSTRAINT contract_ans_within")
    contract = make_contract(people, rows=ROWS, rho_total="0.25")
    claims = collude(people, contract)
    assert max(claims) <= (units("0.05") or 0) and contract.spent_bound > contract.rho_total
    times = contract.spent_bound / contract.rho_total
    figure(row=11, n=ANALYSTS * ROUNDS, mutant=f"limits of each analyst alone: {times:.1f} times the budget together, caught")


def _ask_on(analyst: User, contract: Contract, where: dict[str, object]) -> Query:
    return ask(analyst, contract, where, rho="0.005")


@pytest.mark.trust
def test_dust_is_paid_for_grain_by_grain_and_stops_when_the_budget_does(people: Cast, figure: Figure) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.0000000001")
    asked = [ask(people.alice, contract, where, within=10**9) for where in islice(places(), 150)]
    while claiming.is_waiting(contract.pk):
        execution.run(contract.pk)
    assert Query.objects.filter(pk__in=[query.pk for query in asked], state="answered").count() == 100
    assert set(LedgerEntry.objects.values_list("load", flat=True)) == {1}
    check_books(contract)
    figure(row=9, n=150, seen="questions within 10^9 people: 100 answered at one unit each, then declined; free 0")


def decided_dust(grains: int) -> Fraction:
    """Decide so many grains of dust on end; what was charged over what they are worth."""
    need = Need("grain", accuracy.rho_min(FARTHEST), 0)
    terms, charged = Terms(k=1, mu=Fraction(0), under_scarcity=UnderScarcity.PARTIAL), 0
    for _ in range(grains):
        limits = controller.available(pool=UNITS_PER_RHO - charged, allotment=None, spent=charged, cap=None, bins=1)
        charged += controller.decide([need], limits, terms).charge
    z = Fraction(accuracy.z_two_sided(FARTHEST.confidence))
    return Fraction(charged, UNITS_PER_RHO) / (grains * z**2 / (2 * Fraction(FARTHEST.bound) ** 2))


@pytest.mark.trust
@pytest.mark.parametrize("grains", [20_000, pytest.param(1_000_000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_a_million_grains_of_dust_are_never_charged_below_what_they_are_worth(grains: int, figure: Figure) -> None:
    ratio = decided_dust(grains)
    assert ratio >= 1
    figure(row=9, n=grains, seen=f"dust decided on end: charged / true {float(ratio):,.0f}, at least 1")


@pytest.mark.trust
def test_dust_that_is_rounded_down_would_be_free(monkeypatch: pytest.MonkeyPatch, figure: Figure) -> None:
    monkeypatch.setattr(rho, "charge_units", lambda amount: floor(amount * UNITS_PER_RHO))
    assert decided_dust(1_000) < 1
    figure(row=9, n=1_000, mutant="charges rounded to the nearest unit below: dust is free, caught")
