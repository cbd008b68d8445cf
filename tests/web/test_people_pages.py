"""Pages of people and of one's own account: invitations, roles, keys, drafts, raises; each refusal told on the page."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, Invitation, Membership, Role, User
from curator.models import AnalystBudget, Contract
from curator.services import contracts
from tests.cast import Cast, make_version, person, units
from tests.web.curator import new_contract
from tests.web.scene import browser_of
from tests.web.test_asking import text

pytestmark = pytest.mark.usefixtures("db")

GOOD = "correct horse battery"


def invitation(**changes: Any) -> dict[str, Any]:
    """The form of an invitation as Carol sends it."""
    given = {"email": "", "role": "analyst", "allotment": "0.1", "days": "7"} | changes
    return {"do": "invite"} | {f"invite-{name}": value for name, value in given.items()}


def invited(carol: Client, contract: Contract, **changes: Any) -> str:
    """The path of the link that the page shows."""
    page = carol.post(f"/contracts/{contract.uid}/people/", invitation(**changes)).content.decode()
    return re.search(r"http://testserver(/invitation/[\w-]+/)", page)[1]  # type: ignore[index]  # it is there or the test fails


def test_a_newcomer_opens_the_link_and_is_in(carol: Client, contract: Contract) -> None:
    path, nina = invited(carol, contract, email="nina@example.org"), Client()
    assert path in mail.outbox[0].body
    page = text(nina.get(path))
    assert "You are invited to The people of 2020" in page
    assert "0.100 ρ" in page
    assert nina.get(path).status_code == nina.head(path).status_code == 200  # looking uses nothing up
    refused = nina.post(path, {"username": "nina", "password": GOOD, "repeated": "another"})
    assert (refused.status_code, "not the same" in text(refused)) == (400, True)
    assert nina.post(path, {"username": "alice", "password": GOOD, "repeated": GOOD}).status_code == 409
    done = nina.post(path, {"username": "nina", "password": GOOD, "repeated": GOOD})
    assert (done.status_code, done.headers["Location"]) == (303, f"/contracts/{contract.uid}/")
    assert nina.get(f"/contracts/{contract.uid}/").status_code == 200
    assert AnalystBudget.objects.get(analyst__username="nina").allotment == units("0.1")
    assert "opens nothing" in text(Client().get(path))
    assert "Somebody accepted your invitation" in text(carol.get("/notices/"))


def test_somebody_with_an_account_accepts_and_carol_takes_another_back(carol: Client, contract: Contract) -> None:
    eve = browser_of(person("eve", Role.AUDITOR))
    path = invited(carol, contract, role="auditor", allotment="")
    assert "Accept as eve" in text(eve.get(path))
    assert eve.post(path).status_code == 303
    assert Membership.objects.filter(user__username="eve", active=True).count() == 1
    path = invited(carol, contract)
    row = Invitation.objects.latest("id")
    told = carol.post(f"/contracts/{contract.uid}/people/", {"do": "revoke", "invitation": str(row.uid)}, follow=True)
    assert "opens nothing any more" in text(told)
    assert eve.get(path).status_code == eve.post(path).status_code == 404


def test_a_page_of_a_missing_link_and_of_one_that_is_over_are_alike(carol: Client, contract: Contract) -> None:
    path = invited(carol, contract)
    Client().post(path, {"username": "nina", "password": GOOD, "repeated": GOOD})
    over, missing = Client().get(path), Client().get("/invitation/nothing/")
    assert (over.status_code, over.content) == (missing.status_code, missing.content)


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"email": "nowhere"}, "valid email"), ({"days": "0"}, "greater than or equal to 1"), ({"allotment": "-1"}, "amount"),
     ({"role": "auditor", "allotment": "1"}, "Only an analyst")],
)  # fmt: skip
def test_an_invitation_that_cannot_be(carol: Client, contract: Contract, changes: dict[str, Any], says: str) -> None:
    answer = carol.post(f"/contracts/{contract.uid}/people/", invitation(**changes))
    assert (answer.status_code, says in text(answer)) == (400, True)
    assert not Invitation.objects.exists()


def test_new_accounts_from_one_address_are_few(carol: Client, contract: Contract) -> None:
    path = invited(carol, contract)
    form = {"username": "nina", "password": "short", "repeated": "short"}
    codes = [Client().post(path, form).status_code for _ in range(21)]
    assert codes == [400] * 20 + [429]
    assert Client().post(path, form).headers["Retry-After"]


def test_carol_makes_people_and_changes_roles_but_never_her_own(carol: Client, people: Cast) -> None:
    page = carol.post("/people/", {"do": "make", "username": "frank", "email": "", "roles": ["analyst", "auditor"]})
    frank = User.objects.get(username="frank")
    password = re.search(r"<pre>([\w-]+)</pre>", page.content.decode())
    assert password is not None
    assert frank.check_password(password[1])
    assert carol.post("/people/", {"do": "roles", "username": "frank", "roles": ["curator"]}).status_code == 302
    assert User.objects.get(username="frank").roles == ["curator"]
    assert carol.post("/people/", {"do": "off", "username": "frank", "reason": "left"}).status_code == 302
    assert "Switch frank on again" in text(carol.get("/people/?search=fra"))
    back = carol.post("/people/", {"do": "on", "username": "frank"}, follow=True)
    assert "frank is switched on again, with the password, roles and places they had" in text(back)
    assert User.objects.get(username="frank", is_active=True).check_password(password[1])
    assert carol.post("/people/", {"do": "on", "username": "frank"}).status_code == 409
    for step in ({"do": "roles", "roles": ["auditor"]}, {"do": "off"}):
        assert carol.post("/people/", {**step, "username": "carol"}).status_code == 400
    assert carol.post("/people/", {"do": "off", "username": "nobody"}).status_code == 404
    assert User.objects.get(username="carol").roles == ["curator"]


def test_a_key_is_shown_once_and_revoked(people: Cast) -> None:
    alice, bob = browser_of(people.alice), browser_of(people.bob)
    page = text(alice.post("/account/keys/", {"name": "report", "scope": "read", "days": "30"}))
    secret = re.search(r"rdp_[\w-]+", page)
    assert secret is not None
    headers = {"Authorization": f"Bearer {secret[0]}"}
    assert Client().get("/api/v1/contracts/", headers=headers).status_code == 200
    assert "rdp_" not in text(alice.get("/account/keys/"))
    key = ApiToken.objects.get()
    assert bob.post(f"/account/keys/{key.pk}/revoke/").status_code == 404
    assert alice.post(f"/account/keys/{key.pk}/revoke/").status_code == 302
    assert Client().get("/api/v1/contracts/", headers=headers).status_code == 401
    for bad in ({"name": "", "scope": "read", "days": "1"}, {"name": "x", "scope": "all", "days": "1"},
                {"name": "x", "scope": "read", "days": "0"}, {"name": "x", "scope": "read", "days": "1000"}):  # fmt: skip
        assert alice.post("/account/keys/", bad).status_code == 400
    assert ApiToken.objects.count() == 1


def test_alice_changes_her_address_with_her_password_only(people: Cast) -> None:
    people.alice.set_password(GOOD)
    people.alice.save()
    alice = browser_of(people.alice)
    assert alice.post("/account/", {"do": "email", "email": "new@example.org", "password": "wrong"}).status_code == 400
    assert alice.post("/account/", {"do": "email", "email": "new@example.org", "password": GOOD}).status_code == 302
    assert alice.post("/account/", {"do": "mail"}).status_code == 302
    row = User.objects.get(username="alice")
    assert (row.email, row.mail_notices) == ("new@example.org", False)
    codes = [alice.post("/account/", {"do": "email", "email": "", "password": "guess"}).status_code for _ in range(10)]
    assert codes[-1] == 429


def test_a_draft_is_changed_opened_and_another_discarded(carol: Client, people: Cast) -> None:
    version = make_version(people.carol)
    carol.post("/contracts/new/", new_contract(version=str(version.uid), do="draft"))
    draft = Contract.objects.get()
    edit = f"/contracts/{draft.uid}/edit/"
    assert "counts at ±25" in text(carol.get(edit)), "what the draft as it stands would buy"
    form = carol.get(edit).content.decode()
    assert 'value="1"' in form
    sent = new_contract(version=str(version.uid), rho_total="2", name="Panel, wider", do="draft")
    assert carol.post(edit, sent).status_code == 303
    draft.refresh_from_db()
    assert (draft.rho_total, draft.name, draft.state) == (units("2"), "Panel, wider", "draft")
    assert carol.post(edit, sent | {"rho_total": "-2"}).status_code == 400
    assert carol.post(edit, sent | {"do": "open"}).status_code == 303
    draft.refresh_from_db()
    assert draft.state == "open"
    assert carol.get(edit).status_code == 409
    carol.post("/contracts/new/", new_contract(version=str(version.uid), do="draft"))
    other = Contract.objects.latest("id")
    discard = {"do": "close", "close-reason": "a mistake"}
    assert carol.post(f"/contracts/{other.uid}/control/", discard).status_code == 303
    other.refresh_from_db()
    assert other.state == "closed"


def test_the_last_day_is_today_none_or_refused(carol: Client, people: Cast) -> None:
    version = str(make_version(people.carol).uid)
    today = timezone.now().date()
    yesterday = carol.post("/contracts/new/", new_contract(version=version, ends_on=str(today - timedelta(days=1))))
    assert (yesterday.status_code, "today or a later day" in text(yesterday)) == (400, True)
    assert not Contract.objects.exists()
    for given, kept in ((str(today), today), ("", None)):
        assert carol.post("/contracts/new/", new_contract(version=version, ends_on=given)).status_code == 303
        made = Contract.objects.latest("id")
        assert (made.ends_on, made.state) == (kept, "open")
    late = carol.post(f"/contracts/{made.uid}/control/", {"do": "end", "end-ends_on": str(today - timedelta(days=1))})
    assert late.status_code == 400


def test_two_curators_raise_on_the_page_and_one_alone_does_not(carol: Client, people: Cast, contract: Contract) -> None:
    cyril_row = person("cyril", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=cyril_row, role=Role.CURATOR)
    cyril, path = browser_of(cyril_row), f"/contracts/{contract.uid}/raises/"
    for total in ("0.5", "1"):
        lower = carol.post(path, {"do": "raise", "raise-rho_total": total, "raise-reason": "less"})
        assert (lower.status_code, "more than the present" in text(lower)) == (400, True)
    told = carol.post(path, {"do": "raise", "raise-rho_total": "2", "raise-reason": "year two"}, follow=True)
    assert "another curator decides it" in text(told)
    raised = str(contract.raises.get().uid)
    assert carol.post(path, {"do": "approve", "raise": raised}).status_code == 409
    assert "carol proposes to raise the total" in text(cyril.get("/notices/"))
    assert cyril.post(path, {"do": "approve", "raise": raised}).status_code == 303
    contract.refresh_from_db()
    assert contract.rho_total == units("2")
    assert "The raise that you proposed is applied" in text(carol.get("/notices/"))
    gone = carol.post(f"/contracts/{contract.uid}/people/", {"do": "remove", "username": "cyril", "role": "curator"})
    assert (gone.status_code, "does not remove the other" in text(gone)) == (409, True)
    assert carol.post(path, {"do": "approve", "raise": "nonsense"}).status_code == 404


def test_alice_is_not_offered_what_a_curator_changes_and_refused_it(people: Cast, contract: Contract) -> None:
    alice, inside = browser_of(people.alice), f"/contracts/{contract.uid}"
    before = AnalystBudget.objects.get(analyst=people.alice).allotment
    workspace = alice.get(f"{inside}/").content.decode()
    for page in ("people", "control", "raises", "edit", "requests"):
        assert f"{inside}/{page}/" not in workspace
        assert alice.post(f"{inside}/{page}/", {"do": "allot", "username": "alice", "rho": "1", "reason": "x"}).status_code in (
            404,
            405,
        )
    calls = [
        f"/api/v1/contracts/{contract.uid}/{end}" for end in ("", "state/", "raise/", "allotments/", "members/", "invitations/")
    ]
    body = {
        "rho_total": "9",
        "username": "alice",
        "rho": "9",
        "allotment": "9",
        "role": "curator",
        "state": "closed",
        "reason": "x",
    }
    for path in calls:
        for send in (alice.post, alice.put, alice.patch, alice.delete):
            assert send(path, body, content_type="application/json").status_code in (404, 405), path
    contract.refresh_from_db()
    assert (contract.rho_total, AnalystBudget.objects.get(analyst=people.alice).allotment) == (units("1"), before)


def test_nothing_and_no_limit_are_typed_differently(carol: Client, people: Cast, contract: Contract) -> None:
    path = f"/contracts/{contract.uid}/people/"
    for typed, kept, shown in (("0", 0, "of 0 ρ"), ("", None, "no limit")):
        carol.post(path, {"do": "allot", "username": "alice", "rho": typed, "reason": "x"})
        assert AnalystBudget.objects.get(analyst=people.alice).allotment == kept
        assert shown in text(carol.get(path))
    version = str(make_version(people.carol, dataset=contract.dataset).uid)
    assert carol.post("/contracts/new/", new_contract(version=version, rho_total="0")).status_code == 400
    assert carol.post("/contracts/new/", new_contract(version=version, rho_total="")).status_code == 400
    assert carol.post("/contracts/new/", new_contract(version=version, query_cap="0")).status_code == 303
    assert Contract.objects.latest("id").query_cap == 0


def test_a_total_in_epsilon_says_what_it_buys(carol: Client, people: Cast) -> None:
    version = str(make_version(people.carol).uid)
    page = text(carol.post("/contracts/new/", new_contract(version=version, rho_total="0.85", do="preview")))
    assert "about 260 counts at ±25, 95 %" in page
    sent = new_contract(version=version, rho_total="", epsilon="3", delta="0.000001")
    assert "counts at ±25, 95 %" in text(carol.post("/contracts/new/", sent | {"do": "preview"}))
    assert carol.post("/contracts/new/", sent).status_code == 303
    assert Contract.objects.get().rho_total > 0
