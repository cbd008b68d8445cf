"""A contract in use: Alice and Bob have asked, history has helped, a request waits. Made by services, served by a real run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client

from accounts.models import User
from curator.models import BudgetRequest, Contract, Query
from curator.services import budget_requests, execution, queries
from tests.cast import ROWS, Cast, cast, make_contract, units

OLD = {"column": "age", "at_least": "40"}


@dataclass(frozen=True, slots=True)
class Scene:
    """Who and what there is."""

    people: Cast
    contract: Contract
    first: Query
    repeat: Query
    tighter: Query
    histogram: Query
    scarce: Query
    waiting: Query
    request: BudgetRequest


def browser_of(user: User) -> Client:
    """A client that somebody has signed in with."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def ask(people: Cast, contract: Contract, who: str, body: Mapping[str, Any], *, key: str) -> Query:
    """Submit one question for Alice or Bob."""
    return queries.submit(analyst=getattr(people, who), contract=contract, body=dict(body), key=key)[0]


def within(bound: int, where: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A body that asks for a count within ±bound at 95 %."""
    return {"where": where, "accuracy": {"within": bound, "confidence": "0.95"}, **more}


def make_scene() -> Scene:
    """The whole scene; everything but the last question is decided."""
    people = cast()
    contract = make_contract(people, rho_total="1", xi="0.05", rows=ROWS, allotments={"alice": "0.2", "bob": "0.05"})
    first = ask(people, contract, "alice", within(25, OLD, label="Forty and over"), key="k1")
    repeat = ask(people, contract, "bob", {"sql": "SELECT COUNT(*) FROM people WHERE NOT age < 40", **accuracy(25)}, key="k2")
    tighter = ask(people, contract, "alice", within(10, OLD), key="k3")
    histogram = ask(people, contract, "alice", {"group_by": [{"column": "city"}], **accuracy(12)}, key="k4")
    scarce = ask(people, contract, "bob", within(2, {"column": "sex", "equals": "F"}), key="k5")
    execution.run(contract.pk)
    request = budget_requests.request(
        analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason="Tables by city for the spring report."
    )
    waiting = ask(people, contract, "alice", within(30, {"column": "member", "equals": "true"}), key="k6")
    for row in (first, repeat, tighter, histogram, scarce):
        row.refresh_from_db()
    contract.refresh_from_db()
    return Scene(people, contract, first, repeat, tighter, histogram, scarce, waiting, request)


def accuracy(bound: int) -> dict[str, Any]:
    """The accuracy of a body, alone."""
    return {"accuracy": {"within": bound, "confidence": "0.95"}}
