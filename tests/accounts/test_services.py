"""People are made once, switched off and on, and never forgotten."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.tokens import default_token_generator
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, RequestFactory

from accounts import hashing, profile, resets, services, tokens
from accounts.models import User
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused
from curator.models import AuditEvent
from tests.cast import Cast, cast

GOOD, OTHER = "correct horse battery", "battery staple correct"


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def newest() -> dict[str, Any]:
    """The newest event of the site's chain."""
    body: dict[str, Any] = json.loads(bytes(AuditEvent.objects.filter(chain="site").latest("seq").body))
    return body


def test_a_random_password_is_returned_once_and_signs_in(db: None) -> None:
    made = services.create_user(username="frank", roles=["analyst"])
    assert made.password is not None
    assert len(made.password) >= 20
    assert made.password not in made.user.password
    request = RequestFactory().post("/sign-in/")
    assert authenticate(request, username="frank", password=made.password) == made.user
    assert (newest()["kind"], newest()["data"]) == ("user.created", {"username": "frank", "roles": ["analyst"]})


def test_a_given_password_is_kept_and_not_returned(db: None) -> None:
    made = services.create_user(username="frank", roles=["analyst"], password=GOOD)
    assert made.password is None
    assert made.user.check_password(GOOD)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"), ({"username": "a b"}, "username"), ({"username": "x\nINFO ok"}, "username"),
        ({"username": "f" * 151}, "username"), ({"roles": []}, "roles"), ({"roles": ["king"]}, "roles"),
        ({"email": "nowhere"}, "email"), ({"password": "short"}, "password"), ({"password": "12345678901"}, "password"),
        ({"password": ""}, "password"),
    ],
)  # fmt: skip
def test_what_makes_no_account(db: None, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        services.create_user(**{"username": "frank", "roles": ["analyst"], "password": GOOD, **changes})
    assert refusal.value.field == field
    assert not User.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_name_is_taken_in_any_case(people: Cast) -> None:
    with pytest.raises(Conflict) as refusal:
        services.create_user(username="Alice", roles=["analyst"], password=GOOD)
    assert refusal.value.code == "username_taken"


def test_alice_is_switched_off_and_on_again_as_the_same_person(people: Cast) -> None:
    services.deactivate(by=people.carol, user=people.alice, reason="moved away")
    assert not User.objects.get(username="alice").is_active
    before = User.objects.values("password", "roles", "email").get(username="alice")
    with pytest.raises(Conflict) as refusal:  # no way into what was hers
        services.create_user(username="Alice", roles=["auditor"], email="carol@example.org", by=people.carol)
    assert refusal.value.code == "username_taken"
    assert services.reactivate(by=people.carol, user=people.alice) == people.alice
    assert User.objects.values("password", "roles", "email").get(username="alice", is_active=True) == before
    assert (newest()["kind"], newest()["actor"]) == ("user.reactivated", "carol")
    assert newest()["data"] == {"username": "alice", "roles": ["analyst"]}
    with pytest.raises(Conflict) as refusal:
        services.reactivate(by=people.carol, user=people.alice)
    assert refusal.value.code == "already_active"
    for somebody in (people.dora, people.bob):
        with pytest.raises(NotYours):
            services.reactivate(by=somebody, user=people.alice)


def test_whoever_is_switched_off_or_sets_a_new_password_by_mail_goes_on_by_no_older_key(people: Cast) -> None:
    first = tokens.issue(user=people.alice, name="notebook", scope="ask", days=1)[1]
    services.deactivate(by=people.carol, user=people.alice)
    assert newest()["data"]["keys_ended"] == 1
    services.reactivate(by=people.carol, user=people.alice)
    assert tokens.holder(first) is None
    second = tokens.issue(user=people.alice, name="notebook", scope="ask", days=1)[1]
    assert tokens.holder(second) is not None
    resets.set_for(people.alice, token=default_token_generator.make_token(people.alice), password=GOOD)
    assert tokens.holder(second) is None


def test_a_link_mailed_before_an_account_was_switched_off_sets_no_password(people: Cast) -> None:
    people.alice.set_password(GOOD)
    people.alice.save()
    path = urlsplit(resets._link(people.alice)).path
    uid, token = path.strip("/").split("/")[-2:]
    page = Client()
    form = str(page.get(path).headers["Location"])
    services.deactivate(by=people.carol, user=people.alice)
    with pytest.raises(NotYours):
        resets.set_new(uid=uid, token=token, password=OTHER)
    with pytest.raises(NotYours):
        resets.set_for(people.alice, token=token, password=OTHER)  # loaded before
    page.post(form, {"new_password1": OTHER, "new_password2": OTHER})
    services.reactivate(by=people.carol, user=people.alice)
    assert User.objects.get(pk=people.alice.pk).check_password(GOOD)
    resets.set_new(uid=uid, token=token, password=OTHER)
    assert User.objects.get(pk=people.alice.pk).check_password(OTHER)


def test_an_old_password_is_no_password_however_long_ago_the_row_was_loaded(people: Cast) -> None:
    people.alice.set_password(GOOD)
    people.alice.save()
    loaded = User.objects.get(pk=people.alice.pk)
    profile.set_password(user=people.alice, password=GOOD, new=OTHER)
    late: list[Callable[[], None]] = [
        partial(profile.set_password, user=loaded, password=GOOD, new="another one of hers 8"),
        partial(profile.set_email, user=loaded, email="x@example.org", password=GOOD),
    ]
    for change in late:
        with pytest.raises(BadInput) as refusal:
            change()
        assert refusal.value.code == "wrong_password"
    now = User.objects.get(pk=people.alice.pk)
    assert (now.check_password(OTHER), now.email) == (True, loaded.email)


def test_the_command_line_switches_on_again_with_another_password(people: Cast) -> None:
    services.deactivate(by=people.carol, user=people.alice)
    made = services.create_user(username="alice", roles=["auditor"], password=GOOD)
    assert (made.reactivated, made.user, made.user.roles) == (True, people.alice, ["auditor"])
    assert made.user.check_password(GOOD)


def test_curators_give_roles_but_not_to_themselves(people: Cast) -> None:
    services.set_roles(by=people.carol, user=people.alice, roles=["analyst", "auditor"])
    assert newest()["data"] == {"username": "alice", "before": ["analyst"], "after": ["analyst", "auditor"]}
    for change in (services.set_roles, services.deactivate):
        more: dict[str, Any] = {"roles": ["auditor"]} if change is services.set_roles else {}
        with pytest.raises(BadInput):
            change(by=people.carol, user=people.carol, **more)
        for somebody in (people.alice, people.dora):
            with pytest.raises(NotYours):
                change(by=somebody, user=people.bob, **more)
    with pytest.raises(NotYours):
        services.create_user(username="eve", roles=["curator"], password=GOOD, by=people.alice)


def test_nobody_is_found_by_a_name_that_is_switched_off_or_unknown(people: Cast) -> None:
    assert services.person("ALICE ") == people.alice
    services.deactivate(by=people.carol, user=people.bob)
    said = set()
    for name in ("bob", "nobody"):
        with pytest.raises(BadInput) as refusal:
            services.person(name)
        said.add((refusal.value.code, refusal.value.detail))
    assert len(said) == 1


def test_the_command_prints_a_password_it_drew_and_refuses_with_a_sentence(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    said = StringIO()
    call_command("create_user", "frank", "--role", "analyst", "--role", "auditor", stdout=said)
    password = said.getvalue().split("password: ")[1].strip()
    assert User.objects.get(username="frank").check_password(password)
    with pytest.raises(CommandError, match="a person named frank already"):
        call_command("create_user", "frank", "--role", "analyst")
    monkeypatch.setattr("sys.stdin", StringIO(GOOD + "\n"))
    said = StringIO()
    call_command("create_user", "gina", "--role", "curator", "--password-stdin", stdout=said)
    assert "password" not in said.getvalue()
    assert User.objects.get(username="gina").check_password(GOOD)


def test_two_people_of_one_name_cannot_be_made_at_once(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "PATIENCE", 60.0)  # each gets a turn, however busy the machine
    start = threading.Barrier(6)

    def make(name: str) -> str:
        start.wait()
        try:
            services.create_user(username=name, roles=["analyst"], password=GOOD)
            return "made"
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(make, ["frank", "Frank", "FRANK"] * 2))
    assert sorted(codes) == ["made", *["username_taken"] * 5]
    assert User.objects.count() == 1
