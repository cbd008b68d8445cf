"""Questions put to the running worker: how long one takes when nothing else waits, how many it decides when many do."""

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from accounts import services as accounts
from accounts.models import Role, User
from bench import exact, people, questions
from curator import queue
from curator.mechanism import rho
from curator.models import Contract, Query
from curator.selectors import comparison
from curator.services import claiming, contracts, ingestion, memberships, queries
from curator.services.datasets import PrivacyUnit

PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Scene:
    """A curator, analysts by name, and an open contract over `n` made-up people."""

    frame: pl.DataFrame
    contract: Contract
    analysts: dict[str, User]


def scene(n: int, curator: User, analysts: dict[str, User]) -> Scene:
    """Freeze `n` made-up people and open a contract over them that is never scarce."""
    frame = people.people(n)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        frame.write_parquet(path)
        version = ingestion.load(
            path, curator=curator, name=f"{n} people", schema_text=json.dumps(people.SCHEMA), unit=PrivacyUnit()
        )
    contract = contracts.open_contract(
        curator=curator, version=version, name=f"{n} people", stands=True, rho_total=100 * rho.UNITS_PER_RHO
    )
    for analyst in analysts.values():
        memberships.add_member(
            curator=curator, contract=contract, user=analyst, role=Role.ANALYST, allotment=20 * rho.UNITS_PER_RHO
        )
    return Scene(exact.prepared(frame), contract, analysts)


def make_people(names: Sequence[str]) -> tuple[User, dict[str, User]]:
    """A curator and analysts."""
    curator = accounts.create_user(username="curator", roles=[Role.CURATOR]).user
    return curator, {name: accounts.create_user(username=name, roles=[Role.ANALYST]).user for name in names}


def submit_all(here: Scene, lines: Sequence[questions.Line], key: str) -> list[Query]:
    """Submit every line in order, by its analyst."""
    rows = []
    for place, line in enumerate(lines):
        analyst = here.analysts[line["analyst"]]
        rows += queries.submit(analyst=analyst, contract=here.contract, body=questions.request(line), key=f"{key} {place}")
    return rows


def wait(contract: Contract) -> None:
    """Return once nothing of the contract waits."""
    deadline = time.monotonic() + PATIENCE
    while Query.objects.filter(contract=contract, state=Query.State.WAITING).exists():
        if time.monotonic() > deadline:
            raise TimeoutError("The worker is not done.")
        time.sleep(0.005)


def one_by_one(here: Scene, lines: Sequence[questions.Line]) -> dict[str, Any]:
    """Seconds from submit to answer with nothing else waiting: p50 and p95 over the lines."""
    seconds = []
    for place, line in enumerate(lines):
        began = time.perf_counter()
        submit_all(here, [line], f"idle {place}")
        wait(here.contract)
        seconds.append(time.perf_counter() - began)
    ordered = sorted(seconds)
    return {
        "n": len(ordered),
        "p50_s": round(ordered[len(ordered) // 2], 4),
        "p95_s": round(ordered[int(len(ordered) * 0.95)], 4),
    }


def all_waiting(here: Scene, lines: Sequence[questions.Line]) -> dict[str, Any]:
    """Answers per second with all of them waiting, and the time beside bare exact counts of the same questions."""
    truth, bare = exact.counts(here.frame, [line["conds"] for line in lines])
    with claiming.exclusive(here.contract.pk) as mine:  # the worker finds the contract taken while the queue fills
        assert mine
        rows = submit_all(here, lines, "all")
    began = time.perf_counter()
    queue.ring(here.contract.pk)
    wait(here.contract)
    seconds = time.perf_counter() - began
    return _figures(here, lines, rows, truth) | {
        "people": here.frame.height, "n": len(lines), "seconds": round(seconds, 3), "per_second": round(len(lines) / seconds, 1),
        "bare_exact_counts_s": round(bare, 4), "ratio_to_bare": round(seconds / bare, 2),
    }  # fmt: skip


def _figures(here: Scene, lines: Sequence[questions.Line], rows: Sequence[Query], truth: Sequence[int]) -> dict[str, Any]:
    found = comparison.comparison(here.contract)
    assert found is not None
    decided = (
        Query.objects.filter(pk__in=[row.pk for row in rows])
        .prefetch_related("answers")
        .select_related("decision")
        .order_by("pk")
    )
    free = sum(row.decision.load == 0 for row in decided)
    shown = [row.answers.all()[0].value or 0 for row in decided]
    close = sum(abs(value - count) <= line["E"] for value, count, line in zip(shown, truth, lines, strict=True))
    return {
        "charged_rho": rho.text(sum(row.decision.load for row in decided)), "free": free,
        "partition_rho": rho.text(found.partition.spent or 0), "within_asked": round(close / len(rows), 4),
    }  # fmt: skip
