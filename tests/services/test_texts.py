"""Words that people type: what is not seen as itself is refused wherever it enters."""

from typing import Any

import pytest

from accounts import services, tokens
from curator.language import parse_ask
from curator.mechanism.errors import BadInput
from curator.mechanism.schema import Schema
from curator.selectors.workspace import schema_of
from curator.services import contracts, datasets, saved, texts
from tests.cast import Cast, cast, make_contract

# turned around, hidden, marked, alone, private, without a meaning
UNSEEN = ["\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad", "\x07", "\u2028", "\ud800", "\ue000", "\U0010fffe", "\u0378"]
FINE = ["Émilie’s café – 北京", "می\u200cخواهم", "👩\u200d🔬", "a:b"]


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.mark.parametrize("mark", UNSEEN, ids=ascii)
def test_what_is_not_seen_as_itself_is_refused(mark: str) -> None:
    for read in (texts.line, texts.paragraph, texts.optional):
        with pytest.raises(BadInput) as caught:
            read(f"a{mark}b", field="name")
        assert (caught.value.code, caught.value.field) == ("bad_text", "name")
        assert mark not in str(caught.value)
    column = {"name": f"a{mark}b", "kind": "integer", "low": 0, "high": 9}
    for strange in (column, column | {"name": "a", "title": f"a{mark}b"}):
        with pytest.raises(BadInput, match="bad_schema"):
            Schema.from_json({"columns": [strange]})
    body = {"where": {"always": True}, "accuracy": {"within": 25}, "label": f"a{mark}b"}
    with pytest.raises(BadInput, match="label") as caught:
        parse_ask(body, schema=Schema.from_json({"columns": [column | {"name": "a"}]}), table="people")
    assert caught.value.field == "label"


@pytest.mark.parametrize("text", FINE)
def test_every_script_is_welcome(text: str) -> None:
    assert texts.line(text, field="name") == text


def test_names_of_things_are_seen_as_they_are(people: Cast) -> None:
    contract, name = make_contract(people), "yaP\u202eyraterces"
    query: Any = {"where": {"always": True}, "accuracy": {"within": 25}}
    ask = parse_ask(query, schema=schema_of(contract), table="people")
    for act in (
        lambda: datasets.create_dataset(curator=people.carol, name=name),
        lambda: contracts.draft(curator=people.carol, version=contract.version, name=name, rho_total=10**12),
        lambda: saved.save(owner=people.alice, contract=contract, ask=ask, name=name),
        lambda: tokens.issue(user=people.alice, name=name, scope="read", days=1),
    ):
        with pytest.raises(BadInput) as caught:
            act()
        assert caught.value.field == "name"


@pytest.mark.parametrize("name", ["dor\u0430", "d\u00f3ra", "do ra", "dora\u202e", "dora\n", "ＤＯＲＡ", "", "d" * 151])
def test_new_people_have_names_that_cannot_be_taken_for_others(people: Cast, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        services.create_user(username=name, roles=["analyst"], password="correct horse battery")
    assert (caught.value.code, caught.value.field) == ("bad_username", "username")


def test_a_name_may_be_a_mail_address(people: Cast) -> None:
    made = services.create_user(username="Dora.O+1@example-site.org", roles=["analyst"], password="correct horse battery")
    assert made.user.username == "Dora.O+1@example-site.org"
