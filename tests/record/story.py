"""A contract in which everything has happened once: what the record of a busy week looks like, made by the product itself."""

from dataclasses import dataclass
from typing import Any

from accounts.models import Role, User
from curator.mechanism import rho
from curator.mechanism.rho import Units
from curator.models import Contract, Query
from curator.services import budget_requests, contracts, execution, queries
from tests.cast import ROWS, Cast, cast, make_contract, make_version, person

OVER_40: dict[str, Any] = {"column": "age", "at_least": 40}
WOMEN: dict[str, Any] = {"column": "sex", "equals": "F"}


@dataclass(frozen=True, slots=True)
class Story:
    """The people and their contract."""

    people: Cast
    contract: Contract

    def ask(self, analyst: User, where: Any, accuracy: dict[str, Any], *, key: str = "", **more: Any) -> Query:
        """Submit one question and let the worker's own function serve it."""
        body = {"where": where, "accuracy": accuracy, **more}
        number = Query.objects.count()
        query = queries.submit(analyst=analyst, contract=self.contract, body=body, key=key or f"question {number}")[0]
        execution.run(self.contract.pk)
        query.refresh_from_db()
        return query


def begin(**settings: Any) -> Story:
    """The cast, a version with rows behind it, an open contract."""
    people = cast()
    contract = make_contract(people, make_version(people.carol, rows=ROWS * 10), **settings)
    return Story(people, contract)


def busy_week() -> Story:
    """Reuse, top-ups, a histogram, scarcity weighed by diagnostics, a relative target, people, budgets, a raise, a version."""
    story = begin(rho_total="1", xi="0.5", kappa="0.01", rho_d=amount("0.05"), allotments={"alice": "0.05"})
    _questions(story)
    _budgets(story)
    _second_year(story)
    story.contract.refresh_from_db()
    return story


def _questions(story: Story) -> None:
    alice, bob = story.people.alice, story.people.bob
    story.ask(alice, OVER_40, {"within": 20})
    story.ask(bob, OVER_40, {"within": 20})  # free
    story.ask(bob, OVER_40, {"within": 10, "confidence": "0.99"})  # tops up
    story.ask(alice, {"any": [OVER_40, WOMEN]}, {"standard_error": "8"}, group_by=[{"column": "city"}])
    story.ask(alice, {"not": WOMEN}, {"rho": "0.2"})  # past her allotment: partial, weighed by diagnostics
    story.ask(alice, {"column": "age", "less_than": 20}, {"rho": "0.2"}, under_scarcity="all_or_nothing")  # declined
    story.ask(bob, WOMEN, {"relative": "0.5", "confidence": "0.9"})
    story.ask(
        bob, {"all": [{"column": "age", "less_than": 20}, {"column": "age", "more_than": 30}]}, {"within": 1}
    )  # nobody can be there


def _budgets(story: Story) -> None:
    alice, bob, carol = story.people.alice, story.people.bob, story.people.carol
    contract, cyril = story.contract, person("cyril", Role.CURATOR)
    wanted = budget_requests.request(analyst=alice, contract=contract, amount=amount("0.2"), reason="more, please")
    budget_requests.approve(curator=carol, request=wanted, granted=amount("0.1"), note="half of it")
    wanted = budget_requests.request(analyst=alice, contract=contract, amount=amount("0.2"), reason="more, please")
    budget_requests.reject(curator=carol, request=wanted, note="not this year")
    story.ask(alice, {"not": WOMEN}, {"rho": "0.1"})  # the part that was missing
    waiting = queries.submit(analyst=bob, contract=contract, body={"where": WOMEN, "accuracy": {"within": 5}}, key="mistake")
    queries.cancel(analyst=bob, query=waiting[0])
    contracts.add_member(curator=carol, contract=contract, user=cyril, role=Role.CURATOR)
    proposal = contracts.raise_total(curator=carol, contract=contract, rho_total=amount("2"), reason="second year")
    contracts.reject_raise(curator=cyril, proposal=proposal, note="let us wait")


def _second_year(story: Story) -> None:
    carol, contract = story.people.carol, story.contract
    cyril = User.objects.get(username="cyril")
    contracts.remove_member(curator=cyril, contract=contract, user=cyril, role=Role.CURATOR)
    contracts.raise_total(curator=carol, contract=contract, rho_total=amount("2"), reason="second year")
    second = make_version(carol, rows=ROWS, dataset=contract.dataset)
    contracts.set_version(curator=carol, contract=contract, version=second, reason="second year")
    contracts.freeze(curator=carol, contract=contract, reason="holidays")
    contracts.reopen(curator=carol, contract=contract, reason="back again")
    contract.refresh_from_db()
    story.ask(story.people.bob, OVER_40, {"within": 10})  # nothing is credited across versions


def amount(text: str) -> Units:
    """Units of a decimal text of rho."""
    return rho.parse(text, field="amount")
