"""Clients and workers at once, as real threads on a real PostgreSQL: the budget is spent exactly, each question has one end."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
import pytest

from accounts.models import Role, User
from curator import queue
from curator.models import Contract, Decision, LedgerEntry, Query, Release
from curator.services import (
    claiming,
    contracts,
    execution,
    failpoints,
    looking,
    outages,
    pending,
    queries,
    reading,
    recording,
    settling,
)
from curator.services.drawing import Settled
from curator.services.standing import Standing
from tests.cast import ROWS, Cast, cast, make_contract, person, units
from tests.fixtures.figures import Figure
from tests.worker.scene import MEN, WOMEN, ask, at_once, body, check_books, elsewhere, once, places, state

pytestmark = pytest.mark.django_db
CLIENTS, CHARGES = 16, 40


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)  # no worker listens: each test runs the controller itself


@contextmanager
def _always(_contract_id: int) -> Iterator[bool]:
    yield True


@pytest.fixture
def no_claim_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers do not step aside for each other; attempts then count nothing, so they are not limited either."""
    monkeypatch.setattr(claiming, "exclusive", _always)
    monkeypatch.setattr(claiming, "MAX_ATTEMPTS", 10_000)


def clients(people: Cast, contract: Contract) -> list[User]:
    """Sixteen analysts of one contract."""
    made = [person(f"client{n}", Role.ANALYST) for n in range(CLIENTS)]
    for each in made:
        contracts.add_member(curator=people.carol, contract=contract, user=each, role=Role.ANALYST)
    return made


def charges(number: int) -> list[list[dict[str, Any]]]:
    """Forty charges of 1 % for each client, all of different places, in lists of ten."""
    where = list(places())[number * CHARGES : (number + 1) * CHARGES]
    asked = [body(each, rho="0.01", under_scarcity="all_or_nothing") for each in where]
    assert len(asked) == CHARGES
    return [asked[start : start + 10] for start in range(0, CHARGES, 10)]


def ask_and_run(analyst: User, contract: Contract, lists: list[list[dict[str, Any]]]) -> None:
    for each in lists:
        queries.submit(analyst=analyst, contract=contract, body=each, key=uuid.uuid4().hex)
        execution.run(contract.pk)


def spend(people: Cast, contract: Contract) -> None:
    at_once([partial(ask_and_run, each, contract, charges(n)) for n, each in enumerate(clients(people, contract))])
    while claiming.is_waiting(contract.pk):
        execution.run(contract.pk)


def check_exactly_spent(contract: Contract) -> str:
    contract.refresh_from_db()
    granted = Query.objects.filter(contract=contract, state="answered").count()
    declined = Query.objects.filter(contract=contract, state="declined").count()
    assert (granted, declined) == (100, CLIENTS * CHARGES - 100)
    assert contract.spent_bound == units("1")
    check_books(contract)
    return f"{granted} of {granted + declined} granted, spent exactly {contract.spent_bound / 10**12:.2f}"


@pytest.mark.trust
def test_640_charges_of_one_percent_by_16_clients_grant_exactly_100(people: Cast, figure: Figure) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract)
    figure(row=1, n=640, seen=f"16 clients at once: {check_exactly_spent(contract)}")


@pytest.mark.trust
@pytest.mark.usefixtures("no_claim_lock")
def test_the_budget_holds_by_the_row_lock_alone(people: Cast, figure: Figure) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract)
    figure(row=1, n=640, seen=f"by the row lock alone: {check_exactly_spent(contract)}")


def settle_own(contract: Contract, analyst: User) -> None:
    """Settle one client's questions in a transaction of their own, whoever else settles."""
    ids = Query.objects.filter(contract=contract, analyst=analyst).order_by("id").values_list("id", flat=True)
    batch = pending.load(ids)
    settling.settle(contract.pk, batch, reading.read(batch, looking.look(contract.pk, batch)))


def settle_side_by_side(people: Cast, contract: Contract) -> None:
    askers = clients(people, contract)
    for number, each in enumerate(askers):
        for asked in charges(number):
            queries.submit(analyst=each, contract=contract, body=asked, key=uuid.uuid4().hex)
    at_once([partial(settle_own, contract, each) for each in askers])


@pytest.mark.trust
def test_16_settlements_side_by_side_grant_exactly_100(people: Cast, figure: Figure) -> None:
    contract = make_contract(people, rows=ROWS)
    settle_side_by_side(people, contract)
    figure(row=1, n=640, seen=f"16 settlements side by side: {check_exactly_spent(contract)}")


@pytest.mark.trust
def test_a_mutant_that_reads_adds_and_saves_is_caught(
    people: Cast, monkeypatch: pytest.MonkeyPatch, owner_connection: psycopg.Connection[Any], figure: Figure
) -> None:
    """Without the lock and the conditional writes the CHECK on the total holds, and yet far more than the budget is charged."""

    def read_add_save(now: Standing, settled: Sequence[Settled]) -> None:
        row = Contract.objects.get(pk=now.contract.pk)
        row.spent_bound = now.spent
        row.save(update_fields=["spent_bound"])

    owner_connection.execute("ALTER TABLE curator_contract DISABLE TRIGGER USER")  # it would refuse a total that falls
    monkeypatch.setattr(settling, "locked_contract", lambda contract_id: Contract.objects.get(pk=contract_id))
    monkeypatch.setattr(recording, "_totals", read_add_save)
    contract = make_contract(people, rows=ROWS)
    settle_side_by_side(people, contract)
    charged = sum(LedgerEntry.objects.values_list("load", flat=True)) / contract.rho_ans
    contract.refresh_from_db()
    assert contract.spent_bound <= contract.rho_ans
    assert charged > 1
    with pytest.raises(AssertionError):
        check_exactly_spent(contract)
    figure(row=1, n=640, mutant=f"reads, adds, saves without the lock: {charged:.1f} times the budget charged, caught")


def test_a_writer_past_the_lock_is_noticed_and_nothing_is_committed(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    monkeypatch.setattr(settling, "locked_contract", lambda contract_id: Contract.objects.get(pk=contract_id))
    monkeypatch.setattr(failpoints, "reach", once("after_draw", lambda: elsewhere(partial(_spend_behind, contract))))
    with pytest.raises(recording.TotalsMoved):
        execution.run(contract.pk)
    assert state(query) == "waiting" and not Release.objects.exists()


def _spend_behind(contract: Contract) -> None:
    Contract.objects.filter(pk=contract.pk).update(spent_bound=1)


@pytest.mark.trust
@pytest.mark.parametrize("locked", [True, False], ids=["claim lock", "row lock alone"])
def test_five_doubled_messages_make_one_release(
    people: Cast, request: pytest.FixtureRequest, locked: bool, figure: Figure
) -> None:
    if not locked:
        request.getfixturevalue("no_claim_lock")
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, each, rho="0.01") for each, _ in zip(places(), range(10), strict=False)]
    at_once([partial(execution.run, contract.pk)] * 5)
    execution.run(contract.pk)
    assert [state(query) for query in asked] == ["answered"] * 10
    assert Release.objects.count() == LedgerEntry.objects.count() == Decision.objects.count() == 10
    check_books(contract)
    how = "claim lock" if locked else "row lock alone"
    figure(row=3, n=10, seen=f"five messages at once ({how}): releases and charges 10 for 10 questions")


@pytest.mark.parametrize("place", ["after_claim", "after_read", "after_commit"])
@pytest.mark.parametrize("locked", [True, False], ids=["claim lock", "row lock alone"])
def test_a_redelivery_while_the_first_runs_changes_nothing(
    people: Cast, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, place: str, locked: bool
) -> None:
    if not locked:
        request.getfixturevalue("no_claim_lock")
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    monkeypatch.setattr(failpoints, "reach", once(place, lambda: elsewhere(partial(execution.run, contract.pk))))
    execution.run(contract.pk)
    assert state(query) == "answered"
    assert Release.objects.count() == LedgerEntry.objects.count() == 1
    check_books(contract)


def test_who_comes_while_a_run_ends_is_served_by_it(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN)
    late: list[Query] = []
    exclusive = claiming.exclusive

    @contextmanager
    def asked_just_before_letting_go(contract_id: int) -> Iterator[bool]:
        with exclusive(contract_id) as mine:
            yield mine
            if not late:
                late.append(ask(people.bob, contract, MEN))
                assert elsewhere(partial(execution.run, contract.pk))  # refused the lock, it leaves

    monkeypatch.setattr(claiming, "exclusive", asked_just_before_letting_go)
    execution.run(contract.pk)
    assert state(late[0]) == "answered"


def test_a_submit_does_not_wait_for_a_decision_in_progress(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    first = ask(people.alice, contract, WOMEN)
    submitted: list[bool] = []
    submit = partial(ask, people.bob, contract, MEN)
    monkeypatch.setattr(failpoints, "reach", once("after_draw", lambda: submitted.append(elsewhere(submit, wait=10))))
    execution.run(contract.pk)
    assert submitted == [True]
    assert state(first) == "answered"


def test_two_need_the_rest_and_two_workers_give_it_to_one(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.02")
    asked = [ask(people.alice, contract, WOMEN, within=10), ask(people.bob, contract, MEN, within=10)]
    at_once([partial(execution.run, contract.pk)] * 2)
    execution.run(contract.pk)
    assert state(asked[0]) == "answered" and state(asked[1]) in {"partial", "declined"}
    check_books(contract)


def test_a_contract_locked_elsewhere_keeps_its_questions_waiting_and_serves_them_later(
    people: Cast, monkeypatch: pytest.MonkeyPatch, application_connection: psycopg.Connection[Any]
) -> None:
    monkeypatch.setattr(outages, "LOCK_SECONDS", 0.1)
    held, free = make_contract(people, rows=ROWS), make_contract(people, rows=ROWS)
    waiting, served = ask(people.alice, held, WOMEN), ask(people.alice, free, WOMEN)
    with application_connection.transaction():
        application_connection.execute("SELECT 1 FROM curator_contract WHERE id = %s FOR NO KEY UPDATE", [held.pk])
        for _ in range(5):
            execution.run(held.pk)
            execution.run(free.pk)
        assert (state(waiting), state(served)) == ("waiting", "answered")
    execution.run(held.pk)
    assert state(waiting) == "answered"
    check_books(held)
