"""Test databases: one template, migrated once by the owner; every test commits to a copy of its own (about 50 ms).

Without DATABASE_URL the server is our own embedded one in a temporary folder; with DATABASE_URL and DATABASE_OWNER_URL (a role
that may create databases) it is that one.
"""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from celery import current_app
from django.conf import settings
from django.db import connections
from django.db.backends.postgresql.psycopg_any import sql
from kombu import pools

from rdp_site import grants, postgres
from rdp_site.celery import app
from rdp_site.connections import broker_conninfo, database_url, embedded_databases
from rdp_site.environment import VAR, is_embedded
from rdp_site.installation import install
from rdp_site.places import free_port


@dataclass
class TestDatabases:
    """A server with a template; `clone` makes the database of one test and points Django and Celery at it."""

    __test__ = False

    base: str  # a database that exists throughout
    template: str = f"rdp_test_{os.getpid()}"
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def make_template(self) -> None:
        """Migrate a fresh database as its owner and give the application role its rights."""
        with self.owner() as owner:
            _run(owner, "DROP DATABASE IF EXISTS {}", self.template)
            _run(owner, "CREATE DATABASE {}", self.template)
        point_at(self.template)
        install(verbosity=0)
        close_everything()

    def clone(self) -> str:
        """Copy the template; everything in this process now uses the copy."""
        name = f"{self.template}_{next(self.numbers)}"
        with self.owner() as owner:
            _run(owner, "CREATE DATABASE {} TEMPLATE {}", name, self.template)
            grants.apply_to_database(owner, name, connections.settings["default"]["USER"])
        point_at(name)
        return name

    def drop(self, name: str) -> None:
        """Remove a database; each role ends its own sessions first, because WITH (FORCE) may not end other roles'."""
        close_everything()
        for alias in ("default", "owner"):
            with suppress(psycopg.OperationalError), connect(alias, name) as connection:  # the role may not be let in yet
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
                )
        with self.owner() as owner:
            _run(owner, "DROP DATABASE IF EXISTS {}", name)

    def owner(self) -> psycopg.Connection[Any]:
        """An autocommit connection of the owner outside every test's database."""
        return connect("owner", self.base)


@contextmanager
def test_databases() -> Iterator[TestDatabases]:
    """A server for the session, with its template."""
    with _server():
        databases = TestDatabases(base=connections.settings["owner"]["NAME"])
        databases.make_template()
        try:
            yield databases
        finally:
            databases.drop(databases.template)
            point_at(databases.base)


test_databases.__test__ = False  # type: ignore[attr-defined]  # pytest's own mark


@contextmanager
def _server() -> Iterator[None]:
    if not is_embedded():
        if "owner" not in connections.settings:
            raise RuntimeError("Tests on an external PostgreSQL need DATABASE_OWNER_URL beside DATABASE_URL.")
        yield
        return
    cluster = postgres.prepare(VAR)
    with postgres.in_use(cluster):
        with cluster.connect(postgres.SUPERUSER, "postgres") as connection:
            _run(connection, "ALTER ROLE {} CREATEDB", postgres.OWNER)  # here only: the product's owner role cannot
        for alias, database in embedded_databases(VAR).items():
            connections.settings[alias].update(database)
        yield


def connect(alias: str, name: str | None = None) -> psycopg.Connection[Any]:
    """A plain autocommit connection with the role of a Django alias."""
    database = connections.settings[alias] | ({"NAME": name} if name else {})
    return psycopg.connect(database_url(database), autocommit=True)


def point_at(name: str) -> None:
    """Let Django's aliases and Celery's broker, in every thread, use the database `name` from now on."""
    close_everything()
    for database in connections.settings.values():
        database["NAME"] = name
    if "conn_string" in settings.CELERY_BROKER_TRANSPORT_OPTIONS:
        conninfo = broker_conninfo(connections.settings["default"])
        settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"] = conninfo
        app.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS


def close_everything() -> None:
    """Close this thread's database connections and this process's connections to the broker."""
    connections.close_all()
    pools.reset()
    for each in {app, current_app._get_current_object()}:  # a test may have made another the current one
        each._after_fork()  # forgets the pools just closed; Celery offers no public way


def _run(connection: psycopg.Connection[Any], statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextmanager
def away() -> Iterator[None]:
    """For the time of the block nobody listens where the application looks for its database."""
    database = connections.settings["default"]
    before = {"HOST": database["HOST"], "PORT": database["PORT"]}
    connections.close_all()
    database.update(HOST="127.0.0.1", PORT=str(free_port()))
    try:
        yield
    finally:
        database.update(before)
        connections.close_all()
