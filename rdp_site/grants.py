"""What the application role may do with each table: one table of rights, applied by set-up after every migration.

A table without a line here stops set-up: rights are decided, never inherited. Nothing of the record can be deleted or emptied by
the running product; the columns listed are the only ones it may change. (Identity columns need no right on a sequence.)
The chains of the record are written by two functions that run with the owner's rights, and by nothing else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import psycopg
from psycopg import sql


@dataclass(frozen=True, slots=True)
class Rights:
    """Rights on one table; `update` names columns ("*": every column)."""

    insert: bool = False
    delete: bool = False
    update: tuple[str, ...] = ()


READ = Rights()
INSERT_ONLY = Rights(insert=True)
GROWING = Rights(insert=True, update=("*",))
FREE = Rights(insert=True, update=("*",), delete=True)


def _changing(columns: str) -> Rights:
    return Rights(insert=True, update=tuple(columns.split()))


RIGHTS: dict[str, Rights] = {
    # The record: written once
    "curator_allotment": INSERT_ONLY,
    "curator_answer": INSERT_ONLY,
    "curator_datasetversion": INSERT_ONLY,
    "curator_decision": INSERT_ONLY,
    "curator_descriptor": INSERT_ONLY,
    "curator_diagnostic": INSERT_ONLY,
    "curator_ledgerentry": INSERT_ONLY,
    "curator_querybin": INSERT_ONLY,
    "curator_release": INSERT_ONLY,
    # The chains: written by the functions below only
    "curator_auditevent": READ,
    "curator_audithead": READ,
    # Rows with a life of their own, in these columns only
    "curator_analystbudget": _changing("allotment spent est_spent"),
    "curator_budgetrequest": _changing("state granted note decided_by_id decided_at"),
    "curator_contract": _changing(
        "version_id name state rho_total rho_est rho_ans xi kappa alpha beta rho_d query_cap delta ends_on k "
        "spent_bound spent_method est_spent opened_at"
    ),
    "curator_denial": _changing("count told since last what"),
    "curator_experiment": _changing("state attempts done total detail result"),
    "curator_dataset": _changing("name description source"),
    "curator_hold": _changing("code detail since"),
    "curator_notice": _changing("seen_at mailed_at mail_tries mail_after"),
    "curator_query": _changing("state attempts outages claimed_at finished_at failure"),
    "curator_support": _changing("rho_hist weighted_sum releases"),
    # One's own list of questions, no part of the record
    "curator_savedquestion": Rights(insert=True, update=("name",), delete=True),
    "curator_totalraise": _changing("state note decided_by_id decided_at"),
    "curator_upload": _changing("state code detail version_id draft schema table person_column k"),
    "curator_verification": _changing("state attempts done total ok checked first_difference finished_at"),
    # People: deactivated, never deleted
    "accounts_user": GROWING,
    "accounts_membership": _changing("active"),
    "accounts_apitoken": _changing("revoked_at"),
    "accounts_invitation": _changing("accepted_by_id accepted_at revoked_at"),
    "accounts_resetrequest": Rights(insert=True, update=("done_at", "tries", "again_at", "sent_to"), delete=True),
    "accounts_throttle": FREE,
    # Django's own
    "accounts_user_groups": READ,
    "accounts_user_user_permissions": READ,
    "auth_group": READ,
    "auth_group_permissions": READ,
    "auth_permission": READ,
    "django_content_type": READ,
    "django_migrations": READ,
    "django_session": FREE,
    "axes_accessattempt": FREE,
    "axes_accessattemptexpiration": FREE,
    "axes_accessfailurelog": FREE,
    "axes_accesslog": FREE,
}


#: What runs with the owner's rights, and may be called.
FUNCTIONS = ("record_append(text, timestamptz, text[], text[], uuid[], text[])", "record_hold(text)")
OWNERS_FUNCTIONS = (
    "SELECT oid::regprocedure::text FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace "
    "AND oid <> ALL (%s::regprocedure[])"
)


class UnlistedTable(Exception):
    """A table has no line in RIGHTS, or a function of the owner's none in FUNCTIONS."""


def apply(connection: psycopg.Connection, role: str) -> None:
    """Give `role` exactly the rights of the table, as the tables' owner; repeatable, takes back what was given otherwise."""
    tables = {row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    functions = {row[0] for row in connection.execute(OWNERS_FUNCTIONS, [list(FUNCTIONS)])}
    unlisted = sorted((tables - set(RIGHTS)) | functions)
    if unlisted:
        raise UnlistedTable(f"No rights are written down for {', '.join(unlisted)}: add a line to rdp_site/grants.py.")
    for statement in statements(role, sorted(tables)):
        connection.execute(statement)


def statements(role: str, tables: Iterable[str] = tuple(RIGHTS)) -> Iterator[sql.Composed]:
    """The rights as SQL for the owner to run, in its order."""
    who = sql.Identifier(role)
    yield sql.SQL("REVOKE ALL ON SCHEMA public FROM PUBLIC").format()
    yield sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who)
    yield sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {}").format(who)
    yield sql.SQL("REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, {}").format(who)
    for table in tables:
        for right in _rights(RIGHTS[table]):
            yield sql.SQL("GRANT {} ON {} TO {}").format(right, sql.Identifier("public", table), who)
    for function in FUNCTIONS:
        yield sql.SQL("REVOKE ALL ON FUNCTION public.{} FROM PUBLIC, {}").format(sql.SQL(function), who)
        yield sql.SQL("GRANT EXECUTE ON FUNCTION public.{} TO {}").format(sql.SQL(function), who)


def apply_to_database(connection: psycopg.Connection, database: str, role: str) -> None:
    """Let nobody but `role` (and the owner) connect; these rights do not travel with a copy of a database."""
    for statement in database_statements(database, role):
        connection.execute(statement)


def database_statements(database: str, role: str) -> Iterator[sql.Composed]:
    """The rights on the database itself, as SQL."""
    name = sql.Identifier(database)
    yield sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name)
    yield sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, sql.Identifier(role))


def _rights(rights: Rights) -> Iterable[sql.Composable]:
    yield sql.SQL("SELECT")
    if rights.insert:
        yield sql.SQL("INSERT")
    if rights.delete:
        yield sql.SQL("DELETE")
    if rights.update == ("*",):
        yield sql.SQL("UPDATE")
    elif rights.update:
        yield sql.SQL("UPDATE ({})").format(sql.SQL(", ").join(map(sql.Identifier, rights.update)))
