"""What somebody with the owner's password can do to a record, and the application never can."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

Owner = psycopg.Connection[Any]

KEYS = {"decision": "query_id", "descriptor": "digest", "audithead": "chain"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of one table of the record."""

    table: str
    name: str
    kind: str

    @property
    def key(self) -> str:
        """The primary key of its table."""
        return KEYS.get(self.table, "id")


def columns(owner: Owner) -> list[Column]:
    """Every column of the product's tables but their primary keys."""
    found = owner.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'public' AND table_name LIKE 'curator%%' ORDER BY table_name, ordinal_position"
    ).fetchall()
    made = [Column(table.removeprefix("curator_"), name, kind) for table, name, kind in found]
    return [column for column in made if column.name != column.key]


def unguard(owner: Owner) -> None:
    """Take triggers, checks, references and unique keys away."""
    found = owner.execute(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint "
        "WHERE contype IN ('c', 'f', 'u') AND conrelid::regclass::text LIKE 'curator%%'"
    ).fetchall()
    for table, name in found:
        owner.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table), sql.Identifier(name)))
    unique = owner.execute(
        "SELECT indexrelid::regclass::text FROM pg_index "
        "WHERE indisunique AND NOT indisprimary AND indrelid::regclass::text LIKE 'curator%%'"
    ).fetchall()
    for (index,) in unique:
        owner.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(index)))
    for table in {column.table for column in columns(owner)}:
        owner.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(_table(table)))


@contextmanager
def changed(owner: Owner, column: Column) -> Iterator[str]:
    """One column changed in the first row that has something there, and put back; gives the row's name."""
    cell, key = sql.Identifier(column.name), sql.Identifier(column.key)
    order = sql.SQL("SELECT {}, {} FROM {} ORDER BY {} IS NULL, {} LIMIT 1").format(key, cell, _table(column.table), cell, key)
    row = owner.execute(order).fetchone()
    assert row is not None, f"the story has no {column.table}"
    pk, was = row
    write = sql.SQL("UPDATE {} SET {} = %s WHERE {} = %s").format(_table(column.table), cell, key)
    owner.execute(write, [_another(was, column.kind), pk])
    yield f"{column.table} {pk}"
    owner.execute(write, [Jsonb(was) if column.kind == "jsonb" else was, pk])


@contextmanager
def deleted(owner: Owner, table: str) -> Iterator[str]:
    """The last row of a table taken away, and put back; gives its name."""
    key, name = sql.Identifier(KEYS.get(table, "id")), _table(table)
    row = owner.execute(sql.SQL("SELECT {} FROM {} ORDER BY {} DESC LIMIT 1").format(key, name, key)).fetchone()
    assert row is not None, f"the story has no {table}"
    owner.execute(sql.SQL("CREATE TEMP TABLE taken AS SELECT * FROM {} WHERE {} = %s").format(name, key), row)
    owner.execute(sql.SQL("DELETE FROM {} WHERE {} = %s").format(name, key), row)
    yield f"{table} {row[0]}"
    owner.execute(sql.SQL("INSERT INTO {} OVERRIDING SYSTEM VALUE SELECT * FROM taken").format(name))
    owner.execute("DROP TABLE taken")


@contextmanager
def doubled(owner: Owner, table: str) -> Iterator[str]:
    """The first row of a table a second time, under another key; gives the copy's name."""
    name, key = _table(table), KEYS.get(table, "id")
    others = [sql.Identifier(column.name) for column in columns(owner) if column.table == table]
    listed, free = sql.SQL(", ").join(others), sql.SQL("'-1'" if key in ("digest", "chain") else "-1")
    copy = sql.SQL("INSERT INTO {} ({}, {}) OVERRIDING SYSTEM VALUE SELECT {}, {} FROM {} ORDER BY {} LIMIT 1")
    owner.execute(copy.format(name, sql.Identifier(key), listed, free, listed, name, sql.Identifier(key)))
    yield f"{table} -1"
    owner.execute(sql.SQL("DELETE FROM {} WHERE {} = {}").format(name, sql.Identifier(key), free))


def _table(table: str) -> sql.Identifier:
    return sql.Identifier(f"curator_{table}")


def _another(value: Any, kind: str) -> Any:
    """Another value of the same kind."""
    made: dict[str, Any] = {
        "boolean": not value, "uuid": "00000000-0000-4000-8000-000000000000", "jsonb": Jsonb(["changed"]),
        "date": "2031-01-01", "timestamp with time zone": "2031-01-01",
    }  # fmt: skip
    if kind in ("bigint", "integer", "smallint", "numeric"):
        return (value or 0) + 1
    if kind == "bytea":
        return bytes(value or b"") + b" "
    return made[kind] if kind in made else "changed"[: max(len(value or "changed"), 3)]
