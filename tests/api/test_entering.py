"""Ways in without a key: an invitation, a password, a link; counted and recorded as on the pages."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import invitations, resets, tokens
from accounts.models import Membership, ResetRequest, Role, User
from curator.models import AuditEvent, Contract
from tests.api.conftest import Caller, caller_for
from tests.cast import Cast, units

GOOD, BETTER = "correct horse battery", "battery staple correct"


@pytest.fixture
def stranger(db: None) -> Caller:
    """Somebody without a session; what changes something in one must bring its CSRF token along, as in a browser."""
    return Caller(Client(enforce_csrf_checks=True))


def invited(people: Cast, contract: Contract, role: str = Role.ANALYST, email: str = "") -> str:
    allotment = units("0.1") if role == Role.ANALYST else None
    made = invitations.invite(curator=people.carol, contract=contract, role=role, allotment=allotment, email=email)
    return made[1]


def newcomer(secret: str, username: str = "nina", **more: str) -> dict[str, str]:
    return {"secret": secret, "username": username, "password": GOOD, **more}


def test_an_invitation_is_looked_at_without_using_it_up(stranger: Caller, people: Cast, contract: Contract) -> None:
    secret = invited(people, contract, email="nina@example.org")
    for _ in range(2):
        status, offer = stranger.post("invitations/look/", {"secret": secret})
        assert (status, offer["contract"], offer["role"], offer["allotment"]) == (200, contract.name, "analyst", "0.1")
    assert (offer["invited_by"], offer["asks_email"], "nina@example.org" in str(offer)) == ("carol", False, False)
    assert stranger.post("invitations/look/", {"secret": f"{secret}x"})[0] == 404
    assert stranger.post("invitations/look/", {})[1]["field"] == "secret"


def test_nina_joins_and_makes_herself_a_key(stranger: Caller, people: Cast, contract: Contract) -> None:
    secret = invited(people, contract)
    status, joined = stranger.post("invitations/join/", newcomer(secret, email="nina@example.org"))
    assert (status, joined["contract"], joined["role"], joined["username"]) == (201, str(contract.uid), "analyst", "nina")
    nina = User.objects.get(username="nina")
    assert (nina.email, nina.check_password(GOOD)) == ("nina@example.org", True)
    assert stranger.post("tokens/", {"name": "mine", "scope": "ask"})[0] == 403
    status, key = stranger.post("tokens/", {"name": "mine", "scope": "ask"}, **{"X-CSRFToken": joined["csrf"]})
    assert status == 201
    found = Caller(Client(headers={"Authorization": f"Bearer {key['secret']}"})).get("contracts/")
    assert [each["id"] for each in found] == [str(contract.uid)]
    assert AuditEvent.objects.filter(kind="sign_in", actor="nina").exists()
    gone = Caller(Client()).post("invitations/join/", newcomer(secret, "otto"))
    assert (gone[0], gone[1]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"password": "12345678"}, 400, "password"), ({"password": "x" * 1_001}, 400, "password"),
        ({"username": "alice"}, 409, "username"), ({"username": "nína"}, 400, "username"), ({"email": "nobody"}, 400, "email"),
        ({"email": f"{'x' * 60}@{'y' * 60}.{'z' * 60}.{'w' * 60}.{'v' * 20}.org"}, 400, "email"),
        ({"username": 5}, 400, "username"), ({"more": "x"}, 400, "more"),
    ],
)  # fmt: skip
def test_a_newcomer_is_told_what_is_wrong_and_the_link_stays_good(
    stranger: Caller, people: Cast, contract: Contract, body: dict[str, Any], status: int, field: str
) -> None:
    secret = invited(people, contract)
    told = stranger.post("invitations/join/", {**newcomer(secret), **body})
    assert (told[0], told[1]["field"]) == (status, field)
    assert stranger.post("invitations/look/", {"secret": secret})[0] == 200
    assert not User.objects.filter(username="nina").exists()


def test_newcomers_are_slowed_by_the_same_count_as_on_the_page(
    stranger: Caller, people: Cast, contract: Contract, settings: Settings
) -> None:
    settings.DOOR_RATE = "2/hour"
    secret = invited(people, contract)
    assert Client().post(f"/invitation/{secret}/", {"username": ""}).status_code == 400
    assert stranger.post("invitations/join/", newcomer(secret, "no one"))[0] == 400
    status, told = stranger.post("invitations/join/", newcomer(secret))
    assert (status, told["code"]) == (429, "too_many_requests")
    assert Client().post(f"/invitation/{secret}/", {"username": ""}).status_code == 429
    assert stranger.post("invitations/look/", {"secret": secret})[0] == 200


def test_looking_without_a_key_is_counted_by_address(stranger: Caller, settings: Settings) -> None:
    settings.API_ANONYMOUS_RATE = "2/hour"
    assert [stranger.post("invitations/look/", {"secret": "x"})[0] for _ in range(3)] == [404, 404, 429]


def test_whoever_has_an_account_accepts_with_it(alice: Caller, people: Cast, contract: Contract) -> None:
    secret = invited(people, contract, Role.AUDITOR)
    assert alice.post("invitations/join/", newcomer(secret))[1]["code"] == "signed_in"
    assert alice.post("invitations/accept/", {"secret": secret})[0] == 200
    assert Membership.objects.filter(user=people.alice, role=Role.AUDITOR, active=True).exists()


def test_only_json_opens_a_door(people: Cast, contract: Contract) -> None:
    """No other site's form, which a browser would send without asking, begins a session here."""
    secret = invited(people, contract)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        for path in ("invitations/join/", "session/"):
            assert Client().generic("POST", f"/api/v1/{path}", secret.encode(), kind).status_code == 415


@pytest.fixture
def known(people: Cast) -> User:
    people.alice.set_password(GOOD)
    people.alice.save()
    return people.alice


def test_alice_signs_in_and_out(stranger: Caller, known: User) -> None:
    status, begun = stranger.post("session/", {"username": "alice", "password": GOOD})
    assert (status, begun["username"]) == (200, "alice")
    assert stranger.get("account/")["username"] == "alice"
    assert stranger.post("session/end/")[0] == 403
    answer = stranger.client.post("/api/v1/session/end/", {}, "application/json", headers={"X-CSRFToken": begun["csrf"]})
    assert answer.status_code == 204
    assert stranger.call("GET", "account/")[0] == 401


def test_guesses_are_recorded_counted_and_stopped_as_on_the_page(stranger: Caller, known: User, settings: Settings) -> None:
    settings.API_ANONYMOUS_RATE = settings.SIGN_IN_RATE = "1000/minute"  # the guard by name alone
    guesses = [stranger.post("session/", {"username": "alice", "password": f"guess {i}"}) for i in range(11)]
    assert [status for status, _ in guesses] == [400] * 9 + [429] * 2
    assert {told["code"] for _, told in guesses} == {"wrong_password", "too_many_requests"}
    body = {"username": "alice", "password": GOOD}
    page, again = Client().post("/sign-in/", body), Client().post("/api/v1/session/", body, "application/json")
    assert [(each.status_code, each.headers["Retry-After"]) for each in (page, again)] == [(429, "900")] * 2
    elsewhere = Caller(Client(REMOTE_ADDR="192.0.2.7"))
    assert elsewhere.post("session/", {"username": "alice", "password": GOOD})[0] == 200


def test_signing_in_is_slowed_by_network_before_anything_is_hashed(stranger: Caller, known: User, settings: Settings) -> None:
    settings.SIGN_IN_RATE = "1/hour"
    assert stranger.post("session/", {"username": "alice", "password": "wrong"})[0] == 400
    assert stranger.post("session/", {"username": "alice", "password": GOOD})[0] == 429


def test_alice_changes_her_address_and_password_by_session_and_not_by_key(known: User) -> None:
    secret = tokens.issue(user=known, name="x", scope="ask", days=1)[1]
    program = Caller(Client(headers={"Authorization": f"Bearer {secret}"}))
    address, words = {"email": "a@example.org", "password": GOOD}, {"password": GOOD, "new_password": BETTER}
    assert program.call("PATCH", "account/", address)[0] == 403
    assert program.post("account/password/", words)[0] == 403
    alice = caller_for(known)
    assert alice.call("PATCH", "account/", {**address, "password": "wrong"})[1]["code"] == "wrong_password"
    assert alice.call("PATCH", "account/", {**address, "email": "x" * 250 + "@example.org"})[1]["field"] == "email"
    assert alice.call("PATCH", "account/", address)[1]["email"] == "a@example.org"
    assert alice.post("account/password/", {**words, "password": "wrong"})[1]["field"] == "password"
    assert alice.post("account/password/", {**words, "new_password": "alice"})[1]["field"] == "new_password"
    both = {"email": "b@example.org", "password": GOOD, "mail_notices": "yes"}
    assert alice.call("PATCH", "account/", both)[1]["field"] == "mail_notices"
    assert (alice.get("account/")["email"], alice.get("account/")["mail_notices"]) == ("a@example.org", known.mail_notices)
    told = alice.call("PATCH", "account/", {**both, "mail_notices": not known.mail_notices})[1]
    assert (told["email"], told["mail_notices"]) == ("b@example.org", not known.mail_notices)
    elsewhere = caller_for(known)
    assert alice.client.post("/api/v1/account/password/", words, "application/json").status_code == 204
    assert User.objects.get(pk=known.pk).check_password(BETTER)
    assert (alice.call("GET", "account/")[0], elsewhere.call("GET", "account/")[0]) == (200, 401)
    kinds = set(AuditEvent.objects.filter(actor="alice").values_list("kind", flat=True))
    assert kinds >= {"email.changed", "password.changed"}


def test_guessing_ones_own_password_ends_after_ten_tries_here_and_on_the_page(known: User) -> None:
    alice = caller_for(known)
    tries = [alice.post("account/password/", {"password": "wrong", "new_password": BETTER})[0] for _ in range(11)]
    assert tries == [400] * 10 + [429]
    page = alice.client.post("/password/", {"old_password": GOOD, "new_password1": BETTER, "new_password2": BETTER})
    assert (page.status_code, "Too many requests" in page.content.decode()) == (429, True)
    assert User.objects.get(pk=known.pk).check_password(GOOD)


def test_a_forgotten_password_is_replaced_by_the_link_in_the_mail(stranger: Caller, known: User) -> None:
    told = [stranger.post("password/forgotten/", {"email": email}) for email in ("alice@example.org", "nobody@example.org")]
    assert told[0] == told[1]
    assert told[0][0] == 202
    assert ResetRequest.objects.count() == 2
    assert stranger.post("password/forgotten/", {"email": ""})[1]["field"] == "email"
    uid, token = urlsplit(resets._link(known)).path.strip("/").split("/")[-2:]
    good = {"uid": uid, "token": token, "new_password": BETTER}
    for wrong in ({"uid": "%%"}, {"uid": "x" * 80}, {"uid": "MTAwMDA"}, {"token": "x-y"}):
        assert stranger.post("password/new/", {**good, **wrong})[0] == 404
    assert stranger.post("password/new/", {**good, "new_password": "12345678"})[1]["field"] == "new_password"
    key = tokens.issue(user=known, name="x", scope="ask", days=1)[1]
    assert stranger.client.post("/api/v1/password/new/", good, "application/json").status_code == 204
    assert stranger.post("password/new/", good)[0] == 404
    assert User.objects.get(pk=known.pk).check_password(BETTER)
    assert tokens.holder(key) is None
    assert AuditEvent.objects.filter(kind="password.reset", actor="alice").count() == 1
