"""Guessing passwords is slowed, without locking out whoever is guessed at; and hashing them cannot be used to flood the site."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client, override_settings
from django.test.client import MULTIPART_CONTENT

from accounts import hashing as hashing_turns
from accounts import invitations, resets, throttles
from accounts.models import User
from tests.cast import cast, make_contract, make_version
from tests.fixtures.figures import Figure
from tests.worker.scene import at_once

PASSWORD = "a long password that nobody guesses 7"


@dataclass
class Hashing:
    """How often a password was hashed, and how many at once at most."""

    times: int = 0
    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one(self) -> Iterator[None]:
        """One password is being hashed."""
        with self.lock:
            self.times, self.now = self.times + 1, self.now + 1
            self.most = max(self.most, self.now)
        try:
            yield
        finally:
            with self.lock:
                self.now -= 1


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Hashing:
    """Counts; the hashing itself stays as it is."""
    counted = Hashing()
    verify, encode = Argon2PasswordHasher.verify, Argon2PasswordHasher.encode

    def verified(self: Argon2PasswordHasher, password: str, encoded: str) -> bool:
        with counted.one():
            return bool(verify(self, password, encoded))

    def encoded(self: Argon2PasswordHasher, password: str, salt: str) -> str:
        with counted.one():
            return str(encode(self, password, salt))

    monkeypatch.setattr(Argon2PasswordHasher, "verify", verified)
    monkeypatch.setattr(Argon2PasswordHasher, "encode", encoded)
    return counted


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", password=PASSWORD, roles=["analyst"])


def sign_in(name: str, password: str, *, address: str = "192.0.2.1", forwarded: str = "") -> HttpResponseBase:
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    return Client(REMOTE_ADDR=address).post("/sign-in/", {"username": name, "password": password}, headers=headers)


@pytest.mark.trust
def test_two_hundred_guesses_under_changing_forwarded_addresses(alice: User, hashing: Hashing, figure: Figure) -> None:
    with override_settings(SIGN_IN_RATE="1000/minute"):  # the guard by name alone
        statuses = [sign_in("alice", f"guess {i}", forwarded=f"198.51.100.{i}").status_code for i in range(200)]
    assert statuses.count(429) >= 190
    assert 200 not in statuses
    assert 302 not in statuses
    assert hashing.times <= 10
    assert sign_in("alice", PASSWORD, address="203.0.113.9").status_code == 302, "whoever is guessed at signs in from elsewhere"
    figure(
        row=23,
        n=200,
        seen=f"{statuses.index(429)} guesses before the block, {hashing.times - 1} hashed; signed in from elsewhere",
    )


@pytest.mark.trust
def test_two_hundred_names_from_one_address_are_mostly_not_hashed(alice: User, hashing: Hashing, figure: Figure) -> None:
    with override_settings(SIGN_IN_RATE="20/hour"):
        statuses = [sign_in(f"name{i}", "x").status_code for i in range(200)]
    assert statuses.count(429) == 180
    assert hashing.times <= 20
    assert sign_in("alice", PASSWORD, address="203.0.113.9").status_code == 302
    figure(row=23, n=200, seen=f"changing names from one address, 20 an hour allowed: {hashing.times} hashed")


@pytest.mark.trust
def test_so_few_are_hashed_at_once_however_many_come(alice: User, hashing: Hashing, figure: Figure) -> None:
    at_once([partial(sign_in, f"name{i}", "x", address=f"203.0.113.{i}") for i in range(24)])
    assert 0 < hashing.most <= 2
    figure(row=23, n=24, seen=f"24 from as many addresses at the same moment: at most {hashing.most} hashed at once")


@pytest.mark.trust
def test_without_turns_a_crowd_would_be_hashed_at_once(
    alice: User, hashing: Hashing, figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashing_turns, "HASHING", threading.BoundedSemaphore(1_000))
    at_once([partial(sign_in, f"name{i}", "x", address=f"203.0.113.{i}") for i in range(24)])
    assert hashing.most > 2
    figure(row=23, n=24, mutant=f"without turns: {hashing.most} hashed at once, caught")


@pytest.mark.trust
def test_without_the_guard_by_name_every_guess_would_be_tried(alice: User, hashing: Hashing, figure: Figure) -> None:
    with override_settings(SIGN_IN_RATE="1000/minute", AXES_ENABLED=False):
        statuses = [sign_in("alice", f"guess {i}", forwarded=f"198.51.100.{i}").status_code for i in range(25)]
    assert (statuses.count(429), hashing.times) == (0, 25)
    figure(row=23, n=25, mutant="without the guard by name: 25 of 25 guesses tried, caught")


@pytest.mark.trust
def test_without_the_throttle_every_try_would_be_hashed(
    alice: User, hashing: Hashing, figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttles, "check", lambda *_: None)
    with override_settings(SIGN_IN_RATE="20/hour"):
        statuses = [sign_in(f"name{i}", "x").status_code for i in range(25)]
    assert (statuses.count(429), hashing.times) == (0, 25)
    figure(row=23, n=25, mutant="without the throttle before hashing: 25 of 25 hashed, caught")


def test_a_whole_ipv6_network_counts_as_one(alice: User) -> None:
    with override_settings(SIGN_IN_RATE="3/hour"):
        statuses = [sign_in("bob", "x", address=f"2001:db8::{i:x}").status_code for i in range(1, 6)]
        assert statuses == [400, 400, 400, 429, 429]
        assert sign_in("bob", "x", address="2001:db8:0:1::1").status_code == 400


def test_a_refused_try_says_when_and_keeps_nothing_that_was_typed(alice: User) -> None:
    with override_settings(SIGN_IN_RATE="1/hour"):
        sign_in("alice", "x")
        answer = sign_in("alice", PASSWORD)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 3_000
    page = getattr(answer, "content", b"").decode()
    assert "try again in" in page
    assert PASSWORD not in page


def test_newcomers_and_new_passwords_wait_for_a_turn_too_and_hold_no_row_meanwhile(
    hashing: Hashing, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    people = cast()
    contract = make_contract(people, version=make_version(people.carol))
    secret = invitations.invite(curator=people.carol, contract=contract, role="analyst")[1]
    people.alice.set_password(PASSWORD)
    people.alice.save()
    uid, token = urlsplit(resets._link(people.alice)).path.strip("/").split("/")[-2:]
    locked = []
    encode = Argon2PasswordHasher.encode

    def encoded(self: Argon2PasswordHasher, password: str, salt: str) -> str:
        locked.append(connection.in_atomic_block)
        return str(encode(self, password, salt))

    monkeypatch.setattr(Argon2PasswordHasher, "encode", encoded)
    monkeypatch.setattr(hashing_turns, "PATIENCE", 0.01)
    doors = {
        "/api/v1/invitations/join/": {"secret": secret, "username": "nina", "password": PASSWORD},
        f"/invitation/{secret}/": {"username": "nina", "password": PASSWORD, "repeated": PASSWORD},
        "/api/v1/password/new/": {"uid": uid, "token": token, "new_password": f"{PASSWORD} again"},
    }

    def knock(path: str) -> HttpResponseBase:
        return Client().post(path, doors[path], "application/json" if "/api/" in path else MULTIPART_CONTENT)

    with hashing_turns.turn(), hashing_turns.turn():
        refused = [knock(path) for path in doors]
    assert [(each.status_code, each.headers.get("Retry-After")) for each in refused] == [(429, "5")] * 3
    assert locked == []
    assert [knock(path).status_code for path in doors] == [201, 404, 204], "the link works once"
    assert locked == [False, False]


def test_with_every_turn_taken_the_next_one_is_told_so(alice: User, hashing: Hashing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing_turns, "PATIENCE", 0.01)
    for _ in range(2):
        assert hashing_turns.HASHING.acquire(blocking=False)
    try:
        assert sign_in("alice", PASSWORD).status_code == 429
        assert hashing.times == 0
    finally:
        hashing_turns.HASHING.release()
        hashing_turns.HASHING.release()
    assert sign_in("alice", PASSWORD).status_code == 302
