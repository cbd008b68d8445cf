"""The secret of a link that still opens something is in no table, on no chain and in no log, however its page refused."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponseBase
from django.test import Client
from psycopg import sql

from accounts import invitations, resets
from accounts.models import Membership, Role, User
from curator.models import AuditEvent, Contract
from curator.services import denials
from rdp_site.logs import StructuredFormatter
from tests.cast import Cast, make_contract, person
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

GOOD, BETTER = "correct horse battery", "battery staple correct"
ACCOUNT = {"username": "nina", "password": GOOD, "repeated": GOOD}


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people)


@pytest.fixture
def said() -> Iterator[StringIO]:
    """Everything that goes to the log, in both of its forms."""
    root, written = logging.getLogger(), StringIO()
    console = next(each for each in root.handlers if {type(f).__name__ for f in each.filters} >= {"WithoutPaths"})
    assert isinstance(console, logging.StreamHandler)
    structured = logging.StreamHandler(written)
    structured.setFormatter(StructuredFormatter())
    for each in console.filters:
        structured.addFilter(each)
    before = console.setStream(written)
    root.addHandler(structured)
    yield written
    root.removeHandler(structured)
    console.setStream(before)


def rows_with(secret: str, owner: psycopg.Connection[Any]) -> list[str]:
    """The tables in which a row holds the secret, as text or as bytes."""
    tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
    assert len(tables) > 30
    found = []
    for (table,) in tables:
        query = sql.SQL("SELECT count(*) FROM public.{} AS row WHERE row::text LIKE ANY(%s)").format(sql.Identifier(table))
        counted = owner.execute(query, [[f"%{text}%" for text in (secret, secret.encode().hex())]]).fetchone()
        found += [table] * (counted or [0])[0]
    return found


def put_on_record() -> int:
    """Have what was denied and refused told on the site's chain: how many events there are."""
    denials.tell(datetime.now(UTC) + timedelta(minutes=1))
    return AuditEvent.objects.filter(chain="site", kind__in=[denials.ACCESS, denials.REFUSED]).count()


def crash(client: Client, path: str, monkeypatch: pytest.MonkeyPatch) -> HttpResponseBase:
    """An unforeseen error in the view: Django logs it with the request."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("unforeseen")

    client.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr(invitations, "find", fail)
        patch.setattr("curator.web.views.reset.NewPassword.dispatch", fail)
        return client.get(path)


def refusals(path: str, monkeypatch: pytest.MonkeyPatch, bodies: list[dict[str, str]]) -> list[int]:
    """What a page answers to bodies that it refuses, to a form without its token, to another method and with an error."""
    codes = [Client().post(path, body).status_code for body in bodies]
    codes += [Client(enforce_csrf_checks=True).post(path, ACCOUNT).status_code, Client().put(path).status_code]
    return [*codes, crash(Client(), path, monkeypatch).status_code, Client().get(path.rstrip("/")).status_code]


def test_the_secret_of_an_invitation_is_nowhere(
    people: Cast, contract: Contract, said: StringIO, owner_connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = invitations.invite(curator=people.carol, contract=contract, role=Role.AUDITOR)[1]
    path, otto = f"/invitation/{secret}/", person("otto", Role.ANALYST)
    otto.set_password(GOOD)
    otto.save()
    codes = refusals(path, monkeypatch, [{"username": "a\x00"}, {**ACCOUNT, "username": "alice"}, *[{"username": ""}] * 20])
    assert codes == [400, 409, *[400] * 19, 429, 403, 405, 500, 301]
    assert browser_of(people.carol).post(path).status_code == 409
    assert browser_of(people.carol).post(path, {"x": "\x00"}).status_code == 400
    came_back = by_signing_in(path)
    wrong = {"username": "otto", "password": "wrong"}
    assert Client().post(f"/sign-in/?next={path}", {**wrong, "next": path}).status_code == 400  # an address of one's own making
    assert put_on_record() >= 1
    kept = [session.get_decoded() for session in Session.objects.all()]
    assert (rows_with(secret, owner_connection), secret in said.getvalue(), secret in str(kept)) == ([], False, False)
    assert "invitation/<str:secret>/" in said.getvalue()
    assert came_back.post("/invitation/").status_code == 303  # it was good all the while
    assert Membership.objects.filter(user=otto, contract=contract, role=Role.AUDITOR, active=True).exists()
    assert came_back.get("/invitation/").status_code == 404


def by_signing_in(path: str) -> Client:
    """Otto opens the link, signs in on the way (wrongly first), and comes back to the invitation."""
    client = Client()
    onwards = str(client.post(path, {"do": "sign-in"}).headers["Location"])
    assert onwards == "/sign-in/?next=/invitation/"
    following = {"username": "otto", "next": "/invitation/"}
    assert client.post(onwards, {**following, "password": "wrong"}).status_code == 400
    answer = client.post(onwards, {**following, "password": GOOD}, follow=True)
    assert answer.redirect_chain == [("/invitation/", 302)]
    assert "Accept as otto" in answer.content.decode()
    return client


def test_the_secret_of_a_link_to_a_new_password_is_nowhere(
    people: Cast, said: StringIO, owner_connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """(While its form is open, the session of that browser holds the token, encoded: Django keeps it out of addresses so.)"""
    path = urlsplit(resets._link(people.alice)).path
    token = path.rstrip("/").rpartition("/")[2]
    assert refusals(path, monkeypatch, [{"new_password1": "\x00"}]) == [400, 403, 302, 500, 301]
    assert Client().post(f"/sign-in/?next={path}", {"username": "alice", "password": "x", "next": path}).status_code == 400
    client = Client()
    form = str(client.get(path).headers["Location"])
    assert token not in form
    assert client.post(form, {"new_password1": "a", "new_password2": "b"}).status_code == 400
    assert put_on_record() >= 1
    assert (rows_with(token, owner_connection), token in said.getvalue()) == ([], False)
    assert client.post(form, {"new_password1": BETTER, "new_password2": BETTER}).status_code == 302  # it was good all the while
    assert User.objects.get(username="alice").check_password(BETTER)


def test_the_secrets_that_programs_send_are_nowhere(
    people: Cast, contract: Contract, said: StringIO, owner_connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    invited = invitations.invite(curator=people.carol, contract=contract, role=Role.AUDITOR)[1]
    uid, token = urlsplit(resets._link(people.alice)).path.strip("/").split("/")[-2:]
    newcomer = {"secret": invited, "username": "nina", "password": GOOD}
    for path, secret, bodies in (
        ("invitations/look", invited, [{"secret": invited}]),
        (
            "invitations/join",
            invited,
            [{**newcomer, "password": "1"}, {**newcomer, "username": "alice"}, {"x": invited, **newcomer}],
        ),
        ("invitations/accept", invited, [{"secret": invited}]),
        ("password/new", token, [{"uid": uid, "token": token, "new_password": "1"}]),
    ):
        for client in (Client(), Client(enforce_csrf_checks=True), browser_of(people.carol)):
            for body in bodies:
                client.post(f"/api/v1/{path}/", body, content_type="application/json")
                client.generic("POST", f"/api/v1/{path}/", secret.encode(), "application/json")
                client.generic("PUT", f"/api/v1/{path}/", secret.encode(), "application/json")
        with monkeypatch.context() as patch:
            patch.setattr(invitations, "find", _crash)
            patch.setattr(resets, "set_new", _crash)
            broken = Client(raise_request_exception=False).post(f"/api/v1/{path}/", bodies[0], content_type="application/json")
            assert broken.status_code in (401, 500)
    assert put_on_record() >= 1
    for secret in (invited, token):
        assert (rows_with(secret, owner_connection), secret in said.getvalue()) == ([], False)
    assert "api/v1/invitations/join/" in said.getvalue()
    assert Client().post("/api/v1/invitations/join/", newcomer, content_type="application/json").status_code == 201


def _crash(*_: object, **__: object) -> None:
    raise RuntimeError("something that nobody foresaw")
