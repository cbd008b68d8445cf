"""Everywhere that something could have been written or shown, as text in which digits stand as people write them."""

import re
from collections.abc import Iterator
from typing import Any

from django.db import connections
from django.test import Client
from psycopg import sql

from accounts.models import Role, User
from curator.models import AuditEvent, Contract, Query
from rdp_site import postgres
from rdp_site.environment import VAR, is_embedded
from tests.databases import connect
from tests.fixtures.worker import Worker

SEPARATORS = re.compile(r"(?<=\d)(?:,|_|\s|\u2009|\u00a0|&nbsp;|&#160;|&thinsp;)(?=\d{3})")
DIGITS = re.compile(rb"\d{9,}")

PAGES = (
    "/contracts/{c}/", "/contracts/{c}/ask/", "/contracts/{c}/released/", "/contracts/{c}/compare/", "/contracts/{c}/budget/",
    "/contracts/{c}/control/", "/contracts/{c}/people/", "/contracts/{c}/requests/", "/contracts/{c}/laboratory/",
    "/", "/audit/", "/datasets/", "/health/ready",
    "/api/v1/contracts/", "/api/v1/contracts/{c}/", "/api/v1/contracts/{c}/queries/", "/api/v1/contracts/{c}/releases/",
    "/api/v1/contracts/{c}/comparison/", "/api/v1/audit/?chain={c}", "/api/v1/audit/?chain=site",
)  # fmt: skip
OF_A_QUESTION = (
    "/queries/{q}/", "/queries/{q}/status/", "/queries/{q}/download.csv", "/queries/{q}/download.json", "/api/v1/queries/{q}/",
)  # fmt: skip


def tables() -> Iterator[tuple[str, str]]:
    """Every row of every table, the messages of the queue included; what is kept as bytes is read as text."""
    with connect("default") as reader:
        found = reader.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema IN ('public', 'pgmq') AND table_type = 'BASE TABLE' "
            "AND has_table_privilege(format('%I.%I', table_schema, table_name), 'SELECT')"
        ).fetchall()
        for schema, name in found:
            rows = reader.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, name))).fetchall()
            yield f"table {schema}.{name}", "\n".join(_line(row) for row in rows)


def _line(row: tuple[Any, ...]) -> str:
    return " ".join(bytes(cell).decode("latin-1") if isinstance(cell, bytes | memoryview) else str(cell) for cell in row)


def logs(worker: Worker) -> Iterator[tuple[str, str]]:
    """What the worker and PostgreSQL said."""
    yield "log of the worker", worker.log
    if is_embedded():
        yield "log of PostgreSQL", postgres.load(VAR).log.read_text(encoding="utf-8", errors="replace")


def pages(contract: Contract, *readers: User) -> Iterator[tuple[str, str]]:
    """Every page, download and API answer about a contract, for each of these people."""
    questions = [str(uid) for uid in Query.objects.filter(contract=contract).values_list("uid", flat=True)]
    chain = str(contract.uid)
    events = [f"/audit/{chain}/{seq}/" for seq in AuditEvent.objects.filter(chain=chain).values_list("seq", flat=True)]
    addresses = [page.format(c=chain) for page in PAGES]
    addresses += [page.format(q=uid) for uid in questions for page in OF_A_QUESTION]
    for reader in readers:
        client = Client(raise_request_exception=False)
        client.force_login(reader, backend="django.contrib.auth.backends.ModelBackend")
        for address in addresses + (events if Role.AUDITOR in reader.roles else []):
            response = client.get(address)
            content = b"".join(response) if response.streaming else response.content
            head = " ".join(f"{name}: {value}" for name, value in response.headers.items())
            yield f"{reader.username} {address}", f"{head}\n{SEPARATORS.sub('', content.decode())}"


def raw_files() -> Iterator[tuple[str, bytes]]:
    """The bytes of the embedded server: the write-ahead log, and this test's own database with what was deleted from it."""
    if not is_embedded():
        return
    cluster = postgres.load(VAR)
    with cluster.connect(postgres.SUPERUSER, "postgres") as superuser:
        name = connections.settings["default"]["NAME"]
        row = superuser.execute("SELECT oid FROM pg_database WHERE datname = %s", [name]).fetchone()
        superuser.execute("CHECKPOINT")
    assert row is not None
    for folder in (cluster.data / "pg_wal", cluster.data / "base" / str(row[0]), cluster.data / "global"):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield f"file {path.relative_to(cluster.data)}", path.read_bytes()


def hits(places: Iterator[tuple[str, str]], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Where which of the wanted words stand."""
    for place, text in places:
        yield from ((place, word) for word in wanted if word in text)


def raw_hits(files: Iterator[tuple[str, bytes]], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """The same in bytes: as digits, as 64-bit numbers of either order, or (what is no number) as it is."""
    patterns = {word: _patterns(word) for word in wanted}
    for place, data in files:
        digits = b" ".join(DIGITS.findall(data)).decode()
        for word, forms in patterns.items():
            if word in digits or any(form in data for form in forms):
                yield place, word


def _patterns(word: str) -> list[bytes]:
    if not word.isdigit():
        return [word.encode()]
    return [sign.to_bytes(8, order, signed=True) for sign in (int(word), -int(word)) for order in ("little", "big")]
