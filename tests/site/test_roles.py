"""Two roles: the owner migrates; the application role cannot rewrite the record, whatever statement it tries."""

import os
import pwd
import subprocess
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.db import connection, connections
from psycopg import sql

from accounts.models import User
from rdp_site import grants, places, postgres
from rdp_site.connections import database_url
from rdp_site.environment import VAR, is_embedded

Connection = psycopg.Connection[Any]

RECORD = sorted(table for table, rights in grants.RIGHTS.items() if rights == grants.INSERT_ONLY)
VERBS = {
    "update": "UPDATE {table} SET {column} = {column}",
    "delete": "DELETE FROM {table}",
    "truncate": "TRUNCATE {table} CASCADE",
    "drop": "DROP TABLE {table} CASCADE",
    "alter": "ALTER TABLE {table} ADD COLUMN more integer",
    "switch triggers off": "ALTER TABLE {table} DISABLE TRIGGER ALL",
    "drop a trigger": "DROP TRIGGER a_insert_only ON {table}",
    "become a replica": "SET session_replication_role = replica",
    "become the owner": "SET ROLE {owner}",
    "take the table over": "ALTER TABLE {table} OWNER TO {role}",
    "put a rule before it": "CREATE RULE r AS ON INSERT TO {table} DO INSTEAD NOTHING",
    "change the guard": "CREATE OR REPLACE FUNCTION guard_insert_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "shadow it with a table": "CREATE TABLE public.shadow (id integer)",
    "shadow it with a schema": "CREATE SCHEMA rdp_app",
}


def test_the_running_role_is_not_the_owner(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, (SELECT tableowner FROM pg_tables WHERE tablename = 'curator_ledgerentry')")
        role, owner = cursor.fetchone()
    assert role != owner


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_rewrites_the_record(verb: str, application_connection: Connection, owner_connection: Connection) -> None:
    tried = 0
    for table in RECORD:
        row = owner_connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [table]
        ).fetchone()
        assert row is not None
        names = {
            "table": sql.Identifier(table),
            "column": sql.Identifier(row[0]),
            "role": sql.Identifier(application_connection.info.user),
            "owner": sql.Identifier(owner_connection.info.user),
        }
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application_connection.execute(sql.SQL(VERBS[verb]).format(**names))
        tried += 1
    assert tried == len(RECORD) == 10


def test_the_running_role_cannot_give_itself_rights(application_connection: Connection) -> None:
    for table in RECORD:
        grant = sql.SQL("GRANT ALL ON {} TO {}").format(sql.Identifier(table), sql.Identifier(application_connection.info.user))
        application_connection.execute(grant)  # PostgreSQL warns that nothing was granted
        held = application_connection.execute("SELECT has_table_privilege(%s, 'UPDATE, DELETE, TRUNCATE, TRIGGER')", [table])
        assert held.fetchone() == (False,)


def test_nothing_of_the_curators_can_be_deleted(application_connection: Connection) -> None:
    tables = [table for table in grants.RIGHTS if table.startswith("curator_")]
    for table in tables:
        for verb in ("DELETE FROM {}", "TRUNCATE {} CASCADE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application_connection.execute(sql.SQL(verb).format(sql.Identifier(table)))
    assert len(tables) >= 20


def test_only_the_listed_columns_of_a_query_change(application_connection: Connection) -> None:
    application_connection.execute("UPDATE curator_query SET state = 'failed', failure = 'x' WHERE false")
    for column in ("question", "accuracy", "analyst_id", "contract_id", "arrived_at", "key", "id"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application_connection.execute(
                sql.SQL("UPDATE curator_query SET {0} = {0} WHERE false").format(sql.Identifier(column))
            )


def test_every_table_has_its_line_and_every_line_its_table(owner_connection: Connection) -> None:
    tables = {row[0] for row in owner_connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert tables == set(grants.RIGHTS)
    assert {model._meta.db_table for model in apps.get_models(include_auto_created=True)} <= tables


def test_a_table_without_a_line_stops_set_up(owner_connection: Connection) -> None:
    owner_connection.execute("CREATE TABLE curator_forgotten (id integer)")
    with pytest.raises(grants.UnlistedTable, match="curator_forgotten"):
        grants.apply(owner_connection, "rdp_app")


def test_rights_given_by_hand_are_taken_back(owner_connection: Connection, application_connection: Connection) -> None:
    role = application_connection.info.user
    owner_connection.execute(sql.SQL("GRANT DELETE ON curator_release TO {}").format(sql.Identifier(role)))
    application_connection.execute("DELETE FROM curator_release WHERE false")
    grants.apply(owner_connection, role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        application_connection.execute("DELETE FROM curator_release WHERE false")


def test_the_queue_is_the_application_roles_own_but_no_other_schema(application_connection: Connection) -> None:
    owner = application_connection.execute("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'pgmq'").fetchone()
    assert owner == (application_connection.info.user,)
    granted = "SELECT has_database_privilege(current_database(), 'CREATE'), has_schema_privilege('public', 'CREATE')"
    assert application_connection.execute(granted).fetchone() == (False, False)


def test_another_role_of_the_server_is_not_let_in(owner_connection: Connection) -> None:
    public = owner_connection.execute(
        "SELECT count(*) FROM pg_database, aclexplode(datacl) WHERE datname = current_database() AND grantee = 0"
    ).fetchone()
    assert public == (0,)


@pytest.mark.skipif(not is_embedded() or os.geteuid() != 0, reason="takes root, to act as another user, and the embedded server")
def test_another_user_of_the_machine_does_not_reach_the_socket(db: None) -> None:
    database, other = connections.settings["default"], pwd.getpwnam("daemon")
    psql = places.programs(postgres.load(VAR).home) / "psql"
    environment = {"PGPASSWORD": database["PASSWORD"], "LC_ALL": "C"}
    words = [str(psql), "-h", database["HOST"], "-U", database["USER"], "-d", database["NAME"], "-c", "SELECT 'reached'"]
    as_root = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    stranger = subprocess.run(
        words,
        env=environment,
        user=other.pw_uid,
        group=other.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "reached" in as_root.stdout
    assert "Permission denied" in stranger.stderr
    assert "reached" not in stranger.stdout


def test_tests_commit_for_real(db: None) -> None:
    User.objects.create_user("alice")
    with psycopg.connect(database_url(connections.settings["default"])) as other:
        assert other.execute("SELECT username FROM accounts_user").fetchall() == [("alice",)]


def test_and_alice_of_the_test_before_is_not_here(db: None) -> None:
    assert not User.objects.exists()
