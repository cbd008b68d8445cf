"""One plan, lived through on one data set: every answer of the site, every call of the mechanism, every row at the end.

Random ids and published times are the same in both worlds, so that rows and bodies can be compared as they are, byte for byte.
What stays different by nature (session keys, the masks of form tokens) is left out.
"""

import csv
import json
import random
import re
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.files.base import File
from django.test import Client
from psycopg import sql

from accounts.models import User
from curator import queue, ticks
from curator.engine import counts
from curator.mechanism import rho
from curator.mechanism.errors import Refused
from curator.models import Contract, Dataset, DatasetVersion, Query
from curator.selectors import comparison
from curator.services import contracts, datasets, denials, execution, ingestion
from curator.services.datasets import PrivacyUnit
from curator.services.discretion import WriteRefused
from tests.cast import SCHEMA, Cast, cast, make_contract
from tests.databases import TestDatabases, connect
from tests.privacy.plans import Plan, Rows, Step, one_each
from tests.privacy.tape import Tape

MASKS = re.compile(rb'(csrfmiddlewaretoken" value="|"X-CSRFToken": ")[A-Za-z0-9]+')
LEFT_OUT = {"django_session", "axes_accesslog", "axes_accessattempt", "accounts_throttle"}  # by the clock of requests
NATURAL = {"password", "last_login", "date_joined", "added_at"}  # of people: nobody's records
UNITS = (PrivacyUnit(), PrivacyUnit("who", 2))


@dataclass(slots=True)
class World:
    """What came of a plan."""

    tape: Tape
    answers: list[tuple[str, int, bytes]] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)


def live(plan: Plan, rows: Rows, made: TestDatabases, patch: pytest.MonkeyPatch, *, at: datetime, forced: Any = None) -> World:
    """Live through `plan` on `rows` at one moment, in a database of its own; `forced` are the values of another world's draws."""
    world = World(Tape(forced=forced))
    with _same_everywhere(plan.seed, at, patch), tempfile.TemporaryDirectory() as folder:
        patch.setattr(settings, "VERSIONS_DIR", Path(folder) / "versions")
        patch.setattr(settings, "UPLOADS_DIR", Path(folder) / "uploads")
        patch.setattr(settings, "RECEIPTS_DIR", Path(folder) / "receipts")  # or the ids of one world would hold up the other
        settings.UPLOADS_DIR.mkdir()
        name = made.clone()
        try:
            world.tape.install(patch)
            _Life(world, rows).through(plan.steps)
            world.tables = _dump()
        finally:
            made.drop(name)
    return world


@contextmanager
def _same_everywhere(seed: int, at: datetime, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ids from a seed, one moment for everything, nothing remembered from the world before."""
    patch.setattr(uuid, "os", SimpleNamespace(urandom=random.Random(seed).randbytes))
    patch.setattr(ticks, "datetime", SimpleNamespace(now=lambda zone: at.astimezone(zone)))
    patch.setattr(denials, "timezone", SimpleNamespace(now=lambda: at))
    patch.setattr(queue, "_send", lambda task, row_id: None)
    counts._opened.clear()
    comparison._kept.clear()
    yield


class _Life:
    """Two contracts of the cast, and a step at a time."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world = world
        self.files = (one_each(rows), rows)
        self.people: Cast = cast()
        self.datasets = [self._dataset(place) for place in range(2)]
        self.contracts = [
            make_contract(self.people, self._version(0), rho_total="30", xi="0.5", kappa="0.001"),
            make_contract(self.people, self._version(1), rho_total="30", xi="0.4", allotments={"alice": "12", "bob": "3"}),
        ]
        self.clients = {name: _client(getattr(self.people, name)) for name in ("alice", "bob", "dora")}
        self.queries: list[tuple[str, str]] = []

    def through(self, steps: tuple[Step, ...]) -> None:
        for kind, *operands in steps:
            getattr(self, f"_{kind}")(*operands)

    def _ask(self, place: int, who: str, body: dict[str, Any], key: str) -> None:
        path = f"/api/v1/contracts/{self.contracts[place].uid}/queries/"
        found = self._send(who, path, body, {"Idempotency-Key": key})
        if found.status_code in (200, 201, 202):
            self.queries.append((who, str(Query.objects.order_by("-id").values_list("uid", flat=True)[0])))

    def _quote(self, place: int, who: str, body: dict[str, Any]) -> None:
        self._send(who, f"/api/v1/contracts/{self.contracts[place].uid}/quote/", body, {})

    def _run(self, place: int) -> None:
        self.world.tape.k = self.contracts[place].k
        try:
            self._note("run", execution.run(self.contracts[place].pk), b"")
        except WriteRefused as refused:  # a bug may lead here
            self._note("run", -1, str(refused).encode())

    def _query(self, number: int, path: str) -> None:
        if self.queries:
            who, uid = self.queries[number % len(self.queries)]
            self._get_page(who, path.format(q=uid))

    def _get(self, place: int, who: str, path: str) -> None:
        self._get_page(who, path.format(c=self.contracts[place].uid))

    def _cancel(self, number: int) -> None:
        if self.queries:
            who, uid = self.queries[number % len(self.queries)]
            self._send(who, f"/api/v1/queries/{uid}/cancel/", {}, {})

    def _freeze(self, place: int) -> None:
        self._curate(lambda contract: contracts.freeze(curator=self.people.carol, contract=contract, reason="a look"), place)

    def _reopen(self, place: int) -> None:
        self._curate(lambda contract: contracts.reopen(curator=self.people.carol, contract=contract, reason="seen"), place)

    def _raise(self, place: int) -> None:
        def more(contract: Contract) -> object:
            total = contract.rho_total + rho.UNITS_PER_RHO
            return contracts.raise_total(curator=self.people.carol, contract=contract, rho_total=total, reason="more")

        self._curate(more, place)

    def _allot(self, place: int) -> None:
        def set_it(contract: Contract) -> object:
            return contracts.set_allotment(
                curator=self.people.carol,
                contract=contract,
                analyst=self.people.bob,
                rho=8 * rho.UNITS_PER_RHO,
                reason="as asked",
            )

        self._curate(set_it, place)

    def _upload(self, place: int) -> None:
        version = self._version(place)
        self._curate(
            lambda contract: contracts.set_version(
                curator=self.people.carol, contract=contract, version=version, reason="newer"
            ), place,
        )  # fmt: skip
        self._get_page("dora", "/api/v1/audit/?chain=site")

    def _curate(self, action: Any, place: int) -> None:
        try:
            action(Contract.objects.get(pk=self.contracts[place].pk))
        except Refused as refusal:
            self._note("refused", 0, f"{refusal.code} {refusal.detail}".encode())

    def _dataset(self, place: int) -> Dataset:
        return datasets.create_dataset(curator=self.people.carol, name=f"people {place}")

    def _version(self, place: int) -> DatasetVersion:
        names = [column["name"] for column in SCHEMA["columns"]] + (["who"] if place else [])
        with tempfile.NamedTemporaryFile("w+", suffix=".csv", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.files[place])
            file.flush()
            with Path(file.name).open("rb") as data:
                upload = datasets.register_upload(
                    curator=self.people.carol, dataset=self.datasets[place], file=File(data), filename="people.csv",
                    schema_text=json.dumps(SCHEMA), unit=UNITS[place],
                )  # fmt: skip
        ingestion.freeze_upload(upload.pk)
        upload.refresh_from_db()
        assert upload.version is not None, upload.detail
        return upload.version

    def _send(self, who: str, path: str, body: object, headers: dict[str, str]) -> Any:
        response = self.clients[who].post(path, json.dumps(body), "application/json", headers=headers)
        self._note(f"{who} POST {path}", response.status_code, response.content)
        return response

    def _get_page(self, who: str, path: str) -> None:
        response = self.clients[who].get(path)
        content = b"".join(response) if response.streaming else response.content
        self._note(f"{who} GET {path}", response.status_code, content)

    def _note(self, what: str, status: int, content: bytes) -> None:
        self.world.answers.append((what, status, MASKS.sub(rb"\1", content)))


def _client(user: User) -> Client:
    made = Client(raise_request_exception=False)
    made.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return made


def _dump() -> dict[str, list[str]]:
    """Every row of every table, the queue's included, in a fixed order."""
    with connect("default") as reader:
        tables = reader.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema IN ('public', 'pgmq') AND table_type = 'BASE TABLE' ORDER BY 1, 2"
        ).fetchall()
        return {name: _rows(reader, schema, name) for schema, name in tables if name not in LEFT_OUT}


def _rows(reader: psycopg.Connection[Any], schema: str, name: str) -> list[str]:
    found = reader.execute(
        sql.SQL("SELECT to_jsonb(t) - %s::text[] FROM {} AS t").format(sql.Identifier(schema, name)), [list(NATURAL)]
    )
    return sorted(json.dumps(row[0], sort_keys=True) for row in found)
