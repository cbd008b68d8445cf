"""A quote says beforehand what the controller then does, and changes nothing."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from curator.language import parse_ask
from curator.models import Contract, Decision, Query
from curator.selectors import formatting
from curator.selectors.quotes import Quote, quote
from curator.selectors.workspace import schema_of
from curator.services import contracts, execution
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.web.scene import accuracy, ask, within

pytestmark = pytest.mark.usefixtures("db")

OLD = {"column": "age", "at_least": "40"}
FEMALE = {"column": "sex", "equals": "F"}


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def priced(contract: Contract, who: User, body: dict[str, Any]) -> Quote:
    contract.refresh_from_db()
    return quote(contract=contract, analyst=who, ask=parse_ask(body, schema=schema_of(contract), table="people"))


def settle(people: Cast, contract: Contract, who: str, body: dict[str, Any]) -> Decision:
    key = f"k{Query.objects.count()}"
    row = ask(people, contract, who, body, key=key)
    execution.run(contract.pk)
    return Decision.objects.get(query=row)


STREAM: list[tuple[str, dict[str, Any]]] = [
    ("alice", within(25, OLD)),
    ("bob", {"sql": "SELECT COUNT(*) FROM people WHERE NOT age < 40", **accuracy(25)}),
    ("alice", within(10, OLD)),
    ("bob", {"group_by": [{"column": "sex"}], **accuracy(15)}),
    ("alice", within(15, FEMALE)),
    ("alice", {"group_by": [{"column": "city"}, {"column": "sex"}], **accuracy(12)}),
    ("bob", within(5, FEMALE, under_scarcity="all_or_nothing")),
    ("alice", {"where": {"column": "age", "more_than": "99"}, **accuracy(3)}),
    ("bob", {"where": {"always": True}, "accuracy": {"standard_error": "8"}}),
    ("alice", {"where": FEMALE, "accuracy": {"rho": "0.03"}}),
]


def test_what_is_quoted_is_what_is_charged(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0.2", "bob": "0.05"})
    for who, body in STREAM:
        told = priced(contract, getattr(people, who), body)
        done = settle(people, contract, who, body)
        assert told.charge == done.load, body
        assert told.kind == done.kind, body
        assert told.regime in (done.regime, "known"), body
        assert told.available == done.available, body


def test_a_quote_writes_nothing_and_asks_the_database_alike_for_few_bins_and_many(people: Cast) -> None:
    contract = make_contract(people, allotments={"alice": "0.2"})
    counted = []
    for body in (within(25, OLD), {"group_by": [{"column": "age"}, {"column": "city"}], **accuracy(25)}):
        priced(contract, people.alice, body)
        with CaptureQueriesContext(connection) as told:
            priced(contract, people.alice, body)
        counted.append(len(told))
        assert all(each["sql"].startswith("SELECT") for each in told)
    assert counted[0] == counted[1] <= 8


def test_at_which_bound_it_is_free_is_told_and_true(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0.2", "bob": "0.2"})
    settle(people, contract, "alice", within(25, OLD))
    told = priced(contract, people.bob, within(10, OLD))
    assert told.free_within == 25
    assert priced(contract, people.bob, within(25, OLD)).charge == 0
    assert priced(contract, people.bob, within(24, OLD)).charge > 0


def test_the_smallest_bound_that_a_cap_allows_is_told_and_true(people: Cast) -> None:
    contract = make_contract(people, query_cap=units("0.05"))
    told = priced(contract, people.alice, within(5, OLD))
    assert (told.limit, told.reachable) == ("cap", 7)
    assert priced(contract, people.alice, within(7, OLD)).lacking == 0
    assert priced(contract, people.alice, within(6, OLD)).lacking > 0


def test_the_last_of_eleven_elevenths_is_told_what_it_lacks(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    eleventh = "0.090909090909090909"
    for age in range(10):
        settle(people, contract, "alice", {"where": {"column": "age", "equals": str(age)}, "accuracy": {"rho": eleventh}})
    told = priced(contract, people.alice, {"where": {"column": "age", "equals": "10"}, "accuracy": {"rho": eleventh}})
    assert told.lacking == 11 * 90_909_090_910 - 10**12 == 10
    assert told.regime == "scarce"


def test_all_that_remains_as_shown_can_be_spent(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    settle(people, contract, "alice", within(3, OLD))
    shown = formatting.amount(priced(contract, people.alice, within(25, FEMALE)).my_left)
    told = priced(contract, people.alice, {"where": FEMALE, "accuracy": {"rho": shown}})
    assert (told.regime, told.lacking) == ("feasible", 0)


def test_partition_is_quoted_beside(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, kappa="0", allotments={"alice": "0.1", "bob": "0.002"})
    settle(people, contract, "alice", within(25, OLD))
    told = priced(contract, people.bob, within(25, OLD))
    assert (told.charge, told.credited, told.baseline) == (0, units("0.003073167057"), units("0.002"))
    assert told.baseline_kind == "partial"


def test_where_the_price_hangs_on_a_diagnostic_the_quote_gives_a_range(people: Cast) -> None:
    contract = make_contract(people, xi="0.05", kappa="0.5", allotments={"alice": "0.05"})
    told = priced(contract, people.alice, within(2, OLD))
    assert told.regime == "scarce"
    assert told.charge_range[0] == 0 < told.charge_range[1] == units("0.05")


def test_a_relative_target_has_no_price_before_its_diagnostic(people: Cast) -> None:
    contract = make_contract(people, xi="0.05")
    told = priced(contract, people.alice, {"where": OLD, "accuracy": {"relative": "0.05", "confidence": "0.95"}})
    assert (told.regime, told.rho_min, told.baseline) == ("unknown", None, None)
    assert "diagnostic" in told.bound


def test_nothing_is_available_once_a_contract_is_frozen(people: Cast) -> None:
    contract = make_contract(people)
    contracts.freeze(curator=people.carol, contract=contract, reason="Pause")
    assert priced(contract, people.alice, within(25, OLD)).available == 0


def test_monotone_in_the_bound_and_in_the_confidence(people: Cast) -> None:
    contract = make_contract(people)
    bounds = [priced(contract, people.alice, within(bound, OLD)).rho_min or 0 for bound in (20, 10, 5, 1)]
    assert bounds == [4801823526, 19207294104, 76829176414, 1920729410348]
    sure = [
        priced(contract, people.alice, {"where": OLD, "accuracy": {"within": 10, "confidence": str(Decimal(c) / 100)}}).rho_min
        or 0
        for c in (90, 95, 99)
    ]
    assert sure == sorted(sure)
    assert sure[2] == 33174483006


def test_a_quote_of_a_frozen_contract_says_that_it_is_not_open(people: Cast) -> None:
    contract = make_contract(people)
    contracts.freeze(curator=people.carol, contract=contract, reason="A question about the source")
    told = priced(contract, people.alice, within(25, OLD))
    assert (told.kind, told.reason, told.charge) == ("decline", "contract_not_open", 0)
