"""A PostgreSQL of one's own, from 15 on: the same set-up, the same rights, the same test databases."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from rdp_site.environment import ROOT
from tests.site.commands import environment, manage
from tests.site.servers import External, external


@pytest.fixture(scope="module", params=["packaged", "system"])
def server(request: pytest.FixtureRequest) -> Iterator[External]:
    with external(request.param) as running:
        yield running


def test_set_up_twice_then_the_running_role_cannot_rewrite_the_record(server: External, tmp_path: Path) -> None:
    env = environment(tmp_path / "var", **server.variables)
    manage("setup_database", "--verbosity", "0", env=env)
    manage("setup_database", "--verbosity", "0", env=env)
    assert not (tmp_path / "var" / "postgres").exists()
    with psycopg.connect(server.url, autocommit=True) as application:
        assert application.info.server_version >= 150000
        for verb in ("UPDATE curator_ledgerentry SET load = load", "DELETE FROM curator_release", "TRUNCATE curator_auditevent"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(verb)
        privileges = "SELECT has_database_privilege(current_database(), 'CREATE'), has_schema_privilege('pgmq', 'CREATE')"
        assert application.execute(privileges).fetchone() == (False, True)


def test_tests_run_on_it(server: External, tmp_path: Path) -> None:
    """The suite's own fixtures, in a process of their own: databases made, committed to, and all removed again."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/site/test_fixtures.py"]
    env = environment(tmp_path / "var", **server.variables)
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with psycopg.connect(server.owner_url) as owner:
        left = owner.execute("SELECT datname FROM pg_database WHERE datname LIKE 'rdp_test%'").fetchall()
    assert left == []


def test_one_role_for_both_is_refused(server: External, tmp_path: Path) -> None:
    env = environment(tmp_path / "var", DATABASE_URL=server.owner_url, DATABASE_OWNER_URL=server.owner_url)
    done = manage("setup_database", env=env, check=False)
    assert done.returncode == 1
    assert "same role" in done.stderr


def test_without_the_owners_url_set_up_says_so(server: External, tmp_path: Path) -> None:
    done = manage("setup_database", env=environment(tmp_path / "var", DATABASE_URL=server.url), check=False)
    assert done.returncode == 1
    assert "DATABASE_OWNER_URL" in done.stderr


@pytest.mark.parametrize("switch", ["fsync", "full_page_writes", "synchronous_commit"])
def test_a_server_that_may_forget_is_refused(switch: str, tmp_path: Path) -> None:
    with external("packaged", "-c", f"{switch}=off") as forgetful:
        env = environment(tmp_path / "var", **forgetful.variables)
        for command in (("setup_database",), ("run_services", "worker")):
            done = manage(*command, env=env, check=False)
            assert done.returncode == 1
            assert f"{switch} = off" in done.stderr
