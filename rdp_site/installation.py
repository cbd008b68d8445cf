"""Bring a database to the present: migrations as the owner, the message queue as the application role, then the rights.

Everything here is repeatable. On a PostgreSQL of your own both roles and the database (owned by the owner role) exist beforehand.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.core.management import call_command
from django.db import connections
from pgmq.install import install_pgmq_from_sql
from psycopg import sql

from rdp_site import grants

DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
#: What keeps statements, parameters and refused rows out of the server's log: setting, values that do, the one to choose.
DISCREET: dict[str, tuple[tuple[str, ...], str]] = {
    "log_error_verbosity": (("terse",), "terse"),
    "log_min_error_statement": (("log", "fatal", "panic"), "panic"),
    "log_statement": (("none", "ddl"), "none"),
    "log_min_duration_statement": (("-1",), "-1"),
    "log_min_duration_sample": (("-1",), "-1"),
    "log_transaction_sample_rate": (("0",), "0"),
    "log_parameter_max_length_on_error": (("0",), "0"),
}


class CannotInstall(Exception):
    """The database is not as set-up needs it; the text says what to change."""


def install(*, verbosity: int = 1) -> None:
    """Migrate the database that the aliases "owner" and "default" point at, install the queue, apply the rights."""
    if "owner" not in connections:
        raise CannotInstall("Set DATABASE_OWNER_URL: migrations run as the owner of the database, not as DATABASE_URL's role.")
    check_durability()
    call_command("migrate", database="owner", interactive=False, verbosity=verbosity)
    role = connections["default"].settings_dict["USER"]
    with _raw("owner") as owner:
        database = owner.info.dbname
        if role == owner.info.user:
            raise CannotInstall(
                "DATABASE_URL and DATABASE_OWNER_URL name the same role: the running product must not own its record."
            )
        grants.apply_to_database(owner, database, role)
        grants.apply(owner, role)
        _install_queue(owner, database, role)


def check_durability() -> None:
    """Refuse a server that may forget what it has acknowledged: with any of these off, a kill loses charges but not answers."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(DURABLE)])
        off = sorted(f"{name} = {setting}" for name, setting in cursor.fetchall() if setting in ("off", "local"))
    if off:
        raise CannotInstall(f"PostgreSQL may lose acknowledged charges: {', '.join(off)}. Switch {', '.join(DURABLE)} on.")


def indiscretions() -> dict[str, str]:
    """Settings of the server with which values could reach its log, each with the value that keeps them out."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(DISCREET)])
        found = dict(cursor.fetchall())
    return {name: best for name, (good, best) in DISCREET.items() if name in found and found[name] not in good}


def _install_queue(owner: psycopg.Connection, database: str, role: str) -> None:
    """The queue's client makes and drops tables, so its role owns that schema; it may make one for this moment only."""
    if owner.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'pgmq'").fetchone():
        return
    names = {"database": sql.Identifier(database), "role": sql.Identifier(role)}
    owner.execute(sql.SQL("GRANT CREATE ON DATABASE {database} TO {role}").format(**names))
    try:
        with _raw("default") as application:
            application.autocommit = False
            install_pgmq_from_sql(conn=application)
            application.commit()
            application.autocommit = True
    finally:
        owner.execute(sql.SQL("REVOKE CREATE ON DATABASE {database} FROM {role}").format(**names))


@contextmanager
def _raw(alias: str) -> Iterator[psycopg.Connection]:
    """The driver's own connection, in autocommit, closed afterwards."""
    wrapper = connections[alias]
    wrapper.ensure_connection()
    try:
        yield wrapper.connection
    finally:
        wrapper.close()
