"""A refused row, and the values drawn for it, is quoted neither in the server's log nor in the worker's."""

from pathlib import Path

import psycopg
import pytest

from curator import queue
from curator.models import Release
from curator.services import discretion, execution, settling
from rdp_site import cluster as clusters
from rdp_site import installation, postgres
from rdp_site.environment import ensure_secrets
from tests.cast import ROWS, Cast, cast, make_contract
from tests.site.commands import environment, manage
from tests.site.servers import external
from tests.worker.scene import WOMEN, ask, draws, state

DRAWN = 987_656_789


def refused_row(var: Path) -> str:
    """What the log of an embedded server says of a row that a constraint refused."""
    ensure_secrets(var)
    cluster = postgres.prepare(var)
    with postgres.in_use(cluster), cluster.connect(postgres.OWNER) as owner:
        owner.execute("CREATE TABLE t (value bigint, CONSTRAINT none_is_right CHECK (value < 0))")
        with pytest.raises(psycopg.errors.CheckViolation, match=str(DRAWN)):
            owner.execute("INSERT INTO t VALUES (%s)", [DRAWN])
    return cluster.log.read_text()


@pytest.mark.trust
def test_the_servers_log_names_the_constraint_and_not_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused_row(tmp_path / "var")
    assert "none_is_right" in said and str(DRAWN) not in said
    monkeypatch.delitem(clusters.OPTIONS, "log_error_verbosity")
    assert str(DRAWN) in refused_row(tmp_path / "careless")


@pytest.fixture
def people(db: None, monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


def test_the_workers_error_names_the_constraint_and_not_the_row(
    people: Cast, owner_connection: psycopg.Connection[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = make_contract(people, rows=ROWS)
    query = ask(people.alice, contract, WOMEN)
    draws(monkeypatch, DRAWN)
    owner_connection.execute("ALTER TABLE curator_release ADD CONSTRAINT none_is_right CHECK (value < 0)")
    with pytest.raises(discretion.WriteRefused, match="23514 curator_release none_is_right") as told:
        execution.run(contract.pk)
    assert told.value.__cause__ is None and told.value.__context__ is None
    assert str(DRAWN) not in repr(told.value)
    assert (state(query), Release.objects.count()) == ("waiting", 0)


def test_the_plain_error_would_have_quoted_it(
    people: Cast, owner_connection: psycopg.Connection[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN)
    draws(monkeypatch, DRAWN)
    owner_connection.execute("ALTER TABLE curator_release ADD CONSTRAINT none_is_right CHECK (value < 0)")
    monkeypatch.setattr(settling, "settle", settling.settle.__wrapped__)  # type: ignore[attr-defined]  # functools.wraps left it
    with pytest.raises(Exception, match=str(DRAWN)):
        execution.run(contract.pk)


def test_set_up_says_what_lets_values_into_the_log_of_a_server_of_ones_own(tmp_path: Path) -> None:
    with external("packaged") as careless:
        env = environment(tmp_path / "var", **careless.variables)
        said = manage("setup_database", "--verbosity", "0", env=env).stderr
        wanted = [line.strip() for line in said.splitlines() if line.strip().startswith("ALTER ROLE")]
        assert "ALTER ROLE \"counts\" SET log_error_verbosity = 'terse';" in wanted
        assert "ALTER ROLE \"counts\" SET log_min_error_statement = 'panic';" in wanted
        with psycopg.connect(careless.address("postgres", "root-secret", "postgres"), autocommit=True) as administrator:
            for statement in wanted:
                administrator.execute(statement)
        assert manage("setup_database", "--verbosity", "0", env=env).stderr == ""


def test_the_embedded_server_gives_no_cause_for_a_warning(db: None) -> None:
    assert installation.indiscretions() == {}
