"""No page asks the database more often because more has happened: as many statements after 12, 30 and 300 questions."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from curator.models import Contract, Query
from curator.services import budget_requests, execution, memberships, queries, saved
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

SIZES = (12, 30, 300)


def questions(first: int, upto: int) -> Iterator[dict[str, Any]]:
    """Different questions, every third one asked before at another accuracy, every tenth a histogram."""
    for number in range(first, upto):
        low, bound = number % 97, 400 - number if number % 3 else 450
        accuracy = {"within": bound, "confidence": "0.95"}
        if number % 10 == 8:
            yield {"where": {"column": "age", "at_least": str(low)}, "group_by": [{"column": "city"}], "accuracy": accuracy}
        else:
            yield {"where": {"column": "age", "between": [str(low), "99"]}, "accuracy": accuracy, "label": f"Number {number}"}


def grow(people: Cast, contract: Contract, upto: int) -> None:
    """Make the history `upto` questions long, by Alice and Bob in turns, with requests and changes of allotments between them."""
    had = Query.objects.count()
    for who, part in ((people.alice, 0), (people.bob, 1)):
        body = [question for place, question in enumerate(questions(had, upto)) if place % 2 == part]
        queries.submit(analyst=who, contract=contract, body=body, key=f"up to {upto}")
    execution.run(contract.pk)
    for number in range(max(1, (upto - had) // 10)):
        row = budget_requests.request(analyst=people.bob, contract=contract, amount=number + 1, reason="More.")
        budget_requests.approve(curator=people.carol, request=row, granted=number + 1, note="Yes.")
        memberships.set_allotment(
            curator=people.carol, contract=contract, analyst=people.alice, rho=units(f"0.{upto}{number + 1}"), reason="Again."
        )
    for asked in Query.objects.filter(analyst=people.alice).order_by("-id")[: min(40, upto // 3)]:
        saved.save_query(owner=people.alice, query=asked, name=f"{asked.pk} of {upto}")


def addresses(contract: Contract) -> dict[str, list[str]]:
    """What each person looks at; questions are the newest count and the newest histogram of Alice's."""
    inside, api = f"/contracts/{contract.uid}", f"/api/v1/contracts/{contract.uid}"
    mine = Query.objects.filter(contract=contract, analyst__username="alice").exclude(state="waiting").order_by("-id")
    count, histogram = (mine.filter(aggregate=kind)[0].uid for kind in (Query.Aggregate.COUNT, Query.Aggregate.HISTOGRAM))
    per_query = [
        f"/queries/{uid}/{part}" for uid in (count, histogram) for part in ("", "status/", "download.csv", "download.json")
    ]
    return {
        "alice": ["/", f"{inside}/", f"{inside}/ask/", f"{inside}/ask/?from={count}", f"{inside}/released/",
                  f"{inside}/released/?column=age&within=450", f"{inside}/saved/", f"{inside}/compare/",
                  f"{inside}/compare/?whose=all", f"{inside}/budget/", *per_query, "/api/v1/contracts/", f"{api}/",
                  f"{api}/queries/", f"{api}/releases/", f"{api}/released/", f"{api}/comparison/", f"{api}/comparison/?whose=all",
                  f"{api}/saved/", f"/api/v1/queries/{count}/", f"/api/v1/queries/{histogram}/",
                  f"/api/v1/queries/{histogram}/answer/", f"/api/v1/queries/{count}/answer.csv/", "/api/v1/notices/"],
        "carol": ["/", f"{inside}/control/", f"{inside}/people/", f"{inside}/requests/", f"{inside}/compare/",
                  f"{inside}/compare/?whose=bob", f"{inside}/laboratory/", "/datasets/", f"/datasets/{contract.dataset.uid}/",
                  "/contracts/new/", f"/queries/{count}/", f"{api}/budget-requests/",
                  f"{api}/budget-requests/inbox/", f"{api}/members/", f"{api}/control/", f"{api}/experiments/",
                  f"/api/v1/datasets/{contract.dataset.uid}/"],
        "dora": ["/", "/audit/", f"/audit/?chain={contract.uid}&kind=query.decided", f"/audit/{contract.uid}/1/",
                 "/audit/verify/", f"/api/v1/audit/?chain={contract.uid}", "/api/v1/audit/head/",
                 "/api/v1/audit/log/", f"/api/v1/audit/events/{contract.uid}/1/", "/api/v1/audit/kinds/", "/api/v1/audit/anchor/",
                 "/api/v1/audit/verifications/"],
    }  # fmt: skip


def counted(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as told:
        status = client.get(address).status_code
    assert status == 200, (address, status)
    return len(told)


def counts(people: Cast, contract: Contract) -> dict[str, int]:
    """Statements by page; a page's name is its address without the random parts."""
    found = {}
    for who, pages in addresses(contract).items():
        client = browser_of(getattr(people, who))
        for place, address in enumerate(pages):
            counted(client, address)  # what a process keeps from its first look on is not history
            found[f"{who} {place} {address}"] = counted(client, address)
        if who == "alice":
            found["alice quote"] = quoted(client, contract)
    return {" ".join(name.split(" ")[:2]): number for name, number in found.items()}


def quoted(client: Client, contract: Contract) -> int:
    body = {"view": "sql", "sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "amount": "25", "confidence": "95"}
    with CaptureQueriesContext(connection) as told:
        assert client.post(f"/contracts/{contract.uid}/quote/", body).status_code == 200
    return len(told)


def test_no_page_asks_more_because_more_has_happened(db: None) -> None:
    people = cast()
    contract = make_contract(people, rho_total="9", rows=ROWS, allotments={"alice": "4", "bob": "4"})
    seen = []
    for size in SIZES:
        grow(people, contract, size)
        seen.append(counts(people, contract))
    more = {name: [each[name] for each in seen] for name in seen[0] if len({each[name] for each in seen}) > 1}
    assert not more
    assert len(seen[0]) > 40
    assert max(seen[0].values()) <= 40
