"""The cast at the API: each person as a client with a session, and an open contract with data."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from curator.models import Contract
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract


@dataclass(frozen=True, slots=True)
class Caller:
    """One person's JSON client; `call` gives the status and the decoded body."""

    client: Client

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """One request below /api/v1/; `body` may be bytes, to send what is no JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        response = self.client.generic(method, f"/api/v1/{path}", data, "application/json", headers=headers)
        return response.status_code, json.loads(response.content)

    def get(self, path: str) -> Any:
        """The body of a GET that must succeed."""
        status, found = self.call("GET", path)
        assert status == 200, found
        return found

    def post(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """A POST."""
        return self.call("POST", path, body, **headers)


def caller_for(user: User) -> Caller:
    """A client signed in as `user`."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return Caller(client)


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


@pytest.fixture
def alice(people: Cast) -> Caller:
    return caller_for(people.alice)


@pytest.fixture
def bob(people: Cast) -> Caller:
    return caller_for(people.bob)


@pytest.fixture
def carol(people: Cast) -> Caller:
    return caller_for(people.carol)


@pytest.fixture
def dora(people: Cast) -> Caller:
    return caller_for(people.dora)


def decide(contract: Contract) -> None:
    """Do what the worker does with all that waits."""
    execution.run(contract.pk)
