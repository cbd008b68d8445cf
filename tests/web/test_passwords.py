"""A password changes together with the event that tells of it, or not at all."""

from urllib.parse import urlsplit

import pytest
from django.db import OperationalError
from django.test import Client

from accounts import resets
from accounts.models import User
from curator.models import AuditEvent
from curator.services import audit
from tests.cast import person
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

OLD, NEW = "correct horse battery", "battery staple correct"
TWICE = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def alice(db: None) -> User:
    made = person("alice", "analyst")
    made.set_password(OLD)
    made.save()
    return made


@pytest.mark.parametrize("way", ["changed", "reset"])
def test_no_password_changes_without_its_event(alice: User, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = browser_of(alice) if way == "changed" else Client()
    client.raise_request_exception = False
    path, form = "/password/", {**TWICE, "old_password": OLD}
    if way == "reset":
        path, form = str(client.get(urlsplit(resets._link(alice)).path).headers["Location"]), TWICE

    def away(*_: object) -> None:
        raise OperationalError("the database went away")

    with monkeypatch.context() as patch:
        patch.setattr(audit, "append", away)
        assert client.post(path, form).status_code >= 500
    assert User.objects.get().check_password(OLD)
    assert client.post(path, form).status_code == 302
    assert User.objects.get().check_password(NEW)
    assert AuditEvent.objects.filter(kind=f"password.{way}", actor="alice").count() == 1
