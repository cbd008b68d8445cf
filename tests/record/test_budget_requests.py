"""Alice asks for more: somebody else decides, once, on exactly what she asked for."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts.models import Role
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused
from curator.models import Allotment, AnalystBudget, BudgetRequest, Notice
from curator.services import budget_requests, contracts
from curator.services.verification import verify
from tests.cast import person
from tests.record.events import data_of, kinds_of
from tests.record.story import Story, amount, begin


@pytest.fixture
def story(db: None) -> Story:
    return begin(allotments={"alice": "0.1"})


def ask(story: Story, rho: str = "0.2") -> BudgetRequest:
    return budget_requests.request(analyst=story.people.alice, contract=story.contract, amount=amount(rho), reason="a survey")


def allotment(story: Story) -> int | None:
    return AnalystBudget.objects.get(contract=story.contract, analyst=story.people.alice).allotment


def test_carol_grants_the_whole_of_it(story: Story) -> None:
    decided = budget_requests.approve(curator=story.people.carol, request=ask(story), granted=amount("0.2"))
    assert (decided.state, decided.granted, decided.decided_by) == ("approved", amount("0.2"), story.people.carol)
    assert allotment(story) == amount("0.3")
    changed = Allotment.objects.get(request=decided)
    assert (changed.rho, changed.set_by) == (amount("0.3"), story.people.carol)
    assert kinds_of(story.contract)[-3:] == ["budget.requested", "budget.approved", "allotment.set"]
    assert data_of(story.contract, "allotment.set")["request"] == str(decided.uid)


def test_carol_grants_less(story: Story) -> None:
    budget_requests.approve(curator=story.people.carol, request=ask(story), granted=1, note="a little")
    assert allotment(story) == amount("0.1") + 1


@pytest.mark.parametrize("granted", [0, -1, 10**19])
def test_nothing_and_more_than_asked_are_not_granted(story: Story, granted: int) -> None:
    with pytest.raises(BadInput) as refusal:
        budget_requests.approve(curator=story.people.carol, request=ask(story), granted=granted)
    assert refusal.value.field == "granted"
    assert allotment(story) == amount("0.1")


def test_a_rejection_needs_a_note_and_changes_nothing(story: Story) -> None:
    wanted = ask(story)
    with pytest.raises(BadInput) as refusal:
        budget_requests.reject(curator=story.people.carol, request=wanted, note=" ")
    assert refusal.value.field == "note"
    budget_requests.reject(curator=story.people.carol, request=wanted, note="not this year")
    assert allotment(story) == amount("0.1")
    assert data_of(story.contract, "budget.rejected")["note"] == "not this year"


def test_a_decision_is_made_once(story: Story) -> None:
    wanted = ask(story)
    budget_requests.reject(curator=story.people.carol, request=wanted, note="no")
    for decide in (budget_requests.approve, budget_requests.reject):
        more: dict[str, Any] = {"granted": 1} if decide is budget_requests.approve else {"note": "no again"}
        with pytest.raises(Conflict) as refusal:
            decide(curator=story.people.carol, request=wanted, **more)
        assert refusal.value.code == "already_decided"
    assert allotment(story) == amount("0.1")


def test_nobody_decides_their_own(story: Story) -> None:
    alice = story.people.alice
    alice.roles = [Role.ANALYST, Role.CURATOR]
    alice.save(update_fields=["roles"])
    contracts.add_member(curator=story.people.carol, contract=story.contract, user=alice, role=Role.CURATOR)
    wanted = ask(story)
    with pytest.raises(Conflict) as refusal:
        budget_requests.approve(curator=alice, request=wanted, granted=amount("0.2"))
    assert refusal.value.code == "own_request"
    assert allotment(story) == amount("0.1")


def test_a_decision_binds_to_the_row_not_to_what_the_caller_holds(story: Story) -> None:
    wanted = ask(story)
    wanted.amount = amount("0.9")  # a page that was tampered with
    with pytest.raises(BadInput):
        budget_requests.approve(curator=story.people.carol, request=wanted, granted=amount("0.9"))
    assert allotment(story) == amount("0.1")


def test_strangers_neither_ask_nor_decide(story: Story) -> None:
    wanted = ask(story)
    eve = person("eve", Role.ANALYST)
    with pytest.raises(NotYours):
        budget_requests.request(analyst=eve, contract=story.contract, amount=1, reason="please")
    for somebody in (eve, story.people.bob, story.people.dora, person("cyril", Role.CURATOR)):
        with pytest.raises(NotYours):
            budget_requests.approve(curator=somebody, request=wanted, granted=1)


def test_what_cannot_be_asked_for(story: Story) -> None:
    codes = []
    for analyst, rho, reason in [
        (story.people.alice, 0, "x"), (story.people.alice, -1, "x"), (story.people.alice, 1, "  "), (story.people.bob, 1, "x"),
    ]:  # fmt: skip
        with pytest.raises(Refused) as refusal:
            budget_requests.request(analyst=analyst, contract=story.contract, amount=rho, reason=reason)
        codes.append(refusal.value.code)
    assert codes == ["bad_number", "bad_number", "missing_text", "no_limit"]
    ask(story)
    with pytest.raises(Conflict) as refusal:
        ask(story)
    assert refusal.value.code == "request_open"
    contracts.close(curator=story.people.carol, contract=story.contract, reason="over")
    with pytest.raises(Conflict) as refusal:
        ask(story)
    assert refusal.value.code == "contract_not_open"


def test_nothing_is_granted_to_somebody_who_left_but_their_request_can_be_turned_down(story: Story) -> None:
    wanted = ask(story)
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=story.people.alice, role=Role.ANALYST)
    with pytest.raises(Conflict) as refusal:
        budget_requests.approve(curator=story.people.carol, request=wanted, granted=1)
    assert refusal.value.code == "not_a_member"
    assert budget_requests.reject(curator=story.people.carol, request=wanted, note="you left").state == "rejected"


def test_curators_and_the_asker_find_notices(story: Story) -> None:
    wanted = ask(story)
    assert Notice.objects.filter(user=story.people.carol, kind=Notice.Kind.REQUEST, request=wanted).count() == 1
    budget_requests.approve(curator=story.people.carol, request=wanted, granted=1)
    assert Notice.objects.filter(user=story.people.alice, kind=Notice.Kind.DECISION, request=wanted).count() == 1


def test_two_curators_deciding_at_once_apply_it_once(story: Story) -> None:
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=story.people.carol, contract=story.contract, user=cyril, role=Role.CURATOR)
    curators = [story.people.carol, cyril]
    for _ in range(5):
        wanted = ask(story, "0.01")
        before = allotment(story) or 0
        decide = [partial(budget_requests.approve, curator=one, request=wanted, granted=amount("0.01")) for one in curators * 8]
        codes = at_once(decide)
        assert codes.count("") == 1
        assert codes.count("already_decided") == 15
        assert allotment(story) == before + amount("0.01")
    assert verify([story.contract]).ok


def test_allotments_requests_and_raises_at_once_leave_a_consistent_record(story: Story) -> None:
    carol, contract = story.people.carol, story.contract
    wanted = ask(story)

    def work(number: int) -> None:
        if number % 4 == 0:
            contracts.set_allotment(
                curator=carol, contract=contract, analyst=story.people.alice, rho=amount("0.1") + number, reason="x"
            )
        elif number % 4 == 1:
            contracts.raise_total(curator=carol, contract=contract, rho_total=amount("1") + number, reason="x")
        elif number % 4 == 2:
            budget_requests.approve(curator=carol, request=wanted, granted=1)
        else:
            contracts.set_allotment(curator=carol, contract=contract, analyst=story.people.bob, rho=number, reason="x")

    codes = at_once([partial(work, number) for number in range(32)])
    assert set(codes) <= {"", "already_decided", "only_upwards"}
    assert codes.count("already_decided") == 7
    contract.refresh_from_db()
    assert contract.rho_total == amount("1") + 29  # the highest of them, whatever the order
    assert verify([contract]).first_difference is None


def at_once(actions: Sequence[Callable[[], object]]) -> list[str]:
    """Do all actions in threads of their own; the code of each refusal, "" for what was done."""
    start = threading.Barrier(len(actions))

    def act(action: Callable[[], object]) -> str:
        start.wait()
        try:
            action()
            return ""
        except Refused as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(act, actions))
