"""Exact counts and noise never leave the worker: nine-digit canaries, every workflow and failure, and then a search everywhere.

The counts and the noise of a real worker are made distinctive where only a test can reach (`canary_worker`). Afterwards no table,
log, message, letter, receipt, file of the database, page, download or answer of the API may have one, while the values that were
released are found, which shows that the search works.
"""

import logging
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.test import Client

from accounts.models import User
from curator import queue
from curator.models import Contract, Query
from curator.services import anchoring, mailing
from tests.cast import ROWS, Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.fixtures.worker import Worker
from tests.privacy import addresses, places
from tests.privacy.addresses import Values
from tests.privacy.sights import make_sights
from tests.worker.scene import MEN, MIDDLE_AGED, WOMEN, ask, is_final, state, until

NOBODY = {"all": [{"column": "age", "less_than": 20}, {"column": "age", "more_than": 30}]}
Start = Callable[..., Worker]


def serve(*asked: Query) -> None:
    """Wait until these have their end, ringing meanwhile as the periodic sweep would."""

    def done() -> bool:
        queue.ring(asked[0].contract_id)
        return is_final(*asked)

    until(done)


def numbers(folder: Path, kind: str) -> set[str]:
    found = folder / kind
    return {line.lstrip("-") for line in found.read_text().split()} if found.exists() else set()


def every_way(people: Cast, contract: Contract) -> list[Query]:
    """Measured, topped up, from history, grouped, scarce with diagnostics, a share, nobody there, past what is left."""
    first = [
        ask(people.alice, contract, WOMEN, within=25), ask(people.bob, contract, WOMEN, within=25),
        ask(people.bob, contract, WOMEN, within=10), ask(people.alice, contract, group_by=[{"column": "city"}], within=20),
        ask(people.alice, contract, MEN, relative="0.5", confidence="0.9"), ask(people.bob, contract, NOBODY, within=1),
        ask(people.alice, contract, MIDDLE_AGED, rho="0.9"),
        ask(people.bob, contract, {"column": "member", "equals": True}, rho="5", under_scarcity="all_or_nothing"),
    ]  # fmt: skip
    serve(*first)
    return first


def every_failure(people: Cast, contract: Contract, folder: Path, owner: psycopg.Connection[object]) -> list[Query]:
    """The engine breaks with a count in its message; a row with what was drawn is refused; something breaks after the draw."""
    failed = []
    for number, failure in enumerate(("engine", "settle", "constraint")):
        (folder / "fail").write_text(failure)
        if failure == "constraint":
            owner.execute("ALTER TABLE curator_release ADD CONSTRAINT none_is_right CHECK (value = 7) NOT VALID")
        failed.append(ask(people.bob, contract, {"column": "age", "equals": 30 + number}, rho="0.01"))
        serve(failed[-1])
    owner.execute("ALTER TABLE curator_release DROP CONSTRAINT none_is_right")
    (folder / "fail").unlink()
    return failed


@pytest.fixture
def people(db: None, outlets: None) -> Cast:
    return cast()


@pytest.fixture
def outlets(settings: Any, tmp_path: Path) -> None:
    """Everything that can go out does: anchors into a file, notices by mail, figures to a collector."""
    settings.ANCHORS, settings.ANCHOR_STATE = str(tmp_path / "anchors.jsonl"), tmp_path / "left"
    settings.METRICS_TOKEN, settings.MAIL_AFTER, settings.ANCHOR_MAIL = "collector", 0, "dora@example.org"


def everything(worker: Worker, values: Values, caplog: pytest.LogCaptureFixture, *readers: User) -> list[tuple[str, str]]:
    """What all places say once these people have looked at all there is."""
    with caplog.at_level(logging.INFO), caplog.at_level(logging.INFO, "rdp_site.requests"):
        seen = list(places.pages(values, *readers))
    anchoring.leave()
    assert mailing.deliver() > 1
    site = [("log of the site", caplog.text)]
    return [*places.tables(), *places.logs(worker), *seen, *site, *places.letters(), *places.kept_outside()]


def test_no_address_of_the_site_is_forgotten(people: Cast) -> None:
    """Each is looked at, or it only takes what is written, or it is left out with its reason."""
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN, within=25)
    written: dict[str, list[object]] = {noun: ["1"] for noun in ("people", "keys", "tokens")}
    values = {**make_sights(people, contract), **written}
    values |= {noun: [contract.uid] for noun in ("raises", "invitations", "uploads")}
    routes = set(addresses.routes())
    unknown = {noun for route in routes for noun in addresses.FILLED.findall(route) if noun not in values}
    assert not unknown, f"say what can stand behind {unknown} in addresses, or leave them out with a reason"
    assert routes >= {*addresses.WRITES, *addresses.LEFT_OUT, *addresses.POSTED, *addresses.MORE}
    carol = Client()
    carol.force_login(people.carol, backend="django.contrib.auth.backends.ModelBackend")
    writes = {route for route in routes if carol.get(addresses.filled(route, values)[0]).status_code == 405}
    assert writes - {*addresses.POSTED} == addresses.WRITES


@pytest.mark.trust
def test_exact_counts_and_noise_are_nowhere(
    people: Cast, start_worker: Start, owner_connection: psycopg.Connection[object], tmp_path: Path, figure: Figure,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    worker = start_worker(concurrency=1, include="tests.privacy.canary_worker", CANARY_FOLDER=str(tmp_path))
    contract = make_contract(people, rows=ROWS, rho_total="2", xi="0.5", kappa="0.0001", rho_d=10**11, query_cap=3 * 10**11)
    answered = every_way(people, contract)
    assert {state(query) for query in answered} >= {"answered", "partial", "declined"}
    failed = every_failure(people, contract, tmp_path, owner_connection)
    assert [state(query) for query in failed] == ["failed"] * 3
    secret = numbers(tmp_path, "exact") | numbers(tmp_path, "noise")
    told = everything(worker, make_sights(people, contract), caplog, people.alice, people.carol, people.dora)
    raw = list(places.raw_files())
    assert list(chain(places.hits(iter(told), secret), places.raw_hits(iter(raw), secret))) == []
    shown = {place.split()[0] for place, _ in places.hits(iter(told), numbers(tmp_path, "value"))}
    assert shown >= {"table", "alice", "carol", "dora"}  # what was released is found where it should be
    assert "none_is_right" in worker.log and "RuntimeError" in worker.log and "count_failed" in worker.log
    assert len(secret) > 20 and len(told) > 100
    figure(
        row=10, n=len(secret) * (len(told) + len(raw)), seen=f"0 hits of {len(secret)} canaries in {len(told) + len(raw)} places"
    )


@pytest.mark.trust
def test_a_worker_that_tells_a_count_or_its_noise_is_found_out(
    people: Cast, start_worker: Start, tmp_path: Path, figure: Figure
) -> None:
    (tmp_path / "leak").write_text("log event")
    worker = start_worker(concurrency=1, include="tests.privacy.canary_worker", CANARY_FOLDER=str(tmp_path))
    contract = make_contract(people, rows=ROWS)
    serve(ask(people.alice, contract, WOMEN, within=25))
    logged = list(places.hits(places.logs(worker), numbers(tmp_path, "exact")))
    assert [place for place, _ in logged] == ["log of the worker"]
    noted = {place for place, _ in places.hits(places.tables(), numbers(tmp_path, "noise"))}
    assert noted == {"table public.curator_auditevent"}
    values = make_sights(people, contract)
    seen = {place for place, _ in places.hits(places.pages(values, people.dora), numbers(tmp_path, "noise"))}
    assert f"dora /api/v1/audit/?chain={contract.uid}" in seen
    figure(row=10, n=len(numbers(tmp_path, "exact")), mutant="an exact count in a log line, noise in an event: both caught")
