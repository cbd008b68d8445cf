"""What worker tests do all the time: ask, run, wait, and look whether the books agree."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum

from accounts.models import User
from curator.mechanism import noise
from curator.mechanism.errors import Refused
from curator.mechanism.noise import ExactCount
from curator.models import AnalystBudget, Answer, Contract, Decision, LedgerEntry, Query, Release, Support
from curator.services import queries
from curator.services.verification import verify

PATIENCE = 60.0  # seconds until something that must happen has happened
MIDDLE_AGED = {"column": "age", "between": [40, 59]}
WOMEN = {"column": "sex", "equals": "F"}
MEN = {"column": "sex", "equals": "M"}


def body(
    where: Mapping[str, Any] | None = None, *, under_scarcity: str = "partial", group_by: Any = None, **accuracy: Any
) -> dict[str, Any]:
    """A request body; the rest are members of the accuracy object: within=25, rho="0.7", relative="0.05"."""
    made: dict[str, Any] = {"accuracy": accuracy or {"within": 25}, "under_scarcity": under_scarcity}
    if group_by:
        made["group_by"] = group_by
    return made | {"where": where or {"always": True}}


def ask(analyst: User, contract: Contract, where: Mapping[str, Any] | None = None, *, key: str = "", **more: Any) -> Query:
    """Submit one question under a key of its own."""
    return queries.submit(analyst=analyst, contract=contract, body=body(where, **more), key=key or uuid.uuid4().hex)[0]


def places() -> Iterator[dict[str, Any]]:
    """Conditions on the cast's schema that nobody else has: 1,200 pairwise different single cells."""
    for cell in product(range(100), ("F", "M"), ("Oslo", "Rome", "Lima"), (True, False)):
        names = ("age", "sex", "city", "member")
        yield {"all": [{"column": name, "equals": value} for name, value in zip(names, cell, strict=True)]}


def state(query: Query) -> str:
    """The state of a question now."""
    return Query.objects.values_list("state", flat=True).get(pk=query.pk)


def answer(query: Query) -> Answer:
    """The one answer of a count."""
    return Answer.objects.get(query=query)


def until(condition: Callable[[], object], *, what: Callable[[], str] = str) -> None:
    """Return as soon as `condition` holds; fail, saying `what` is known, if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"it never happened: {what()}"
        time.sleep(0.02)


def is_final(*queries: Query) -> bool:
    """Whether none of these waits any longer."""
    return not Query.objects.filter(pk__in=[query.pk for query in queries], state=Query.State.WAITING).exists()


def check_books(contract: Contract) -> None:
    """Charges and releases belong together, every total is the sum of its parts, no answer is double."""
    row = Contract.objects.get(pk=contract.pk)
    charged = set(LedgerEntry.objects.filter(contract=row, account="ans").values_list("query_id", flat=True))
    released = set(Release.objects.filter(contract=row, account="ans").values_list("query_id", flat=True))
    assert charged == released
    assert row.spent_bound == _sum(LedgerEntry.objects.filter(contract=row, account="ans"), "load") <= row.rho_ans
    assert row.est_spent == _sum(LedgerEntry.objects.filter(contract=row, account="est"), "load") <= row.rho_est
    for budget in AnalystBudget.objects.filter(contract=row):
        mine = LedgerEntry.objects.filter(contract=row, analyst=budget.analyst_id)
        assert budget.spent == _sum(mine.filter(account="ans"), "quota")
        assert budget.est_spent == _sum(mine.filter(account="est"), "quota")
        assert budget.allotment is None or budget.spent <= budget.allotment
    _check_supports(row)
    _check_finality(row)
    report = verify([row])
    assert report.ok, report.first_difference


def _check_supports(row: Contract) -> None:
    sums: dict[str, list[int]] = {}
    for digest, cost, value in Release.objects.filter(contract=row, account="ans").values_list("descriptor_id", "rho", "value"):
        known = sums.setdefault(digest, [0, 0, 0])
        sums[digest] = [known[0] + cost, known[1] + cost * value, known[2] + 1]
    held = Support.objects.filter(contract=row).values_list("descriptor_id", "rho_hist", "weighted_sum", "releases")
    assert {digest: [rho, int(weighted), releases] for digest, rho, weighted, releases in held} == sums


def _check_finality(row: Contract) -> None:
    decided = set(Decision.objects.filter(query__contract=row).values_list("query_id", flat=True))
    final = Query.objects.filter(contract=row).exclude(state__in=["waiting", "failed", "cancelled"])
    assert decided == set(final.values_list("id", flat=True))
    assert set(Answer.objects.filter(query__contract=row).values_list("query_id", flat=True)) == decided


def _sum(rows: Any, column: str) -> int:
    return int(rows.aggregate(total=Sum(column))["total"] or 0)


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of all works, each in a thread of its own, started together; a refusal comes back as its code."""
    gate = threading.Barrier(len(works))

    def one(work: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return work()
        except Refused as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(one, works))


def elsewhere(work: Callable[[], Any], *, wait: float = 30.0) -> bool:
    """Do something in another thread meanwhile; says whether it was done in time."""

    def closing() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=closing, daemon=True)
    thread.start()
    thread.join(wait)
    return not thread.is_alive()


def once(place: str, action: Callable[[], Any]) -> Callable[[str], None]:
    """A stand-in for `failpoints.reach` that does something the first time that `place` is reached."""
    left = [action]

    def reach(name: str) -> None:
        if name == place and left:
            left.pop()()

    return reach


def draws(monkeypatch: pytest.MonkeyPatch, *values: int) -> None:
    """The next draws give `values`, the last of them for ever after."""
    left = list(values)

    def release_all(counts: Sequence[ExactCount], amounts: Sequence[int]) -> list[noise.Draw]:
        return [noise.Draw(left.pop(0) if len(left) > 1 else left[0], repr(noise.scale_for(each))) for each in amounts]

    monkeypatch.setattr(noise, "release_all", release_all)
