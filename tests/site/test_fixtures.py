"""What the other tests stand on: databases of their own, seen alike by threads, children, owner and browser."""

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from accounts.models import User
from rdp_site.environment import ROOT, VAR, is_embedded

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_threads_see_what_was_committed(db: None) -> None:
    User.objects.create_user("alice")
    seen: list[str] = []

    def look() -> None:
        seen.extend(User.objects.values_list("username", flat=True))
        connections.close_all()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["alice"] * 3


def test_children_use_the_same_database(database_env: dict[str, str]) -> None:
    User.objects.create_user("bob")
    code = "import django; django.setup(); from accounts.models import User; print(User.objects.get().username)"
    child = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=database_env, capture_output=True, text=True, check=True)
    assert child.stdout == "bob\n"


def test_the_owner_may_switch_triggers_off(db: None, owner_connection: psycopg.Connection[Any]) -> None:
    User.objects.create_user("carol")
    with pytest.raises(psycopg.Error, match="never deleted"):
        owner_connection.execute("DELETE FROM accounts_user")
    owner_connection.execute("ALTER TABLE accounts_user DISABLE TRIGGER USER")
    owner_connection.execute("DELETE FROM accounts_user")
    assert not User.objects.exists()


@pytest.mark.django_db
def test_pytest_djangos_mark_means_the_same_database() -> None:
    User.objects.create_user("dora")
    assert not connection.in_atomic_block
    assert connection.settings_dict["NAME"].startswith("rdp_test_")


def test_nothing_touches_the_checkouts_own_files(db: None) -> None:
    assert not VAR.is_relative_to(ROOT)
    assert settings.VERSIONS_DIR.is_relative_to(VAR)
    assert is_embedded() == ("DATABASE_URL" not in os.environ)


@pytest.mark.browser
def test_the_browser_reaches_the_site(page: "Page") -> None:
    response = page.goto("/no-such-page/")
    assert response is not None
    assert response.status == 404
