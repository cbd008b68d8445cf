"""The database itself refuses to rewrite the record, whoever asks, until an owner switches its triggers off."""

from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.cast import Cast, cast

Owner = psycopg.Connection[Any]

INSERT_ONLY = [
    "allotment", "answer", "auditevent", "datasetversion", "decision", "descriptor", "diagnostic", "ledgerentry", "querybin",
    "release",
]  # fmt: skip
KEPT = ["analystbudget", "audithead", "budgetrequest", "contract", "dataset", "query", "support", "totalraise", "upload"]


@pytest.fixture
def people(owner_connection: Owner) -> Cast:
    return cast()


def refused(owner: Owner, statement: str, *values: object) -> str:
    """The database's words for refusing a statement of the owner; fails if it does not."""
    with pytest.raises(psycopg.errors.RestrictViolation) as error:
        owner.execute(statement, values)
    return str(error.value.diag.message_primary)


def row_of(owner: Owner, table: str) -> None:
    """One row in a table, whatever it needs: references and checks are off while it is made, for this connection only."""
    copy = sql.Identifier(f"curator_{table}")
    columns = owner.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s AND column_name <> 'id'",
        [f"curator_{table}"],
    ).fetchall()
    made = {"bigint": 1, "integer": 1, "smallint": 1, "numeric": 1, "boolean": True, "jsonb": "{}", "bytea": b"x",
            "uuid": "0" * 32, "timestamp with time zone": "2026-01-01", "date": "2026-01-01"}  # fmt: skip
    words = {"account": "ans", "state": "open" if table in ("budgetrequest", "totalraise") else "waiting"}
    values = [made.get(kind, words.get(name, "x")) for name, kind in columns]
    names = sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)
    holes = sql.SQL(", ").join(sql.Placeholder() * len(columns))
    owner.execute(sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(copy, names, holes), values)
