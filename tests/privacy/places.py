"""Everywhere that something could have been written or shown, as text in which digits stand as people write them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import mail
from django.db import connections
from django.test import Client
from django.test.client import MULTIPART_CONTENT as MULTIPART
from psycopg import sql

from accounts.models import User
from rdp_site import postgres
from rdp_site.environment import VAR, is_embedded
from tests.databases import connect
from tests.fixtures.worker import Worker
from tests.privacy import addresses
from tests.privacy.addresses import Values

SEPARATORS = re.compile(r"(?<=\d)(?:,|_|\s|\u2009|\u00a0|&nbsp;|&#160;|&thinsp;)(?=\d{3})")
DIGITS = re.compile(rb"\d{9,}")


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


def pages(values: Values, *readers: User) -> Iterator[tuple[str, str]]:
    """Every page, download and API answer of the site, for each of these people; where something can be asked, asked."""
    for reader in readers:
        client = Client(raise_request_exception=False)
        client.force_login(reader, backend="django.contrib.auth.backends.ModelBackend")
        for route, found in addresses.looked_at(values).items():
            for address in found:
                response = visit(client, route, address)
                assert response.status_code not in (405, 429, 500), (address, response.status_code)
                yield f"{reader.username} {address}", _told(response)


def visit(client: Client, route: str, address: str) -> Any:
    """The answer of one address; the collector's own brings what it knows."""
    if route in addresses.POSTED:
        return client.post(
            address, addresses.POSTED[route] or {}, content_type="application/json" if "api/" in route else MULTIPART
        )
    return client.get(address, headers={"Authorization": f"Bearer {settings.METRICS_TOKEN}"} if route == "metrics" else {})


def _told(response: Any) -> str:
    content = b"".join(response) if response.streaming else response.content
    head = " ".join(f"{name}: {value}" for name, value in response.headers.items())
    return f"{head}\n{SEPARATORS.sub('', content.decode())}"


def letters() -> Iterator[tuple[str, str]]:
    """What was mailed by this process."""
    yield from ((f"mail to {letter.to}", f"{letter.subject}\n{letter.body}") for letter in mail.outbox)


def kept_outside() -> Iterator[tuple[str, str]]:
    """The files beside the database that are for others' eyes: receipts and anchors."""
    for path in [*Path(settings.RECEIPTS_DIR).rglob("*.jsonl"), Path(settings.ANCHORS)]:
        yield f"outside {path.name}", path.read_text()


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
