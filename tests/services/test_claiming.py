"""What a worker takes at a time: the oldest, a batch of bounded size, one that failed before alone."""

import pytest

from curator import queue
from curator.models import Contract, Query
from curator.services import claiming, execution
from tests.cast import ROWS, Cast, cast, make_contract
from tests.worker.scene import ask, elsewhere, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


def waiting(people: Cast, contract: Contract, number: int) -> list[int]:
    where = list(places())[:number]
    return [ask(people.alice, contract, each, rho="0.0001").pk for each in where]


def tried(*ids: int, attempts: int) -> None:
    Query.objects.filter(pk__in=ids).update(attempts=attempts)


def test_the_oldest_are_taken_up_to_a_batch_and_each_attempt_is_counted(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "BATCH_QUERIES", 3)
    ids = waiting(people, contract, 5)
    assert claiming.claim(contract.pk) == tuple(ids[:3])
    assert list(Query.objects.order_by("id").values_list("attempts", flat=True)) == [1, 1, 1, 0, 0]


def test_a_batch_ends_before_one_that_was_tried_and_that_one_comes_alone(people: Cast, contract: Contract) -> None:
    ids = waiting(people, contract, 4)
    tried(ids[1], attempts=1)
    assert claiming.claim(contract.pk) == (ids[0],)
    Query.objects.filter(pk=ids[0]).update(state="cancelled")
    assert claiming.claim(contract.pk) == (ids[1],)


def test_what_was_tried_twice_fails_however_many_they_are_and_the_next_are_taken(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "BATCH_QUERIES", 2)
    ids = waiting(people, contract, 6)
    tried(*ids[:4], attempts=2)
    assert claiming.claim(contract.pk) == tuple(ids[4:])
    assert set(Query.objects.filter(pk__in=ids[:4]).values_list("state", "failure")) == {("failed", "failed_twice")}


def test_a_batch_is_bounded_by_its_bins_but_one_large_question_passes(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "BATCH_BINS", 250)
    ids = [ask(people.alice, contract, group_by=[{"column": "age"}], rho=f"0.000{n}").pk for n in range(1, 5)]
    assert claiming.claim(contract.pk) == tuple(ids[:2])
    monkeypatch.setattr(claiming, "BATCH_BINS", 50)
    Query.objects.filter(pk__in=ids[:2]).update(state="cancelled")
    assert claiming.claim(contract.pk) == (ids[2],)


def test_an_attempt_given_back_is_not_counted_and_never_below_none(people: Cast, contract: Contract) -> None:
    ids = waiting(people, contract, 2)
    claiming.claim(contract.pk)
    claiming.give_back(ids)
    claiming.give_back(ids)
    assert set(Query.objects.values_list("attempts", flat=True)) == {0}


def test_one_worker_at_a_time_claims_for_a_contract_and_another_contract_is_free(people: Cast, contract: Contract) -> None:
    other = make_contract(people, contract.version)
    held: list[bool] = []

    def try_both() -> None:
        for each in (contract, other):
            with claiming.exclusive(each.pk) as mine:
                held.append(mine)

    with claiming.exclusive(contract.pk) as mine:
        assert mine and elsewhere(try_both)
    assert held == [False, True]
    assert elsewhere(try_both) and held[2:] == [True, True]


def test_a_long_queue_is_served_in_turns_so_that_other_contracts_get_theirs(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[int] = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: rung.append(row_id))
    monkeypatch.setattr(claiming, "BATCH_QUERIES", 4)
    clock = iter(range(0, 10_000, 20))  # each look at it is 20 seconds later
    monkeypatch.setattr(execution, "monotonic", lambda: next(clock))
    ids = waiting(people, contract, 6)
    rung.clear()
    assert execution.run(contract.pk) == 4
    assert rung == [contract.pk]
    assert [state(Query.objects.get(pk=each)) for each in ids] == ["answered"] * 4 + ["waiting"] * 2
    assert execution.run(contract.pk) == 2
