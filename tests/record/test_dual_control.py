"""Nobody approves their own, and an approval binds to exactly what was asked: tried by every way in, replayed, raced, edited."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from django.test import Client

from accounts import invitations, services
from accounts.models import Membership, Role, User
from curator.mechanism.errors import Conflict, Refused
from curator.models import Allotment, AnalystBudget, BudgetRequest, Contract, TotalRaise
from curator.services import budget_requests, contracts
from curator.services.contract_rows import LIVE, locked_for
from curator.services.verification import verify
from tests.cast import person
from tests.fixtures.figures import Figure
from tests.record.story import Story, amount, begin
from tests.record.test_budget_requests import at_once
from tests.web.scene import browser_of

pytestmark = pytest.mark.trust

RACES = 10
GOOD = "correct horse battery"


@pytest.fixture
def story(db: None) -> Story:
    """Carol and Cyril curate, and both also ask, made analysts by each other."""
    made = begin(allotments={"alice": "0.1"})
    carol, contract = made.people.carol, made.contract
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=carol, contract=contract, user=cyril, role=Role.CURATOR)
    for user, by in ((carol, cyril), (cyril, carol)):
        User.objects.filter(pk=user.pk).update(roles=[Role.ANALYST, Role.CURATOR])
        user.refresh_from_db()
        contracts.add_member(curator=by, contract=contract, user=user, role=Role.ANALYST, allotment=amount("0.1"))
    return made


def cyril() -> User:
    return User.objects.get(username="cyril")


def ask(story: Story, who: User, rho: str = "0.2") -> BudgetRequest:
    return budget_requests.request(analyst=who, contract=story.contract, amount=amount(rho), reason="a survey")


def post(user: User, path: str, body: dict[str, Any], *, api: bool) -> int:
    client: Client = browser_of(user)
    if api:
        return client.post(f"/api/v1/{path}", json.dumps(body), "application/json").status_code
    return client.post(path, body).status_code


def state(story: Story) -> object:
    """Everything that an approval could change."""
    story.contract.refresh_from_db()
    allotments = sorted(AnalystBudget.objects.values_list("analyst__username", "allotment"))
    roles = sorted((user.username, tuple(user.roles), user.is_active) for user in User.objects.all())
    places = sorted(Membership.objects.filter(active=True).values_list("user__username", "role"))
    return story.contract.rho_total, allotments, roles, places, sorted(BudgetRequest.objects.values_list("id", "state"))


def own_ways(story: Story) -> list[Callable[[], object]]:
    """Every way in which Carol could say yes to herself; each raises Refused or gives a status."""
    carol, contract = story.people.carol, story.contract
    wanted, proposal = ask(story, carol), propose(story)
    page, uid = f"/contracts/{contract.uid}", str(proposal.uid)
    secret = invitations.invite(curator=carol, contract=contract, role=Role.AUDITOR)[1]
    grant = {"do": "approve", "granted": "0.2"}
    return [
        partial(budget_requests.approve, curator=carol, request=wanted, granted=wanted.amount),
        partial(post, carol, f"budget-requests/{wanted.uid}/approve/", {}, api=True),
        partial(post, carol, f"{page}/requests/{wanted.uid}/", grant, api=False),
        partial(contracts.approve_raise, curator=carol, proposal=proposal),
        partial(post, carol, f"raises/{uid}/approve/", {}, api=True),
        partial(post, carol, f"{page}/raises/", {"do": "approve", "raise": uid}, api=False),
        partial(contracts.set_allotment, curator=carol, contract=contract, analyst=carol, rho=None, reason="why not"),
        partial(
            post, carol, f"contracts/{contract.uid}/allotments/", {"username": "carol", "rho": None, "reason": "x"}, api=True
        ),
        partial(post, carol, f"{page}/people/", {"do": "allot", "username": "carol", "rho": "", "reason": "x"}, api=False),
        partial(services.set_roles, by=carol, user=carol, roles=[Role.AUDITOR]),
        partial(post, carol, "people/carol/roles/", {"roles": ["auditor"]}, api=True),
        partial(post, carol, "/people/", {"do": "roles", "username": "carol", "roles": "auditor"}, api=False),
        partial(invitations.accept, user=carol, secret=secret),
        partial(post, carol, "invitations/accept/", {"secret": secret}, api=True),
        partial(post, carol, f"/invitation/{secret}/", {}, api=False),
    ]


def propose(story: Story) -> TotalRaise:
    return contracts.raise_total(curator=story.people.carol, contract=story.contract, rho_total=amount("2"), reason="year two")


def accepted(way: Callable[[], object]) -> bool:
    try:
        came = way()
        return not isinstance(came, int) or came in (200, 201, 302, 303)
    except Refused:
        return False


def test_nobody_approves_their_own_by_any_way_in(story: Story, figure: Figure) -> None:
    ways = own_ways(story)
    before = state(story)
    yes = [way for way in ways if accepted(way)]
    assert yes == []
    assert state(story) == before
    figure(row=20, n=len(ways), seen="approving one's own by service, API and page: accepted 0")


def test_without_the_look_at_who_asked_people_would_approve_their_own(
    story: Story, monkeypatch: pytest.MonkeyPatch, owner_connection: psycopg.Connection[Any], figure: Figure
) -> None:
    def undecided(curator: User, request: BudgetRequest) -> tuple[Contract, BudgetRequest]:
        row = locked_for(curator, request.contract, *LIVE)
        return row, BudgetRequest.objects.select_related("analyst").get(pk=request.pk)

    monkeypatch.setattr(budget_requests, "_undecided", undecided)
    owner_connection.execute("ALTER TABLE curator_budgetrequest DROP CONSTRAINT request_not_decided_by_asker")
    carol, page = story.people.carol, f"/contracts/{story.contract.uid}"
    ways: list[Callable[[BudgetRequest], Callable[[], object]]] = [
        lambda wanted: partial(budget_requests.approve, curator=carol, request=wanted, granted=wanted.amount),
        lambda wanted: partial(post, carol, f"budget-requests/{wanted.uid}/approve/", {}, api=True),
        lambda wanted: partial(post, carol, f"{page}/requests/{wanted.uid}/", {"do": "approve", "granted": "0.2"}, api=False),
    ]
    assert [accepted(way(ask(story, carol))) for way in ways] == [True] * 3
    assert "somebody decided their own request" in str(verify([story.contract]).first_difference)
    figure(row=20, n=len(ways), mutant="without the look at who asked: accepted 3 of 3, caught, and found in the record")


def test_what_was_asked_and_decided_cannot_be_edited(
    story: Story, figure: Figure, owner_connection: psycopg.Connection[Any], application_connection: psycopg.Connection[Any]
) -> None:
    waiting, decided = ask(story, story.people.alice), ask(story, cyril())
    budget_requests.approve(curator=story.people.carol, request=decided, granted=amount("0.1"))
    raised = propose(story)
    edits = [f"UPDATE curator_budgetrequest SET {change} WHERE id = {waiting.pk}" for change in (
        "amount = 9000000000000", "analyst_id = 2", "contract_id = 0", "reason = 'other'", "uid = gen_random_uuid()",
    )]  # fmt: skip
    edits += [f"UPDATE curator_budgetrequest SET {change} WHERE id = {decided.pk}" for change in (
        "granted = 200000000000", "state = 'open'", "note = 'other'", "decided_by_id = 1", "amount = 9000000000000",
    )]  # fmt: skip
    edits += [f"UPDATE curator_totalraise SET {change} WHERE id = {raised.pk}" for change in (
        "rho_total = 9000000000000", "before = 1", "proposed_by_id = 1", "reason = 'other'",
    )]  # fmt: skip
    edits += [f"DELETE FROM curator_budgetrequest WHERE id = {decided.pk}", "UPDATE curator_allotment SET rho = 9000000000000"]
    refused = 0
    for role in (owner_connection, application_connection):
        for edit in edits:
            with pytest.raises((psycopg.errors.IntegrityError, psycopg.errors.InsufficientPrivilege)):
                role.execute(edit)
            refused += 1
    figure(row=20, n=refused, seen="edits of what was asked or decided, as either database role: accepted 0")


def test_a_stale_page_approves_nothing_else(story: Story) -> None:
    wanted = ask(story, story.people.alice)
    for granted in ("0.2000000001", "1", "-1", "0"):
        assert post(story.people.carol, f"budget-requests/{wanted.uid}/approve/", {"granted": granted}, api=True) == 400
    first = propose(story)
    contracts.approve_raise(curator=cyril(), proposal=first)
    with pytest.raises(Conflict):
        contracts.approve_raise(curator=cyril(), proposal=first)
    story.contract.refresh_from_db()
    assert story.contract.rho_total == amount("2")


def test_replayed_approvals_are_applied_once(story: Story, figure: Figure) -> None:
    wanted = ask(story, story.people.alice)
    path = f"/contracts/{story.contract.uid}/requests/{wanted.uid}/"
    codes = [post(story.people.carol, path, {"do": "approve", "granted": "0.2"}, api=False) for _ in range(10)]
    codes += [post(cyril(), f"budget-requests/{wanted.uid}/approve/", {}, api=True) for _ in range(10)]
    assert codes == [303, *[409] * 19]
    assert AnalystBudget.objects.get(analyst=story.people.alice).allotment == amount("0.3")
    assert Allotment.objects.filter(request=wanted).count() == 1
    figure(row=20, n=len(codes), seen="one approval sent 20 times: applied once")


def test_two_approvers_racing_apply_it_once(story: Story, figure: Figure) -> None:
    approvers, applied = [story.people.carol, cyril()], 0
    for number in range(RACES):
        wanted = ask(story, story.people.alice, "0.01")
        race = [partial(budget_requests.approve, curator=each, request=wanted, granted=wanted.amount) for each in approvers * 4]
        codes = at_once(race)
        assert sorted(codes) == ["", *["already_decided"] * 7], number
        applied += codes.count("")
    assert AnalystBudget.objects.get(analyst=story.people.alice).allotment == amount("0.2")
    assert verify([story.contract]).first_difference is None
    figure(row=20, n=RACES * 8, seen=f"two approvers racing for {RACES} requests, four presses each: applied {applied}")


def test_one_of_two_curators_never_raises_alone(story: Story, figure: Figure) -> None:
    """Whatever Carol does about Cyril: his place, his account, his roles; and nothing gives her a password of his."""
    carol, contract, his = story.people.carol, story.contract, cyril()
    his.set_password(GOOD)
    his.save()
    codes = []
    for act in (
        partial(contracts.remove_member, curator=carol, contract=contract, user=cyril(), role=Role.CURATOR),
        partial(services.set_roles, by=carol, user=cyril(), roles=[Role.ANALYST]),
    ):
        with pytest.raises(Conflict) as refusal:
            act()
        codes.append(refusal.value.code)
    assert codes == ["needs_consent", "in_use"]
    services.deactivate(by=carol, user=cyril(), reason="away")
    proposal = propose(story)
    assert (proposal.state, Contract.objects.get(pk=contract.pk).rho_total) == ("open", amount("1"))
    with pytest.raises(Conflict):
        contracts.approve_raise(curator=carol, proposal=proposal)
    with pytest.raises(Conflict) as refusal:
        contracts.remove_member(curator=carol, contract=contract, user=cyril(), role=Role.CURATOR)
    assert refusal.value.code == "needs_consent"
    shown = ways_back_in(carol)
    assert cyril().check_password(GOOD)
    assert shown == []
    contracts.remove_member(curator=cyril(), contract=contract, user=cyril(), role=Role.CURATOR)  # he leaves of his own will
    contracts.reject_raise(curator=carol, proposal=proposal, note="alone now")
    assert propose(story).state == "applied"
    figure(row=20, n=8, seen="one of two curators against the other (place, account, roles): raised alone 0, passwords shown 0")


def ways_back_in(carol: User) -> list[str]:
    """Carol switches Cyril on again, by every way that there might be: passwords that she is shown."""
    client, body = browser_of(carol), {"username": "cyril", "roles": ["analyst", "curator"]}
    made = client.post("/api/v1/people/", json.dumps({**body, "email": "carol@example.org"}), "application/json")
    assert made.status_code == 409
    page = client.post("/people/", {**body, "do": "make", "email": "carol@example.org"})
    assert page.status_code == 409
    back = client.post("/people/", {"do": "on", "username": "cyril"}, follow=True)
    assert "cyril is switched on again" in back.content.decode()
    return [*re.findall(r"<pre>.+?</pre>", back.content.decode() + page.content.decode()), *made.json().get("password", "")]


def test_a_third_curator_may_help_to_remove_one(story: Story) -> None:
    carol, contract = story.people.carol, story.contract
    eve = person("eve", Role.CURATOR)
    contracts.add_member(curator=carol, contract=contract, user=eve, role=Role.CURATOR)
    contracts.remove_member(curator=carol, contract=contract, user=cyril(), role=Role.CURATOR)
    assert propose(story).state == "open"


def test_the_only_curator_of_a_contract_is_not_switched_off(story: Story) -> None:
    contracts.remove_member(curator=cyril(), contract=story.contract, user=cyril(), role=Role.CURATOR)
    with pytest.raises(Conflict) as refusal:
        services.deactivate(by=cyril(), user=story.people.carol)
    assert refusal.value.code == "last_curator"


def test_of_two_curators_who_switch_each_other_off_one_stays(db: None) -> None:
    pairs = [(person(f"a{number}", Role.CURATOR), person(f"b{number}", Role.CURATOR)) for number in range(RACES)]
    for one, other in pairs:
        codes = at_once([partial(services.deactivate, by=one, user=other), partial(services.deactivate, by=other, user=one)])
        assert sorted(codes) == ["", "not_found"]
        assert User.objects.filter(pk__in=[one.pk, other.pk], is_active=True).count() == 1


def test_a_request_cannot_be_taken_for_an_approval_by_a_signed_out_browser(story: Story) -> None:
    wanted = ask(story, story.people.alice)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(story.people.carol, backend="django.contrib.auth.backends.ModelBackend")
    assert (
        strict.post(f"/contracts/{story.contract.uid}/requests/{wanted.uid}/", {"do": "approve", "granted": "0.2"}).status_code
        == 403
    )
    answer = strict.post(f"/api/v1/budget-requests/{wanted.uid}/approve/", "{}", "application/json")
    assert answer.status_code == 403
    assert BudgetRequest.objects.get(pk=wanted.pk).state == BudgetRequest.State.OPEN
