"""Asking through the form: what is wrong is told beside the field, and nothing is charged, read or stored."""

import re
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client

from curator.models import AuditEvent, Contract, LedgerEntry, Query
from curator.services import contracts
from tests.cast import Cast, make_contract
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

GOOD = {
    "key": "form-1", "view": "conditions", "match": "all", "row-0-column": "age", "row-0-test": "at_least", "row-0-value": "40",
    "kind": "within", "amount": "25", "confidence": "95", "under_scarcity": "partial", "do": "ask",
}  # fmt: skip
SQL = {**{name: value for name, value in GOOD.items() if not name.startswith("row")}, "view": "sql"}


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, allotments={"alice": "0.5", "bob": "0"})


@pytest.fixture
def alice(people: Cast) -> Client:
    return browser_of(people.alice)


def send(client: Client, contract: Contract, **changes: Any) -> HttpResponseBase:
    return client.post(f"/contracts/{contract.uid}/ask/", {**GOOD, **changes})


def html(answer: HttpResponseBase) -> str:
    return bytes(getattr(answer, "content", b"")).decode()


def text(answer: HttpResponseBase) -> str:
    """The page's words, with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html(answer)))


BAD = [
    ({"row-0-value": "forty"}, "Condition 1: "),
    ({"row-0-value": ""}, "Condition 1: This condition still needs a value."),
    ({"row-0-test": "equals", "row-0-value": "200"}, "from 0 to 99"),
    ({"row-0-test": "between", "row-0-low": "", "row-0-high": "3"}, "Condition 1: This condition still needs a value."),
    ({"kind": "about"}, "one of the kinds of accuracy"),
    ({"amount": "0"}, "whole number of people"),
    ({"amount": "-5"}, "whole number of people"),
    ({"amount": "2.5"}, "whole number of people"),
    ({"amount": "NaN"}, "decimal number"),
    ({"amount": "Infinity"}, "decimal number"),
    ({"amount": "1e309"}, "decimal number"),
    ({"amount": ""}, "decimal number"),
    ({"confidence": "40"}, "between 50 % and 100 %"),
    ({"confidence": "100"}, "between 50 % and 100 %"),
    ({"confidence": "120"}, "between 50 % and 100 %"),
    ({"confidence": "sure"}, "decimal number"),
    ({"kind": "standard_error", "amount": "0"}, "from 0.001"),
    ({"kind": "rho", "amount": "-1"}, "amount of rho"),
    ({"kind": "relative", "amount": "200"}, "number from"),
    ({"under_scarcity": "all"}, "partial or all_or_nothing"),
    ({"label": "x" * 300}, "at most 200 characters"),
    ({"group-0-column": "age", "group-0-how": "bins", "group-0-text": "101"}, "at most 100 bins"),
    ({"group-0-column": "age", "group-0-how": "bins", "group-0-text": "0"}, "at least one bin"),
    ({"group-0-column": "age", "group-0-how": "edges", "group-0-text": "0, 50, 30"}, "Edges rise"),
]


@pytest.mark.parametrize(("changes", "told"), BAD)
def test_bad_input_is_told_beside_its_field_and_costs_nothing(
    alice: Client, contract: Contract, changes: dict[str, str], told: str
) -> None:
    before = AuditEvent.objects.count()
    answer = send(alice, contract, **changes)
    assert answer.status_code == 400
    assert told in text(answer)
    assert "Nothing was charged" in text(answer)
    assert 'aria-invalid="true"' in html(answer) or "under_scarcity" in changes
    assert not Query.objects.exists()
    assert not LedgerEntry.objects.exists()
    assert AuditEvent.objects.count() == before


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("", "SQL"),
        ("SELECT agee FROM people", ""),
        ("SELECT COUNT(*) FROM people WHERE agee > 3", 'Did you mean "age"?'),
        ("SELECT COUNT(*) FROM people WHERE age = 'x'", "expected a whole number"),
        ("DROP TABLE people", ""),
        ("SELECT SUM(age) FROM people", ""),
        ("SELECT COUNT(*) FROM people; SELECT 1", ""),
    ],
)
def test_sql_that_is_no_count_is_refused_with_the_reason(alice: Client, contract: Contract, sql: str, told: str) -> None:
    for do in ("ask", "to-conditions", "quote"):
        answer = alice.post(f"/contracts/{contract.uid}/ask/", {**SQL, "sql": sql, "do": do})
        assert answer.status_code == 400, do
        assert told in text(answer).replace("&quot;", '"'), do
        assert 'id="sql-problem"' in html(answer)
    assert not Query.objects.exists()


def test_a_quote_neither_spends_nor_writes(alice: Client, contract: Contract) -> None:
    before = AuditEvent.objects.count()
    answer = alice.post(f"/contracts/{contract.uid}/quote/", GOOD)
    assert "0.00308 ρ" in text(answer)
    assert alice.post(f"/contracts/{contract.uid}/quote/", {**GOOD, "amount": "0"}).status_code == 400
    assert not Query.objects.exists()
    assert AuditEvent.objects.count() == before


def test_one_form_makes_one_question_however_often_it_is_sent(alice: Client, contract: Contract) -> None:
    addresses = {send(alice, contract).headers["Location"] for _ in range(5)}
    assert len(addresses) == 1
    assert Query.objects.count() == 1


def test_a_form_sent_again_with_another_question_is_told_so_and_gets_a_new_key(alice: Client, contract: Contract) -> None:
    send(alice, contract)
    answer = send(alice, contract, amount="10")
    assert answer.status_code == 409
    assert "sent before" in text(answer)
    key = re.search(r'name="key" value="([^"]+)"', html(answer))
    assert key
    assert key[1] != "form-1"
    assert Query.objects.count() == 1
    assert send(alice, contract, amount="10", key=key[1]).status_code == 303
    assert Query.objects.count() == 2


def test_a_contract_that_is_not_open_takes_no_question(alice: Client, contract: Contract, people: Cast) -> None:
    contracts.freeze(curator=people.carol, contract=contract, reason="A question about the source")
    answer = send(alice, contract)
    assert answer.status_code == 409
    assert "frozen" in text(answer)
    assert not Query.objects.exists()


def test_an_allotment_of_nothing_is_told_before_asking(contract: Contract, people: Cast) -> None:
    answer = browser_of(people.bob).post(f"/contracts/{contract.uid}/quote/", GOOD)
    assert "This needs 0.00308 ρ more than your allotment has left" in text(answer)
    assert "it would be declined and nothing would be spent" in text(answer)


def test_a_label_is_text_wherever_it_is_shown(alice: Client, contract: Contract, people: Cast) -> None:
    label = "<img src=x onerror=alert(1)>"
    address = send(alice, contract, label=label).headers["Location"]
    for client in (alice, browser_of(people.carol), browser_of(people.dora)):
        shown = client.get(address).content.decode()
        assert label not in shown
        assert "&lt;img src=x onerror=alert(1)&gt;" in shown
    assert label not in alice.get(f"/contracts/{contract.uid}/").content.decode()


@pytest.mark.parametrize(
    "step", ["add", "remove-0", "remove-7", "group", "ungroup-0", "to-sql", "to-conditions", "refresh", "quote", "nonsense"]
)
def test_every_button_of_the_form_gives_the_page_back(alice: Client, contract: Contract, step: str) -> None:
    for form in (GOOD, {**SQL, "sql": "SELECT sex, COUNT(*) FROM people WHERE NOT age BETWEEN 3 AND 9 GROUP BY sex"}):
        answer = alice.post(f"/contracts/{contract.uid}/ask/", {**form, "do": step})
        assert answer.status_code == 200, text(answer)
    assert not Query.objects.exists()


def test_a_row_that_was_only_just_added_is_no_fault_yet(alice: Client, contract: Contract) -> None:
    page = html(send(alice, contract, **{"do": "add", "row-0-value": ""}))
    assert "put right" not in page.partition('id="ask-form"')[2].partition("</form>")[0]
    assert "still needs a value" in page.partition('id="quote"')[2], "the price says what it waits for"


def test_a_scarce_quote_promises_no_accuracy_that_it_will_not_reach(people: Cast) -> None:
    contract = make_contract(people, kappa="0", allotments={"alice": "0.5", "bob": "0.01"})
    page = text(browser_of(people.bob).post(f"/contracts/{contract.uid}/quote/", {**GOOD, "amount": "5"}))
    assert "You would get ±14" in page
    assert "within 5 people" not in page
    assert "Request more budget" in page
    assert ", for 0.0100 ρ" in page, "the button says what pressing it costs"


def test_where_a_diagnostic_decides_the_button_says_the_most_it_may_cost(people: Cast) -> None:
    contract = make_contract(people, xi="0.05", kappa="0.5", allotments={"alice": "0.05"})
    page = text(browser_of(people.alice).post(f"/contracts/{contract.uid}/quote/", {**GOOD, "amount": "2"}))
    assert "At best you would get ±7" in page
    assert ", up to 0.0500 ρ" in page


def test_a_partition_that_would_decline_is_not_shown_as_free(contract: Contract, people: Cast) -> None:
    page = html(browser_of(people.bob).post(f"/contracts/{contract.uid}/quote/", GOOD))
    assert "does not answer it" in page
    assert "fill-budget_partition" not in page
    assert "Bins:" not in page, "a single count has none"


def test_a_histogram_is_quoted_with_its_bins_and_why_they_cost_as_much_as_one(alice: Client, contract: Contract) -> None:
    bins = {"group-0-column": "age", "group-0-how": "bins", "group-0-text": "10"}
    everybody = {name: value for name, value in GOOD.items() if not name.startswith("row")}
    page = text(alice.post(f"/contracts/{contract.uid}/quote/", everybody | bins))
    assert "Bins: 0 to 9; 10 to 19; 20 to 29; …" in page
    assert "cost as much as the dearest" in page


def test_too_many_quotes_are_refused_calmly_in_the_panel_and_the_form_stays(
    people: Cast, contract: Contract, alice: Client, settings: Any
) -> None:
    settings.QUOTE_RATE = "2/hour"
    address = f"/contracts/{contract.uid}/quote/"
    for _ in range(2):
        assert alice.post(address, GOOD).status_code == 200
    refused = alice.post(address, GOOD)
    assert (refused.status_code, "Too many requests: try again in" in text(refused)) == (429, True)
    assert int(refused.headers["Retry-After"]) > 0
    for step in ("ask", "rehearse", "quote", "to-sql", "save"):
        page = send(alice, contract, do=step, label="kept")
        assert (page.status_code, "Too many requests" in text(page), 'value="40"' in html(page)) == (429, True, True), step
    assert alice.get(f"/contracts/{contract.uid}/ask/").status_code == 429
    assert not Query.objects.exists()
    assert browser_of(people.bob).post(address, GOOD).status_code == 200
