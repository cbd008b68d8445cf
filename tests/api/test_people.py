"""Everything about people, drafts, raises and notices that pages can do, over JSON."""

import pytest
from django.test import Client

from accounts.models import ApiToken, Role, User
from curator.models import Contract
from tests.api.conftest import Caller, caller_for, decide
from tests.cast import Cast, make_version, person, units

ASK = {"sql": "SELECT COUNT(*) FROM people", "accuracy": {"within": 50}, "label": "Everybody"}


def test_eve_is_invited_accepts_and_asks(carol: Caller, contract: Contract) -> None:
    path = f"contracts/{contract.uid}/invitations/"
    assert carol.post(path, {"role": "analyst"})[1]["field"] == "allotment"
    status, made = carol.post(path, {"role": "analyst", "allotment": "0.1", "email": "eve@example.org"})
    assert (status, made["mailed"], made["allotment"]) == (201, True, "0.1")
    listed = carol.get(path)
    assert [each["id"] for each in listed] == [made["id"]]
    assert "link" not in listed[0]
    eve = caller_for(person("eve", Role.AUDITOR))
    secret = made["link"].rstrip("/").rsplit("/", 1)[1]
    assert eve.post("invitations/accept/", {"secret": secret}) == (200, {"contract": str(contract.uid), "role": "analyst"})
    assert eve.post("invitations/accept/", {"secret": secret})[0] == 404
    assert eve.post(f"contracts/{contract.uid}/queries/", ASK, **{"Idempotency-Key": "k"})[0] == 202
    other = carol.post(path, {"role": "auditor", "days": 1})[1]
    assert carol.post(f"invitations/{other['id']}/revoke/")[0] == 200
    assert carol.post(f"invitations/{other['id']}/revoke/")[1]["code"] == "already_ended"
    assert eve.post(f"invitations/{other['id']}/revoke/")[0] == 404


def test_members_are_listed_and_removed(carol: Caller, contract: Contract) -> None:
    path = f"contracts/{contract.uid}/members/"
    assert {(each["username"], each["role"]) for each in carol.get(path)} >= {("alice", "analyst"), ("carol", "curator")}
    assert carol.post(f"{path}remove/", {"username": "alice", "role": "analyst", "reason": "moved"})[0] == 200
    assert carol.post(f"{path}remove/", {"username": "alice", "role": "analyst"})[1]["code"] == "not_a_member"
    assert carol.post(f"{path}remove/", {"username": "carol", "role": "curator"})[1]["code"] == "last_curator"


def test_a_draft_is_priced_kept_changed_and_opened(carol: Caller, people: Cast) -> None:
    body = {"version": str(make_version(people.carol).uid), "name": "Survey", "epsilon": "3", "delta": "0.000001"}
    priced = carol.post("contracts/preview/", body)[1]
    assert (priced["buys"].startswith("about"), float(priced["epsilon"]) <= 3.0) == (True, True)
    assert not Contract.objects.exists()
    status, made = carol.post("contracts/", {**body, "draft": True})
    assert (status, made["state"]) == (201, "draft")
    path = f"contracts/{made['id']}/"
    both = {**body, "rho_total": "1"}
    assert carol.call("PUT", path, both)[1]["field"] == "rho_total"
    assert carol.call("PUT", path, {**body, "epsilon": "4"})[0] == 200
    assert carol.post(f"{path}state/", {"state": "open", "stands": True})[1]["state"] == "open"
    assert carol.call("PUT", path, body)[1]["code"] == "contract_not_open"
    assert carol.post(f"{path}end-date/", {"ends_on": "2020-01-01"})[1]["field"] == "ends_on"
    assert carol.post(f"{path}end-date/", {"ends_on": None})[0] == 200


def test_nothing_opens_before_its_curator_says_that_its_settings_stand(carol: Caller, people: Cast) -> None:
    body = {"version": str(make_version(people.carol).uid), "name": "Survey", "rho_total": "1"}
    for wrong in ({}, {"stands": False}):
        assert carol.post("contracts/", {**body, **wrong})[1]["code"] == "not_acknowledged"
    assert carol.post("contracts/", {**body, "stands": "yes"})[1]["field"] == "stands"
    assert not Contract.objects.exists()
    path = f"contracts/{carol.post('contracts/', {**body, 'draft': True})[1]['id']}/state/"
    unsaid: tuple[dict[str, object], ...] = ({}, {"stands": False}, {"stands": "yes"})
    for more in unsaid:
        status, told = carol.post(path, {"state": "open", **more})
        assert (status, told["field"], Contract.objects.get().state) == (400, "stands", "draft")
    assert carol.post("contracts/", {**body, "name": "Another", "stands": True})[1]["state"] == "open"


def test_a_raise_is_proposed_by_one_and_approved_by_another(carol: Caller, contract: Contract) -> None:
    cyril = caller_for(person("cyril", Role.CURATOR))
    assert carol.post(f"contracts/{contract.uid}/members/", {"username": "cyril", "role": "curator"})[0] == 201
    lower = carol.post(f"contracts/{contract.uid}/raise/", {"rho_total": "0.5", "reason": "less"})[1]
    assert lower["code"] == "only_upwards"
    made = carol.post(f"contracts/{contract.uid}/raise/", {"rho_total": "2", "reason": "year two"})[1]
    assert made["state"] == "open"
    assert carol.post(f"raises/{made['id']}/approve/")[1]["code"] == "own_request"
    assert [each["state"] for each in cyril.get(f"contracts/{contract.uid}/raises/")] == ["open"]
    assert cyril.post(f"raises/{made['id']}/reject/", {"note": "wait"})[1]["state"] == "rejected"
    made = carol.post(f"contracts/{contract.uid}/raise/", {"rho_total": "2", "reason": "year two"})[1]
    assert cyril.post(f"raises/{made['id']}/approve/")[1]["state"] == "applied"
    contract.refresh_from_db()
    assert contract.rho_total == units("2")


def test_people_of_the_site(carol: Caller, alice: Caller) -> None:
    assert alice.call("GET", "people/")[0] == 404
    status, made = carol.post("people/", {"username": "frank", "roles": ["analyst"]})
    assert status == 201
    assert User.objects.get(username="frank").check_password(made["password"])
    assert [each["username"] for each in carol.get("people/?search=fra")["results"]] == ["frank"]
    assert carol.post("people/frank/roles/", {"roles": ["auditor"]})[1]["roles"] == ["auditor"]
    assert carol.post("people/frank/deactivate/", {"reason": "left"})[1]["active"] is False
    assert carol.post("people/", {"username": "frank", "roles": ["auditor"]})[1]["code"] == "username_taken"
    assert alice.post("people/frank/reactivate/")[0] == 404
    back = carol.post("people/frank/reactivate/")[1]
    assert back == {"username": "frank", "roles": ["auditor"], "active": True}
    assert User.objects.get(username="frank").check_password(made["password"])
    assert carol.post("people/frank/reactivate/")[1]["code"] == "already_active"
    assert carol.post("people/carol/roles/", {"roles": ["auditor"]})[1]["code"] == "own_account"
    assert carol.post("people/nobody/roles/", {"roles": ["auditor"]})[0] == 404
    assert carol.post("people/frank/roles/", {"roles": "auditor"})[1]["field"] == "roles"


def test_notices_and_their_mail(alice: Caller, contract: Contract) -> None:
    alice.post(f"contracts/{contract.uid}/queries/", ASK, **{"Idempotency-Key": "k"})
    decide(contract)
    assert alice.get("account/")["unseen"] == 2
    newest = alice.get("notices/")["results"][0]
    assert (newest["kind"], newest["words"], newest["about"]) == ("answer", "Your question is answered", "Everybody")
    assert alice.post("notices/seen/") == (200, {"unseen": 0})
    assert alice.get("account/")["unseen"] == 0
    assert alice.call("PATCH", "account/", {"mail_notices": False})[1]["mail_notices"] is False
    assert alice.call("PATCH", "account/", {"mail_notices": "no"})[1]["field"] == "mail_notices"


def test_a_key_of_carols_makes_nobody_a_curator(carol: Caller, people: Cast, contract: Contract) -> None:
    """Whoever finds a key of a few days must not stay for longer than it."""
    secret = carol.post("tokens/", {"name": "x", "scope": "ask"})[1]["secret"]
    program = Caller(Client(headers={"Authorization": f"Bearer {secret}"}))
    carol.post("people/dora/deactivate/", {})
    places, members = f"contracts/{contract.uid}/invitations/", f"contracts/{contract.uid}/members/"
    tried: list[tuple[str, dict[str, object]]] = [
        (places, {"role": "curator"}), (places, {"role": "auditor"}), (places, {"role": "analyst", "allotment": "0.1"}),
        (members, {"username": "bob", "role": "curator"}), (members, {"username": "bob", "role": "auditor"}),
        ("people/bob/roles/", {"roles": ["analyst", "curator"]}), ("people/dora/reactivate/", {}),
    ]  # fmt: skip
    for path, body in tried:
        status, told = program.post(path, body)
        assert (status, told["code"], "a key is not enough" in told["detail"]) == (403, "forbidden", True), path
    assert program.get(places) == []
    assert (User.objects.get(username="bob").roles, User.objects.get(username="dora").is_active) == (["analyst"], False)


@pytest.mark.parametrize("path", ["people/", "tokens/"])
def test_a_key_begets_no_other_way_in(carol: Caller, path: str) -> None:
    secret = carol.post("tokens/", {"name": "x", "scope": "ask"})[1]["secret"]
    body = {"username": "frank", "roles": ["curator"], "name": "y", "scope": "ask"}
    headers = {"Authorization": f"Bearer {secret}"}
    answer = Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)
    assert answer.status_code == 403
    assert (ApiToken.objects.count(), User.objects.filter(username="frank").exists()) == (1, False)
