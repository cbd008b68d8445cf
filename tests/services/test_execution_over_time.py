"""What changes while questions wait: versions, settings, people; and what a decision leaves behind."""

import datetime
from functools import partial
from typing import Any

import pytest

from curator import queue
from curator.models import AuditEvent, Contract, Decision, LedgerEntry, Query, Release, Support
from curator.services import contracts, execution, failpoints, memberships
from tests.cast import ROWS, Cast, make_contract, make_version, units
from tests.services.serving import decision, run, served, spent
from tests.worker.scene import MEN, WOMEN, answer, ask, check_books, once, places, state

pytestmark = pytest.mark.django_db

#: rho_min in units at 95 %: z * z / (2 * E * E).
AT_10, AT_5 = 19_207_294_104, 76_829_176_414


def test_a_new_version_is_not_credited_and_spending_adds_up(people: Cast, contract: Contract) -> None:
    ask(people.alice, contract, WOMEN, within=10)
    old = ask(people.alice, contract, MEN, within=10)
    second = make_version(people.carol, rows=ROWS[:6], dataset=contract.dataset)
    contracts.set_version(curator=people.carol, contract=contract, version=second, reason="a later survey")
    contract.refresh_from_db()
    new = ask(people.alice, contract, WOMEN, within=10)
    assert [each.load for each in served(contract, old, new)] == [AT_10, AT_10]
    assert (answer(new).rho_hist, spent(contract)) == (0, 3 * AT_10)
    assert (old.version_id, new.version_id) == (contract.version.dataset.versions.get(number=1).pk, second.pk)


def test_two_contracts_over_one_version_do_not_credit_each_other(people: Cast, contract: Contract) -> None:
    other = make_contract(people, contract.version)
    ask(people.alice, contract, WOMEN, within=10)
    run(contract)
    query = ask(people.alice, other, WOMEN, within=10)
    assert served(other, query)[0].load == AT_10


def test_a_charge_of_nothing_means_that_history_was_enough(people: Cast, contract: Contract) -> None:
    for bound in (40, 10, 20, 5, 5, 30):
        ask(people.alice, contract, WOMEN, within=bound)
    run(contract)
    for told in Decision.objects.filter(kind="reuse"):
        assert told.load == 0
        assert all(each.rho_hist >= (each.rho_min or 0) for each in told.query.answers.all())
    assert not Decision.objects.filter(kind="measure", load=0).exists()


def test_two_need_the_rest_and_one_gets_it(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.02")
    asked = [ask(people.alice, contract, WOMEN, within=10), ask(people.bob, contract, MEN, within=10)]
    one, two = served(contract, *asked)
    assert (one.kind, one.load) == ("measure", AT_10)
    assert two.kind in {"partial", "decline"}
    assert spent(contract) <= contract.rho_ans


@pytest.mark.parametrize("stop", [contracts.freeze, contracts.close])
def test_a_contract_stopped_meanwhile_spends_nothing_but_gives_what_is_held(people: Cast, contract: Contract, stop: Any) -> None:
    held = ask(people.alice, contract, WOMEN, rho="0.1")
    run(contract)
    fresh, free = ask(people.alice, contract, MEN), ask(people.bob, contract, WOMEN, rho="0.05")
    more = ask(people.bob, contract, WOMEN, rho="0.5")
    stop(curator=people.carol, contract=contract, reason="a question came up")
    told = served(contract, fresh, free, more)
    assert [(each.kind, each.reason, each.load) for each in told] == [
        ("decline", "contract_not_open", 0), ("reuse", "", 0), ("decline", "contract_not_open", 0),
    ]  # fmt: skip
    assert answer(more).value == answer(held).value


def test_a_contract_serves_through_the_end_of_its_last_day(people: Cast, contract: Contract) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    contracts.set_end_date(curator=people.carol, contract=contract, ends_on=today + datetime.timedelta(days=1))
    contract.refresh_from_db()
    query = ask(people.alice, contract, WOMEN)
    assert served(contract, query)[0].kind == "measure"


def test_what_arrived_first_is_decided_first(people: Cast, contract: Contract) -> None:
    where = places()
    asked = [ask((people.alice, people.bob)[n % 2], contract, next(where), rho="0.001") for n in range(150)]
    run(contract)
    decided = Decision.objects.order_by("event_seq").values_list("query_id", flat=True)
    assert list(decided) == [query.pk for query in asked]


def test_each_decision_is_told_in_one_event_that_its_row_points_at(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, WOMEN)
    told = served(contract, query)[0]
    event = AuditEvent.objects.get(chain=str(contract.uid), seq=told.event_seq)
    assert (event.kind, event.query, event.head) == ("query.decided", query.uid, told.head)
    assert LedgerEntry.objects.get(query=query).event_seq == told.event_seq


def test_an_answer_says_what_it_stands_on(people: Cast, contract: Contract) -> None:
    for amount in ("0.1", "0.2", "0.3"):
        ask(people.alice, contract, WOMEN, rho=amount)
    last = ask(people.bob, contract, WOMEN, rho="0.25")
    run(contract)
    held = Support.objects.get(contract=contract)
    mine = [[str(each.uid), each.rho] for each in Release.objects.order_by("id")]
    assert answer(last).certificate == mine
    assert (answer(last).rho_eff, answer(last).weighted_sum) == (held.rho_hist, held.weighted_sum)


def test_a_question_whose_contract_was_raised_after_the_look_is_read_in_the_next_round(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.1", allotments={"alice": "0"})
    query = ask(people.alice, contract, WOMEN, rho="0.05")
    raised = partial(contracts.set_allotment, curator=people.carol, contract=contract, analyst=people.alice, reason="yes")
    monkeypatch.setattr(failpoints, "reach", once("after_read", partial(raised, rho=units("0.05"))))
    monkeypatch.setattr(queue, "ring", lambda _: None)
    run(contract)
    assert state(query) == "waiting"
    assert Query.objects.get(pk=query.pk).attempts == 0
    run(contract)
    assert decision(query).kind == "measure"


def test_a_question_that_arrives_while_its_asker_is_removed_is_charged_nothing(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page had let Alice in; Carol removed her before the question was stored."""
    contract = make_contract(people, rows=ROWS)
    memberships.remove_member(curator=people.carol, contract=contract, user=people.alice, role="analyst")
    query = ask(people.alice, contract)
    execution.run(contract.pk)
    assert state(query) == "declined"
    assert not LedgerEntry.objects.exists()
    check_books(contract)
