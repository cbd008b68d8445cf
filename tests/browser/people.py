"""Signing people in, and looking at what the browser complains about."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from accounts.models import User

if TYPE_CHECKING:
    from playwright.sync_api import Page

BACKEND = "django.contrib.auth.backends.ModelBackend"


def let_in(page: "Page", site: str, user: User) -> None:
    """Give this browser the session of somebody who has signed in."""
    session = SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    page.context.clear_cookies()
    page.context.add_cookies([{"name": "sessionid", "value": session.session_key or "", "url": site}])


@contextmanager
def no_complaints(page: "Page") -> Iterator[list[str]]:
    """Collects errors of scripts and of the content policy; there must be none in the end."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    yield found
    assert not found, found
