"""Keys for programs: shown once, scoped, revocable; and nobody gets in without one or a session."""

import json
from typing import Any

from django.test import Client

from accounts.models import ApiToken
from curator.models import Contract
from tests.api.conftest import Caller
from tests.databases import away


def with_key(secret: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
    data = json.dumps(body).encode() if body is not None else b""
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "k"}
    response = Client(enforce_csrf_checks=True).generic(method, f"/api/v1/{path}", data, "application/json", headers=headers)
    return response.status_code, json.loads(response.content)


ASK = {"sql": "SELECT COUNT(*) FROM people", "accuracy": {"within": 50}}


def make(caller: Caller, scope: str) -> dict[str, Any]:
    status, made = caller.post("tokens/", {"name": "report", "scope": scope, "days": 7})
    assert status == 201
    return dict(made)


def test_a_read_key_looks_and_quotes_but_does_not_ask(alice: Caller, contract: Contract) -> None:
    secret = make(alice, "read")["secret"]
    assert with_key(secret, "GET", "contracts/")[0] == 200
    assert with_key(secret, "POST", f"contracts/{contract.uid}/quote/", ASK)[0] == 200
    assert with_key(secret, "POST", f"contracts/{contract.uid}/queries/", ASK)[0] == 403


def test_an_ask_key_asks_without_a_csrf_token_until_it_is_revoked(alice: Caller, contract: Contract) -> None:
    made = make(alice, "ask")
    assert with_key(made["secret"], "POST", f"contracts/{contract.uid}/queries/", ASK)[0] == 202
    assert alice.post(f"tokens/{made['id']}/revoke/")[0] == 200
    assert with_key(made["secret"], "GET", "contracts/")[0] == 401


def test_the_secret_is_nowhere_in_the_database_and_nowhere_in_the_list(alice: Caller) -> None:
    secret = make(alice, "ask")["secret"]
    row = ApiToken.objects.get()
    assert secret not in str(vars(row))
    assert "secret" not in alice.get("tokens/")[0]


def test_a_key_makes_no_key_and_bob_does_not_revoke_alices(alice: Caller, bob: Caller) -> None:
    made = make(alice, "ask")
    assert with_key(made["secret"], "POST", "tokens/", {"name": "x", "scope": "ask"})[0] == 403
    assert bob.post(f"tokens/{made['id']}/revoke/")[0] == 404


def test_without_key_or_session_everything_is_401(contract: Contract) -> None:
    for path in ("contracts/", f"contracts/{contract.uid}/", "audit/", "tokens/"):
        response = Client().get(f"/api/v1/{path}")
        assert response.status_code == 401
        assert json.loads(response.content)["code"] == "not_signed_in"


def test_a_database_that_is_away_is_told_as_json(db: None) -> None:
    with away():
        status, told = with_key("rdp_whatever", "GET", "contracts/")
    assert (status, told["code"]) == (503, "unavailable")
