"""Everyone sees only their own, over the API too: each address and method, for each role, with foreign and missing things."""

from uuid import UUID, uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import access, invitations
from accounts.models import Role, User
from curator.api.entering import OpenDoor
from curator.api.urls import V1
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.models import Contract, Query
from curator.services import budget_requests, contracts, saved
from tests.api.conftest import Caller, caller_for
from tests.cast import Cast, make_contract, person
from tests.fixtures.figures import Figure
from tests.uploads import sent
from tests.worker.scene import ask

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def about() -> list[tuple[str, str]]:
    """Every address that is about one thing, with every method that it answers."""
    views = {route: view for route, view in V1.items() if "<uuid:" in route}
    return [(route, method) for route, view in views.items() for method in METHODS if hasattr(view, method.lower())]


def theirs() -> dict[str, str]:
    """Things of a contract of other people, by the first part of the addresses about them."""
    people = Cast(
        alice=person("fay", Role.ANALYST), bob=person("gus", Role.ANALYST),
        carol=person("hal", Role.CURATOR), dora=person("ida", Role.AUDITOR),
    )  # fmt: skip
    contract = make_contract(people, allotments={"fay": "0.1"})
    request = budget_requests.request(analyst=people.alice, contract=contract, amount=10**10, reason="more")
    kinds = {
        "contracts": contract.uid,
        "queries": ask(people.alice, contract).uid,
        "budget-requests": request.uid,
        "datasets": contract.dataset.uid,
        "saved": saved.save_query(owner=people.alice, query=Query.objects.latest("id"), name="theirs").uid,
        "experiments": running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract)).uid,
        "versions": contract.version.uid,
        "raises": propose(contract, people.carol),
        "invitations": invitations.invite(curator=people.carol, contract=contract, role=Role.AUDITOR)[0].uid,
        "uploads": sent(people.carol).uid,
    }
    return {kind: str(uid) for kind, uid in kinds.items()}


def propose(contract: Contract, curator: User) -> UUID:
    """A raise that waits for a second curator."""
    contracts.add_member(curator=curator, contract=contract, user=person("jon", Role.CURATOR), role=Role.CURATOR)
    return contracts.raise_total(curator=curator, contract=contract, rho_total=2 * contract.rho_total, reason="more").uid


def address(route: str, uid: str) -> str:
    """The address about the thing `uid`; further things in it are missing ones."""
    first, _, rest = route.partition("<uuid:uid>") if "<uuid:uid>" in route else ("", "", route)
    while "<" in rest:
        before, _, after = rest.partition("<")
        kind, _, rest_after = after.partition(">")
        rest = before + (str(uuid4()) if kind.startswith("uuid") else "1") + rest_after
    return first + uid + rest


def leaks(people: Cast) -> tuple[list[str], int]:
    """The calls whose answer about other people's things differs from that about missing ones, and how many were compared."""
    others, found, compared = theirs(), [], 0
    for user in everybody(people):
        caller = caller_for(user)
        for route, method in about():
            uid = others.get(route.split("/")[0], str(uuid4()))
            foreign, missing = (caller.call(method, address(route, each), {}) for each in (uid, str(uuid4())))
            compared += 1
            if foreign != missing or foreign[0] != 404:
                found.append(f"{user.username} {method} {route}: {foreign} {missing}")
    return found, compared


@pytest.mark.trust
def test_foreign_and_missing_are_one_answer_for_every_call(people: Cast, contract: Contract, figure: Figure) -> None:
    found, compared = leaks(people)
    assert found == []
    assert compared >= 80
    figure(row=19, n=compared, seen="API: 0 answers about other people's things that differ from those about missing ones")


@pytest.mark.trust
def test_one_view_that_forgets_to_look_whose_it_is_would_be_found(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    def anybodys(user: User, uid: str, **_: object) -> Query:
        query = Query.objects.filter(uid=uid).first()
        if query is None:
            raise access.not_yours()
        return query

    monkeypatch.setattr(access, "query_for", anybodys)
    found, compared = leaks(people)
    assert found
    assert all("queries/" in leak for leak in found)
    figure(row=19, n=compared, mutant=f"without the look at membership in queries: {len(found)} leaks, caught")


def everybody(people: Cast) -> list[User]:
    eve = person("eve", Role.ANALYST, Role.CURATOR, Role.AUDITOR)  # every role, and no contract
    return [people.alice, people.bob, people.carol, people.dora, eve]


def test_nobody_who_is_not_signed_in_is_told_anything(people: Cast, contract: Contract, settings: Settings) -> None:
    settings.API_ANONYMOUS_RATE = "1000/minute"  # more addresses are tried here than a stranger may in a minute
    stranger = Caller(Client())
    for route, view in V1.items():
        if "<uuid:" not in route and not issubclass(view, OpenDoor):
            for method in METHODS:
                known = address(route, "") if "<" in route else route
                assert stranger.call(method, known, {})[0] == 401, (method, route)
    for route, method in about():
        for uid in (str(contract.uid), str(uuid4())):
            status, body = stranger.call(method, address(route, uid), {})
            assert (status, body["code"]) == (401, "not_signed_in"), (method, route)
