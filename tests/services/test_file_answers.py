"""From files to answers: whatever a file held, what is asked of it is answered with noise, and prices never look at it."""

import json
from typing import Any

import pytest
from pytest_django import Settings

from curator.models import Answer, Contract, Dataset, Decision, Query, Release
from curator.services import contracts, execution, queries, uploads
from curator.services.datasets import PrivacyUnit
from tests.cast import Cast, cast, make_contract
from tests.uploads import sent, served

pytestmark = pytest.mark.usefixtures("db")

AGE = {"name": "age", "kind": "integer", "low": 0, "high": 99, "missing": True, "out_of_domain": "other"}
CITY = {"name": "city", "kind": "category", "values": [f"city {place}" for place in range(10)], "out_of_domain": "other"}
TARGET = {"within": 20, "confidence": "0.95"}


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def opened(people: Cast, content: str, *columns: dict[str, Any]) -> Contract:
    """A contract over a file that came in through the pages' service."""
    upload = sent(people.carol, content, name=f"Panel {Dataset.objects.count()}")
    uploads.declare_all(curator=people.carol, upload=upload, columns=columns)
    uploads.hand_over(curator=people.carol, upload=upload, unit=PrivacyUnit(), ring=False)
    return make_contract(people, served(upload).version, rho_total="10")


def ask(people: Cast, contract: Contract, body: dict[str, Any], key: str) -> Query:
    return queries.submit(analyst=people.alice, contract=contract, body={"accuracy": TARGET, **body}, key=key)[0]


def prices(contract: Contract) -> list[tuple[str, int]]:
    return list(Decision.objects.filter(query__contract=contract).order_by("pk").values_list("kind", "load"))


QUESTIONS: tuple[dict[str, Any], ...] = (
    {"where": {"always": True}}, {"where": {"column": "age", "at_least": 40}}, {"where": {"column": "age", "is_missing": True}},
    {"where": {"column": "age", "is_other": True}}, {"group_by": [{"column": "age", "bins": 4}]},
)  # fmt: skip


def test_files_of_every_size_and_mess_are_asked_at_one_price(people: Cast) -> None:
    """A header alone, one row, three rows, ages that are none: the decisions are equal, and every answer has its own noise."""
    seen = []
    for content in ("", "34,\n", "34,\n51,\n,\n", "abc,\nNaN,\ninf,\n,\n34,\n"):
        contract = opened(people, f"age,x\n{content}", AGE)
        for place, question in enumerate(QUESTIONS):
            ask(people, contract, question, f"{contract.uid}{place}")
        execution.run(contract.pk)
        seen.append(prices(contract))
        assert Query.objects.filter(contract=contract, state="answered").count() == len(QUESTIONS)
        assert Release.objects.filter(contract=contract).count() == 4 + 4  # the bins beside those two were answered before
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_ten_declared_categories_of_which_three_occur_give_ten_values_of_their_own(people: Cast) -> None:
    contract = opened(people, "city,x\n" + "".join(f"city {place % 3},\n" for place in range(30)), CITY)
    query = ask(people, contract, {"group_by": [{"column": "city"}]}, "h")
    execution.run(contract.pk)
    values = list(Answer.objects.filter(query=query).order_by("position").values_list("value", flat=True))
    assert len(values) == 11  # ten and other
    assert len(set(values[3:])) > 1
    assert Release.objects.filter(contract=contract).count() == 11


def test_a_condition_that_matches_nobody_in_the_file_is_an_ordinary_noisy_number(people: Cast) -> None:
    contract = opened(people, "age,x\n" + "34,\n" * 50, AGE)
    body = {"where": {"column": "age", "at_most": 5}, "accuracy": {"standard_error": "40"}}
    asked = [ask(people, contract, {**body, "where": {"column": "age", "equals": age}}, str(age)) for age in range(12)]
    execution.run(contract.pk)
    values = {Answer.objects.get(query=query).value for query in asked}
    assert len(values) > 6
    assert min(value for value in values if value is not None) < 0


def test_nothing_is_credited_across_versions_and_spending_adds_up(people: Cast, settings: Settings) -> None:
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    contract = opened(people, "age,x\n34,\n51,\n", AGE)
    first = ask(people, contract, {"where": {"always": True}}, "first")
    execution.run(contract.pk)
    again = sent(people.carol, "x,age\n,51\n,34\n", dataset=contract.dataset)
    uploads.hand_over(curator=people.carol, upload=again, unit=PrivacyUnit(), ring=False)
    served(again)
    assert again.code == "likely_reupload"
    assert again.version is not None
    contracts.set_version(curator=people.carol, contract=contract, version=again.version, reason="Sent twice")
    contract.refresh_from_db()
    second = ask(people, contract, {"where": {"always": True}}, "second")
    execution.run(contract.pk)
    contract.refresh_from_db()
    loads = [Decision.objects.get(query=query).load for query in (first, second)]
    assert loads[0] == loads[1] > 0
    assert contract.spent_bound == sum(loads)
    assert json.dumps(again.version.schema) == json.dumps(contract.version.schema)
