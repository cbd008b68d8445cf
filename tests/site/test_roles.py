"""Two roles: the owner migrates; the application role cannot rewrite the record, whatever statement it tries."""

import os
import pwd
import subprocess
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections
from psycopg import sql

from accounts.models import User
from rdp_site import grants, places, postgres
from rdp_site.connections import database_url
from rdp_site.environment import VAR, is_embedded
from tests.fixtures.figures import Figure

Connection = psycopg.Connection[Any]

RECORD = sorted([*(table for table, rights in grants.RIGHTS.items() if rights == grants.INSERT_ONLY), "curator_auditevent"])
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
    "change the writer": "CREATE OR REPLACE FUNCTION record_hold(chain_name text) RETURNS curator_audithead "
    "LANGUAGE sql AS 'SELECT NULL'",
    "merge into it": "MERGE INTO {table} AS t USING (SELECT 1) AS s ON true WHEN MATCHED THEN UPDATE SET {column} = t.{column}",
    "overwrite on conflict": "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({column}) DO UPDATE SET {column} = 1",
    "copy a program's words in": "COPY {table} FROM PROGRAM 'true'",
    "copy a file in": "COPY {table} FROM '/dev/null'",
    "shadow it with a table": "CREATE TABLE public.shadow (id integer)",
    "shadow it with a schema": "CREATE SCHEMA rdp_app",
}


def test_the_running_role_is_not_the_owner(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, (SELECT tableowner FROM pg_tables WHERE tablename = 'curator_ledgerentry')")
        role, owner = cursor.fetchone()
    assert role != owner


def refused(application: Connection, statement: sql.SQL | sql.Composed) -> bool:
    """Whether the database refuses a statement for want of a right; other errors are the test's own mistakes."""
    try:
        with application.transaction(force_rollback=True):
            application.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False


def tries(table: str, application: Connection, owner: Connection) -> dict[str, sql.Composed]:
    """Every verb against one table of the record."""
    row = owner.execute("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [table]).fetchone()
    assert row is not None
    names = {
        "table": sql.Identifier(table), "column": sql.Identifier(row[0]), "role": sql.Identifier(application.info.user),
        "owner": sql.Identifier(owner.info.user),
    }  # fmt: skip
    return {verb: sql.SQL(statement).format(**names) for verb, statement in VERBS.items()}


@pytest.mark.trust
def test_no_verb_rewrites_the_record(application_connection: Connection, owner_connection: Connection, figure: Figure) -> None:
    obeyed = [
        (table, verb)
        for table in RECORD
        for verb, statement in tries(table, application_connection, owner_connection).items()
        if not refused(application_connection, statement)
    ]
    n = len(RECORD) * len(VERBS)
    assert (obeyed, len(RECORD), len(VERBS) >= 9) == ([], 10, True)
    figure(row=15, n=n, seen=f"0 of {len(VERBS)} verbs succeed on any of {len(RECORD)} tables")


@pytest.mark.trust
def test_a_role_with_one_right_too_many_is_found_by_the_matrix(
    application_connection: Connection, owner_connection: Connection, figure: Figure
) -> None:
    role, table = sql.Identifier(application_connection.info.user), sql.Identifier("curator_release")
    owner_connection.execute(sql.SQL("GRANT UPDATE ON {} TO {}").format(table, role))
    owner_connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(table))
    found = [
        verb
        for verb, statement in tries("curator_release", application_connection, owner_connection).items()
        if not refused(application_connection, statement)
    ]
    assert found == ["update", "merge into it", "overwrite on conflict"]
    figure(row=15, n=len(VERBS), mutant="UPDATE granted on one table: caught")


def test_the_running_role_writes_a_chain_by_its_function_only(application_connection: Connection) -> None:
    for statement in (
        "INSERT INTO curator_auditevent (chain, seq, kind, actor, at) VALUES ('site', 7, 'x', '', now())",
        "INSERT INTO curator_audithead (chain, seq, head) VALUES ('site', 7, 'x')",
        "UPDATE curator_audithead SET seq = seq + 1",
        "SELECT * FROM curator_audithead FOR UPDATE",
        "COPY curator_auditevent (chain) FROM STDIN",
    ):
        assert refused(application_connection, sql.SQL(statement)), statement
    append = "SELECT seq, previous FROM record_append('site', {}, ARRAY['sign_in'], ARRAY['eve'], ARRAY[NULL]::uuid[], ARRAY[{}])"
    for at, data in (
        ("now() - interval '1 day'", "'{}'"), ("now() + interval '1 hour'", "'{}'"), ("NULL", "'{}'"), ("now()", "NULL"),
        ("now()", "'[]'"), ("now()", """'{},"seq":9'"""), ("now()", """'{}},"kind":"forged"'"""), ("now()", "''"),
    ):  # fmt: skip
        with pytest.raises((psycopg.errors.RestrictViolation, psycopg.errors.InvalidTextRepresentation)):
            application_connection.execute(append.format(at, data))
    assert application_connection.execute(append.format("now()", "'{}'")).fetchone() == (1, "0" * 64)


def test_the_writer_of_chains_looks_at_no_table_of_its_callers(
    owner_connection: Connection, application_connection: Connection
) -> None:
    for table in ("curator_audithead", "curator_auditevent"):
        assert refused(application_connection, sql.SQL("CREATE TEMP TABLE {} (chain text)").format(sql.Identifier(table)))
        owner_connection.execute(sql.SQL("CREATE TEMP TABLE {} (chain text)").format(sql.Identifier(table)))
    owner_connection.execute("SET search_path = pg_temp, public")
    call = "SELECT seq FROM public.record_append('site', now(), '{x}', '{eve}', '{NULL}', ARRAY['{}'])"
    assert [owner_connection.execute(call).fetchone() for _ in range(2)] == [(1,), (2,)]


def test_only_the_application_role_may_call_the_writer(owner_connection: Connection) -> None:
    found = owner_connection.execute(
        "SELECT count(*) FROM pg_proc, aclexplode(proacl) "
        "WHERE pronamespace = 'public'::regnamespace AND prosecdef AND grantee = 0"
    ).fetchone()
    assert found == (0,)


def test_a_function_of_the_owners_without_a_line_stops_set_up(owner_connection: Connection) -> None:
    owner_connection.execute("CREATE FUNCTION forgotten() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
    with pytest.raises(grants.UnlistedTable, match=r"forgotten\(\)"):
        grants.apply(owner_connection, "rdp_app")


def test_the_printed_rights_are_those_that_set_up_gives(owner_connection: Connection, application_connection: Connection) -> None:
    role, database = application_connection.info.user, application_connection.info.dbname
    before = rights_of(owner_connection, role)
    owner_connection.execute(sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}").format(sql.Identifier(role)))
    owner_connection.execute(sql.SQL("GRANT DELETE ON curator_release TO {}").format(sql.Identifier(role)))
    printed = StringIO()
    call_command("grants", "--role", role, "--database", database, stdout=printed)
    for statement in printed.getvalue().splitlines():
        assert statement.endswith(";")
        owner_connection.execute(statement)
    assert rights_of(owner_connection, role) == before


def rights_of(owner: Connection, role: str) -> list[tuple[Any, ...]]:
    """What a role may do with which table and column."""
    return owner.execute(
        "SELECT table_name::text, '', privilege_type::text FROM information_schema.table_privileges WHERE grantee = %(role)s "
        "UNION ALL SELECT table_name, column_name, privilege_type FROM information_schema.column_privileges "
        "WHERE grantee = %(role)s ORDER BY 1, 2, 3",
        {"role": role},
    ).fetchall()


def test_the_running_role_cannot_give_itself_rights(application_connection: Connection) -> None:
    for table in RECORD:
        grant = sql.SQL("GRANT ALL ON {} TO {}").format(sql.Identifier(table), sql.Identifier(application_connection.info.user))
        application_connection.execute(grant)  # PostgreSQL warns that nothing was granted
        held = application_connection.execute("SELECT has_table_privilege(%s, 'UPDATE, DELETE, TRUNCATE, TRIGGER')", [table])
        assert held.fetchone() == (False,)


def test_nothing_of_the_curators_can_be_deleted(application_connection: Connection) -> None:
    """Save what somebody keeps for themselves: questions under names, which are no part of the record."""
    tables = [table for table in grants.RIGHTS if table.startswith("curator_") and table != "curator_savedquestion"]
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


@pytest.mark.trust
@pytest.mark.skipif(not is_embedded() or os.geteuid() != 0, reason="takes root, to act as another user, and the embedded server")
@pytest.mark.parametrize("alias", ["default", "owner"])
def test_nobody_who_knows_the_password_does_not_reach_the_socket_either(db: None, alias: str, figure: Figure) -> None:
    """A child that gave up being root for good, with the driver and the address at hand: as after a break-in elsewhere."""
    url, reading, writing = database_url(connections.settings[alias]), *os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(pwd.getpwnam("nobody").pw_gid)
        os.setuid(pwd.getpwnam("nobody").pw_uid)
        try:
            psycopg.connect(url)
            said = "reached"
        except psycopg.OperationalError as error:
            said = str(error)
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 4000).decode()
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    assert "Permission denied" in said
    with psycopg.connect(url) as connection:  # and root, who may, does
        assert connection.execute("SELECT 1").fetchone() == (1,)
    figure(row=15, n=1, seen=f"another user of the machine with the password of {alias}: 0 of 1 reach the socket")


def test_tests_commit_for_real(db: None) -> None:
    User.objects.create_user("alice")
    with psycopg.connect(database_url(connections.settings["default"])) as other:
        assert other.execute("SELECT username FROM accounts_user").fetchall() == [("alice",)]


def test_and_alice_of_the_test_before_is_not_here(db: None) -> None:
    assert not User.objects.exists()
