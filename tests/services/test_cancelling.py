"""Taking a waiting question back: its asker only, and only while it waits."""

import uuid
from functools import partial

import pytest

from curator import queue
from curator.mechanism.errors import Conflict, NotYours
from curator.models import AuditEvent, Contract, Query
from curator.services import execution, failpoints, queries
from tests.cast import Cast
from tests.worker.scene import MEN, WOMEN, ask, at_once, once, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The contracts that were rung for; nothing is sent."""
    rung: list[int] = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: rung.append(row_id))
    return rung


def test_a_waiting_question_is_taken_back_and_never_decided(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, WOMEN)
    queries.cancel(analyst=people.alice, query=query)
    execution.run(contract.pk)
    assert state(query) == "cancelled"
    assert AuditEvent.objects.filter(kind="query.cancelled", query=query.uid).count() == 1
    contract.refresh_from_db()
    assert contract.spent_bound == 0


def test_only_its_asker_takes_a_question_back_and_only_while_it_waits(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, WOMEN)
    with pytest.raises(NotYours):
        queries.cancel(analyst=people.bob, query=query)
    execution.run(contract.pk)
    with pytest.raises(Conflict) as refused:
        queries.cancel(analyst=people.alice, query=query)
    assert refused.value.code == "not_waiting"
    assert state(query) == "answered"


def test_a_question_taken_back_while_it_is_read_is_passed_over(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ask(people.alice, contract, WOMEN), ask(people.bob, contract, MEN)
    monkeypatch.setattr(failpoints, "reach", once("after_read", partial(queries.cancel, analyst=people.alice, query=first)))
    execution.run(contract.pk)
    assert (state(first), state(second)) == ("cancelled", "answered")


def test_sixteen_tabs_cancel_while_the_controller_runs_and_each_question_has_one_end(
    people: Cast, contract: Contract, bells: list[int]
) -> None:
    where = places()
    asked = [ask(people.alice, contract, next(where), rho="0.001") for _ in range(60)]
    cancels = [partial(queries.cancel, analyst=people.alice, query=query) for query in asked[::4]]
    at_once([partial(execution.run, contract.pk), *cancels])
    execution.run(contract.pk)
    for query in asked:
        ends = AuditEvent.objects.filter(query=query.uid, kind__in=["query.decided", "query.cancelled"])
        assert ends.count() == 1
        assert (ends.get().kind == "query.cancelled") == (state(query) == "cancelled")


def test_a_question_is_found_by_its_uid_and_says_what_was_asked(people: Cast, contract: Contract) -> None:
    query = Query.objects.get(uid=ask(people.alice, contract, WOMEN, within=10, confidence="0.99").uid)
    assert isinstance(query.uid, uuid.UUID)
    assert query.accuracy == {"within": 10, "confidence": "0.99", "simultaneous": False}
    assert "sex" in query.sql and query.bins.get().rho_min == 33_174_483_006
