"""A worker killed by SIGKILL at every point on the way: no answer changes, charge and release come together or not at all.

Forked children die, some milliseconds each; then the message is delivered twice at once, and once more, late.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import pytest
from django.db import connection

from curator import queue
from curator.models import Answer, Contract, Decision, Diagnostic, LedgerEntry, Query, Release
from curator.services import claiming, execution
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.fixtures.figures import Figure
from tests.worker import forked
from tests.worker.scene import WOMEN, ask, at_once, check_books, is_final, places, state

pytestmark = pytest.mark.django_db

FAILPOINTS = (
    "after_claim", "after_look", "after_read", "after_decide", "after_draw", "before_commit", "after_commit", "after_receipt",
    "before_ack",
)  # fmt: skip
DIAGNOSTIC_FAILPOINTS = ("diagnostic_drawn", "diagnostic_committed")
FEW, MANY = 3, 50


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)  # only the test decides who runs
    return cast()


def seen() -> dict[str, list[tuple[Any, ...]]]:
    """Everything that anybody can have seen or been charged."""
    return {
        "answers": list(Answer.objects.order_by("id").values_list("query", "position", "value", "rho_eff", "release")),
        "releases": list(Release.objects.order_by("id").values_list("uid", "query", "value", "rho", "account")),
        "ledger": list(LedgerEntry.objects.order_by("id").values_list("query", "account", "load")),
        "diagnostics": list(Diagnostic.objects.order_by("id").values_list("descriptor", "release__value")),
    }


def is_kept(before: dict[str, list[tuple[Any, ...]]], after: dict[str, list[tuple[Any, ...]]]) -> bool:
    """Whether nothing of what was there has changed or gone."""
    return all(after[name][: len(rows)] == rows for name, rows in before.items())


def kill_and_redeliver(contract: Contract, place: str, asked: list[Query]) -> None:
    """One kill at `place`, two redeliveries at once, a late one."""
    database = connection.settings_dict["NAME"]
    assert forked.wait(forked.start(database, contract.pk, die_at=place)) == [forked.KILLED], f"nobody came past {place}"
    check_books(contract)
    after_kill = seen()
    at_once([partial(execution.run, contract.pk)] * 2)
    after_pair = seen()
    assert is_final(*asked) and is_kept(after_kill, after_pair)
    check_books(contract)
    execution.run(contract.pk)
    assert seen() == after_pair


def kills(contract: Contract, place: str, times: int, next_questions: Callable[[], list[Query]]) -> str:
    for _ in range(times):
        asked = next_questions()
        kill_and_redeliver(contract, place, asked)
        assert not any(state(query) == "failed" for query in asked)
    decided = Decision.objects.filter(query__contract=contract).count()
    charged = LedgerEntry.objects.filter(contract=contract, account="ans").count()
    assert decided == Query.objects.filter(contract=contract).count()
    where = place.replace("_", " ")
    return (
        f"killed {where}: values per question 1, charged without release 0, released without charge 0 ({decided} decided, "
        f"{charged} charged)"
    )


def answers_are_safe(people: Cast, place: str, times: int) -> str:
    """Three questions a time: one that must be measured, its repeat, and one that history covers."""
    contract = make_contract(people, rows=ROWS, rho_total="100")
    amounts = count(1)

    def questions() -> list[Query]:
        amount = f"0.0{next(amounts):05d}"
        return [ask(people.alice, contract, WOMEN, rho=amount), ask(people.bob, contract, WOMEN, rho=amount)]

    return kills(contract, place, times, questions)


def diagnostics_are_safe(people: Cast, place: str, times: int) -> str:
    """A small cap makes every question scarce, so that each new region wants a diagnostic."""
    contract = make_contract(people, rows=ROWS, xi="0.5", query_cap=units("0.001"), rho_d=units("0.0001"))
    where = places()
    seen = kills(contract, place, times, lambda: [ask(people.alice, contract, next(where), within=1)])
    assert Diagnostic.objects.count() == times + 1
    return seen


@pytest.mark.parametrize("place", FAILPOINTS)
def test_a_kill_changes_no_answer_and_parts_no_charge_from_its_release(people: Cast, place: str) -> None:
    answers_are_safe(people, place, FEW)


@pytest.mark.parametrize("place", DIAGNOSTIC_FAILPOINTS)
def test_a_kill_around_a_diagnostic_never_draws_it_twice(people: Cast, place: str) -> None:
    diagnostics_are_safe(people, place, FEW)


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
@pytest.mark.parametrize("place", FAILPOINTS)
def test_fifty_kills_change_no_answer(people: Cast, place: str, figure: Figure) -> None:
    figure(row=2, n=MANY, seen=answers_are_safe(people, place, MANY))


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
@pytest.mark.parametrize("place", DIAGNOSTIC_FAILPOINTS)
def test_fifty_kills_never_draw_a_diagnostic_twice(people: Cast, place: str, figure: Figure) -> None:
    figure(row=2, n=MANY, seen=diagnostics_are_safe(people, place, MANY))


@pytest.mark.trust
def test_a_mutant_that_commits_its_charge_before_its_ledger_is_caught(people: Cast, figure: Figure) -> None:
    """Two transactions instead of one: a kill between them leaves a charge and a release that nothing tells of."""
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN, rho="0.01")
    child = forked.start(connection.settings_dict["NAME"], contract.pk, die_at="before_commit", in_two=True)
    assert forked.wait(child) == [forked.KILLED]
    with pytest.raises(AssertionError):
        check_books(contract)
    figure(row=2, n=1, mutant="charge and ledger in two transactions: parted by a kill between them, caught")


def test_a_kill_between_draw_and_commit_shows_nothing_and_costs_nothing(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    before = seen()
    forked.wait(forked.start(connection.settings_dict["NAME"], contract.pk, die_at="before_commit"))
    assert seen() == before and state(query) == "waiting"
    execution.run(contract.pk)
    assert state(query) == "answered"


def test_a_question_that_kills_every_worker_fails_after_two_and_the_others_are_served(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(20), strict=False)]
    poison = asked[7]
    database, runs = connection.settings_dict["NAME"], 0
    while claiming.is_waiting(contract.pk):
        runs += 1
        forked.wait(forked.start(database, contract.pk, poison=poison.bins.get().descriptor_id or ""))
    assert runs == 3  # once in a batch, once alone, and one that clears the rest
    assert [state(query) for query in asked] == ["failed" if query == poison else "answered" for query in asked]
    poison.refresh_from_db()
    assert (poison.attempts, poison.failure) == (claiming.MAX_ATTEMPTS, "failed_twice")
    assert not LedgerEntry.objects.filter(query=poison).exists()
    check_books(contract)
