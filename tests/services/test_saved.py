"""Keeping questions under names: one's own, bounded, and nothing happens to the record."""

from typing import Any

import pytest

from accounts import access
from curator.language import Ask, parse_ask
from curator.mechanism.errors import BadInput, Conflict, NotYours, TooMany
from curator.models import AuditEvent, Contract, LedgerEntry, Query, SavedQuestion
from curator.selectors.saved import saved_line, saved_lines
from curator.selectors.workspace import schema_of
from curator.services import memberships, queries, saved
from tests.cast import Cast, cast, make_contract

pytestmark = pytest.mark.usefixtures("db")

OLD: dict[str, Any] = {"sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "accuracy": {"within": 25, "confidence": "0.95"}}


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people)


def understood(contract: Contract, body: dict[str, Any] = OLD) -> Ask:
    return parse_ask(body, schema=schema_of(contract), table="people")


def keep(people: Cast, contract: Contract, name: str = "", who: str = "alice") -> SavedQuestion:
    return saved.save(owner=getattr(people, who), contract=contract, ask=understood(contract), name=name)


def test_alice_keeps_a_question_and_asks_it_again_as_it_was(people: Cast, contract: Contract) -> None:
    events = AuditEvent.objects.count()
    row = keep(people, contract, "Forty and over")
    line = saved_line(row)
    asked = queries.submit(analyst=people.alice, contract=contract, body=dict(line.request), key="again")[0]
    direct = queries.submit(analyst=people.alice, contract=contract, body=OLD, key="direct")[0]
    assert (asked.question, asked.accuracy, asked.under_scarcity) == (direct.question, direct.accuracy, direct.under_scarcity)
    assert asked.label == "Forty and over"
    assert AuditEvent.objects.count() == events + 2  # of the two questions; keeping one is no event
    assert not LedgerEntry.objects.exists()


def test_without_a_name_it_is_called_by_its_words_and_a_second_one_gets_a_number(people: Cast, contract: Contract) -> None:
    names = [keep(people, contract).name for _ in range(3)]
    assert names == [names[0], f"{names[0]} (2)", f"{names[0]} (3)"]
    assert "40" in names[0]


def test_a_name_is_ones_own_and_given_once(people: Cast, contract: Contract) -> None:
    keep(people, contract, "Old")
    with pytest.raises(Conflict) as refused:
        keep(people, contract, " Old ")
    assert (refused.value.code, refused.value.field) == ("name_taken", "label")
    assert keep(people, contract, "Old", who="bob").name == "Old"
    assert keep(people, contract, "old").name == "old"


def test_renaming_keeps_to_the_same_rules(people: Cast, contract: Contract) -> None:
    first, second = keep(people, contract, "First"), keep(people, contract, "Second")
    with pytest.raises(Conflict):
        saved.rename(saved=second, name="First")
    assert saved.rename(saved=first, name="First").name == "First"
    assert saved.rename(saved=first, name="Third").name == "Third"
    assert [line.name for line in saved_lines(contract, people.alice)] == ["Second", "Third"]


@pytest.mark.parametrize("name", ["a\nb", "x\x00", "‮abc", "n" * 201, "   "])
def test_names_that_are_no_line_of_text_are_refused(people: Cast, contract: Contract, name: str) -> None:
    row = keep(people, contract, "Plain")
    with pytest.raises(BadInput):
        saved.rename(saved=row, name=name)
    row.refresh_from_db()
    assert row.name == "Plain"


def test_their_number_is_bounded(people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "MOST", 2)
    keep(people, contract, "1")
    row = keep(people, contract, "2")
    with pytest.raises(TooMany) as refused:
        keep(people, contract, "3")
    assert refused.value.code == "too_many_saved"
    keep(people, contract, "3", who="bob")
    saved.delete(saved=row)
    assert keep(people, contract, "3").name == "3"


def test_a_question_that_was_asked_is_kept_under_its_label(people: Cast, contract: Contract) -> None:
    query = queries.submit(analyst=people.alice, contract=contract, body=OLD | {"label": "Old ones"}, key="k")[0]
    row = saved.save_query(owner=people.alice, query=query, name="")
    assert (row.name, row.sql, row.accuracy) == ("Old ones", query.sql, query.accuracy)
    saved.delete(saved=row)
    assert Query.objects.count() == 1


def test_bob_never_reaches_what_alice_keeps_and_alice_not_once_she_has_left(people: Cast, contract: Contract) -> None:
    row = keep(people, contract, "Mine")
    assert access.saved_for(people.alice, row.uid) == row
    with pytest.raises(NotYours):
        access.saved_for(people.bob, row.uid)
    memberships.remove_member(curator=people.carol, contract=contract, user=people.alice, role="analyst", reason="left")
    with pytest.raises(NotYours):
        access.saved_for(people.alice, row.uid)
