"""Taking questions in: once per key, in order, told to the worker on commit; and taking them back."""

import datetime
import json
import logging
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from kombu.exceptions import OperationalError as BrokerAway

from accounts.models import User
from curator import queue
from curator.mechanism.errors import BadInput, Conflict, Refused, TooLarge, TooMany
from curator.models import AuditEvent, Contract, Descriptor, LedgerEntry, Query, QueryBin
from curator.services import contracts, execution, queries
from tests.cast import Cast, make_contract, make_version
from tests.fixtures.figures import Figure
from tests.worker.scene import MEN, WOMEN, answer, ask, at_once, body, elsewhere, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The contracts that were rung for; nothing is sent."""
    rung: list[int] = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: rung.append(row_id))
    return rung


def submit(analyst: User, contract: Contract, asked: Any, key: str) -> int:
    """The first question's id."""
    return queries.submit(analyst=analyst, contract=contract, body=asked, key=key)[0].pk


@pytest.mark.trust
def test_one_key_a_hundred_times_makes_one_question(people: Cast, contract: Contract, bells: list[int], figure: Figure) -> None:
    fifty = [partial(submit, people.alice, contract, body(WOMEN), "the-form")] * 50  # a server has 100 connections by default
    assert len({*at_once(fifty), *at_once(fifty)}) == 1
    assert Query.objects.count() == QueryBin.objects.count() == 1
    assert AuditEvent.objects.filter(kind="query.submitted").count() == 1
    assert bells == [contract.pk]
    execution.run(contract.pk)
    charges = LedgerEntry.objects.count()
    values = {answer(Query.objects.get(pk=number)).value for number in at_once(fifty)}
    assert (len(values), charges) == (1, 1)
    figure(row=3, n=150, seen="one key 150 times, 50 at once: distinct values 1, charges 1")


@pytest.mark.trust
def test_without_a_look_at_the_key_each_press_would_be_a_question(
    people: Cast, contract: Contract, bells: list[int], monkeypatch: pytest.MonkeyPatch,
    owner_connection: psycopg.Connection[Any], figure: Figure,
) -> None:  # fmt: skip
    owner_connection.execute("ALTER TABLE curator_query DROP CONSTRAINT query_once_per_key")
    monkeypatch.setattr(queries, "_earlier", lambda *_: [])
    made = {*at_once([partial(submit, people.alice, contract, body(WOMEN), "the-form")] * 20)}
    assert len(made) == Query.objects.count() == 20
    figure(row=3, n=20, mutant="without the look at the key: one form made 20 questions, caught")


def test_a_key_with_another_body_is_refused_and_the_first_stands(people: Cast, contract: Contract) -> None:
    first = ask(people.alice, contract, WOMEN, key="k")
    with pytest.raises(Conflict) as refused:
        ask(people.alice, contract, MEN, key="k")
    assert (refused.value.code, refused.value.field) == ("key_reused", "key")
    assert ask(people.alice, contract, WOMEN, key="k") == first


@pytest.mark.trust
def test_two_bodies_racing_under_one_key_make_one_question(
    people: Cast, contract: Contract, bells: list[int], figure: Figure
) -> None:
    """Two tabs with one form, filled in differently."""
    works = [partial(submit, people.alice, contract, body(where), "k") for where in (WOMEN, MEN)]
    came = at_once(works * 8)
    assert came.count("key_reused") == 8
    assert Query.objects.count() == 1
    figure(row=3, n=16, seen="two bodies under one key, 8 times each at once: questions 1, refused as reused 8")


def test_keys_are_each_analysts_own(people: Cast, contract: Contract) -> None:
    assert ask(people.alice, contract, WOMEN, key="k") != ask(people.bob, contract, WOMEN, key="k")


def test_a_key_still_gives_its_question_after_the_contract_closed(people: Cast, contract: Contract) -> None:
    first = ask(people.alice, contract, WOMEN, key="k")
    contracts.close(curator=people.carol, contract=contract, reason="done")
    assert ask(people.alice, contract, WOMEN, key="k") == first


def test_bytes_and_their_meaning_are_one_body(people: Cast, contract: Contract) -> None:
    sent = json.dumps(body(WOMEN)).encode()
    one = queries.submit(analyst=people.alice, contract=contract, body=sent, key="k")
    assert queries.submit(analyst=people.alice, contract=contract, body=body(WOMEN), key="k") == one


def test_a_list_is_kept_in_its_order_and_given_back_whole(people: Cast, contract: Contract) -> None:
    asked = [body(where) for where, _ in zip(places(), range(40), strict=False)]
    made = queries.submit(analyst=people.alice, contract=contract, body=asked, key="k")
    again = queries.submit(analyst=people.alice, contract=contract, body=asked, key="k")
    assert made == again
    assert [row.position for row in made] == list(range(40))
    assert [row.pk for row in made] == sorted(row.pk for row in made)


def test_one_wrong_question_in_a_list_refuses_the_list_and_says_which(people: Cast, contract: Contract) -> None:
    asked = [body(WOMEN), body({"column": "agee", "equals": 3})]
    with pytest.raises(BadInput) as refused:
        queries.submit(analyst=people.alice, contract=contract, body=asked, key="k")
    assert refused.value.code == "unknown_column"
    assert refused.value.field is not None and refused.value.field.startswith("[1].where")
    assert not Query.objects.exists()


@pytest.mark.parametrize(
    ("asked", "error", "code"),
    [
        ([], BadInput, "no_questions"),
        ([body(WOMEN)] * 501, TooLarge, "too_many_questions"),
        ([body(group_by=[{"column": "age"}, {"column": "city"}])] * 45, TooLarge, "too_many_bins"),
        ("count everybody", BadInput, "bad_question"),
    ],
    ids=["none", "501", "45 histograms", "text"],
)
def test_what_is_no_question_or_too_many_of_them_is_refused(
    people: Cast, contract: Contract, asked: Any, error: type[Refused], code: str
) -> None:
    with pytest.raises(error) as refused:
        queries.submit(analyst=people.alice, contract=contract, body=asked, key="k")
    assert refused.value.code == code
    assert not Query.objects.exists()


@pytest.mark.parametrize(
    "accuracy",
    [{"within": -5}, {"within": 0}, {"within": 2.5}, {"within": "NaN"}, {"within": "1e309"}, {"within": "-inf"}, {"rho": "-1"},
     {"within": 5, "confidence": 1.2}, {"within": 5, "confidence": 0.5}, {"rho": "-0"}, {"standard_error": 0}, {"relative": 0}],
    ids=str,
)  # fmt: skip
def test_an_impossible_accuracy_is_refused_with_its_field_and_leaves_no_row(
    people: Cast, contract: Contract, accuracy: dict[str, Any]
) -> None:
    with pytest.raises(BadInput) as refused:
        ask(people.alice, contract, WOMEN, **accuracy)
    assert refused.value.field is not None and refused.value.field.startswith("accuracy.")
    assert not Query.objects.exists() and not Descriptor.objects.exists()


@pytest.mark.parametrize("key", ["", "   ", "k" * 101, "a\nb"])
def test_a_key_is_one_short_line(people: Cast, contract: Contract, key: str) -> None:
    with pytest.raises(BadInput) as refused:
        queries.submit(analyst=people.alice, contract=contract, body=body(WOMEN), key=key)
    assert refused.value.field == "key"


@pytest.mark.parametrize("stop", [contracts.freeze, contracts.close])
def test_a_contract_that_is_not_open_takes_no_question(people: Cast, contract: Contract, stop: Any) -> None:
    stop(curator=people.carol, contract=contract, reason="enough")
    with pytest.raises(Conflict) as refused:
        ask(people.alice, contract, WOMEN)
    assert refused.value.code == "contract_not_open"


def test_a_contract_past_its_last_day_takes_no_question(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = datetime.date(2030, 5, 31)
    contracts.set_end_date(curator=people.carol, contract=contract, ends_on=last)
    for day, hour, allowed in ((31, 23, True), (1, 0, False)):
        moment = datetime.datetime(2030, 5 if day == 31 else 6, day, hour, 59, tzinfo=datetime.UTC)
        monkeypatch.setattr(queries, "datetime", _Clock(moment))
        if allowed:
            ask(people.alice, contract, WOMEN)
        else:
            with pytest.raises(Conflict, match="past its last day"):
                ask(people.alice, contract, WOMEN)


class _Clock:
    def __init__(self, moment: datetime.datetime) -> None:
        self.moment = moment

    def now(self, _zone: datetime.tzinfo) -> datetime.datetime:
        return self.moment


def test_one_person_may_let_only_so_many_questions_wait(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_WAITING", 3)
    where = places()
    for _ in range(3):
        ask(people.alice, contract, next(where))
    with pytest.raises(TooMany) as refused:
        ask(people.alice, contract, next(where))
    assert refused.value.code == "too_many_waiting"
    ask(people.bob, contract, next(where))  # others are not held up by her
    execution.run(contract.pk)
    ask(people.alice, contract, next(where))


def test_one_person_may_let_only_so_many_bins_wait(people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_WAITING_BINS", 150)
    ask(people.alice, contract, group_by=[{"column": "age"}])
    with pytest.raises(TooMany):
        ask(people.alice, contract, group_by=[{"column": "age"}])


def test_ids_are_in_the_order_of_the_chain_whoever_races(people: Cast, contract: Contract, bells: list[int]) -> None:
    where = list(places())[:64]
    at_once([partial(submit, (people.alice, people.bob)[n % 2], contract, body(each), f"k{n}") for n, each in enumerate(where)])
    events = AuditEvent.objects.filter(kind="query.submitted").order_by("seq").values_list("query", flat=True)
    assert list(events) == list(Query.objects.order_by("id").values_list("uid", flat=True))


def test_the_same_new_descriptors_in_opposite_order_do_not_wait_in_a_circle(people: Cast, bells: list[int]) -> None:
    version = make_version(people.carol)
    one, two = make_contract(people, version), make_contract(people, version)
    asked = [body(where) for where, _ in zip(places(), range(60), strict=False)]
    at_once([partial(submit, people.alice, one, asked, "k"), partial(submit, people.alice, two, asked[::-1], "k")])
    assert (one.queries.count(), two.queries.count()) == (60, 60)
    assert Descriptor.objects.count() == 60


def test_new_descriptors_are_made_in_one_order_whatever_the_order_asked(
    people: Cast, contract: Contract, bells: list[int]
) -> None:
    asked = [body(where) for where, _ in zip(places(), range(60), strict=False)]
    queries.submit(analyst=people.alice, contract=contract, body=asked, key="k")
    with connection.cursor() as cursor:
        cursor.execute("SELECT digest FROM curator_descriptor ORDER BY ctid")
        made = [digest for (digest,) in cursor.fetchall()]
    assert made == sorted(made) and len(made) == 60


def test_the_bell_rings_once_the_question_can_be_seen_and_not_for_one_taken_back(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: seen.append(_seen_elsewhere()))
    with transaction.atomic():
        ask(people.alice, contract, WOMEN)
        assert seen == []
    assert seen == [1]
    with pytest.raises(RuntimeError), transaction.atomic():
        ask(people.alice, contract, MEN)
        raise RuntimeError
    assert seen == [1]


def _seen_elsewhere() -> int:
    found: list[int] = []
    elsewhere(lambda: found.append(Query.objects.count()))
    return found[0]


def test_no_second_bell_while_older_questions_wait(people: Cast, contract: Contract, bells: list[int]) -> None:
    ask(people.alice, contract, WOMEN)
    ask(people.bob, contract, MEN)
    assert bells == [contract.pk]
    execution.run(contract.pk)
    ask(people.bob, contract, MEN)
    assert bells == [contract.pk] * 2


@pytest.mark.parametrize("error", [BrokerAway("redis://:pa55word@broker"), ConnectionRefusedError("pa55word")], ids=str)
def test_a_broker_that_is_away_neither_fails_the_request_nor_shows_its_password(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def send_task(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("curator.queue.current_app.send_task", send_task)
    with caplog.at_level(logging.INFO):
        query = ask(people.alice, contract, WOMEN)
    assert state(query) == "waiting"
    assert "not delivered" in caplog.text and "pa55word" not in caplog.text


def test_a_bell_that_breaks_in_a_way_nobody_thought_of_does_not_fail_the_request(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_task(*_: Any, **__: Any) -> None:
        raise RuntimeError("acquire on closed pool")

    monkeypatch.setattr("curator.queue.current_app.send_task", send_task)
    assert state(ask(people.alice, contract, WOMEN)) == "waiting"
