"""Questions that would exhaust the machine are refused while they are small: little memory, nothing stored, others served."""

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from curator.models import Contract, Query
from curator.services import execution, queries
from tests.api.conftest import Caller
from tests.cast import Cast
from tests.fixtures.figures import Figure

FROM = "SELECT COUNT(*) FROM people"
WITHIN = {"accuracy": {"within": 25}}
MEMORY = 64 * 2**20  # bytes that one refusal may need at its worst


def sql(text: str) -> bytes:
    return json.dumps({"sql": f"{FROM} {text}", **WITHIN}).encode()


def tree(where: Any, **more: Any) -> bytes:
    return json.dumps({"where": where, **WITHIN, **more}).encode()


def nested(depth: int, inner: str) -> bytes:
    return b'{"where": ' + b'{"not": ' * depth + inner.encode() + b"}" * depth + b', "accuracy": {"within": 25}}'


LEAF = '{"column": "member", "is_missing": true}'
GREEDY: dict[str, Callable[[], bytes]] = {
    "NOT ten thousand times": lambda: sql("WHERE " + "NOT " * 10_000 + "member"),
    "NOT ten thousand times, as a tree": lambda: nested(10_000, LEAF),
    "brackets ten thousand deep": lambda: sql("WHERE " + "(" * 10_000 + "member" + ")" * 10_000),
    "a million values": lambda: sql("WHERE age IN (" + ",".join(map(str, range(1_000_000))) + ")"),
    "a million values, as a tree": lambda: tree({"column": "age", "in": list(range(1_000_000))}),
    "a million bins": lambda: sql("GROUP BY BIN(age, 1000000)"),
    "a thousand million cells": lambda: tree(
        {"always": True}, group_by=[{"column": "age", "bins": 31_623}, {"column": "age", "bins": 31_623}]
    ),
    "an endless number": lambda: tree({"column": "age", "at_least": int("9" * 4_000)}),
    "a number with a huge exponent": lambda: b'{"where": {"always": true}, "accuracy": {"within": 1e999999999}}',
    "a megabyte of label": lambda: tree({"always": True}, label="x" * 1_000_000),
    "ten thousand ANDs": lambda: sql("WHERE " + " AND ".join(f"age <> {i % 100}" for i in range(10_000))),
    "conditions by the thousand": lambda: sql("WHERE " + " OR ".join(["age=30"] * 6_000)),
    "conditions by the thousand, as a list": lambda: json.dumps(
        [{"sql": f"{FROM} WHERE " + " OR ".join(["age=30"] * 420), **WITHIN}] * 5
    ).encode(),
    "a list of five hundred and one": lambda: json.dumps([{"sql": FROM, **WITHIN}] * 501).encode(),
    "sixty-four megabytes": lambda: b'{"sql": "' + b"x" * (64 * 2**20) + b'"}',
}


def peak_of(call: Callable[[], tuple[int, Any]]) -> tuple[tuple[int, Any], int, float]:
    """What a call gives, the most memory it needed beyond what stood before, and its seconds."""
    tracemalloc.start()
    before, begun = tracemalloc.get_traced_memory()[0], time.monotonic()
    try:
        answer = call()
        return answer, tracemalloc.get_traced_memory()[1] - before, time.monotonic() - begun
    finally:
        tracemalloc.stop()


@pytest.mark.trust
def test_greedy_questions_are_refused_with_little_memory(alice: Caller, contract: Contract, figure: Figure) -> None:
    worst, slowest = 0, 0.0
    for name, make in GREEDY.items():
        body = make()
        path = f"contracts/{contract.uid}/queries/"
        (status, said), peak, seconds = peak_of(lambda body=body, path=path: alice.post(path, body, **{"Idempotency-Key": "k"}))  # type: ignore[misc]  # bound now
        assert status in (400, 413), (name, status, said)
        assert peak < MEMORY + len(body), (name, peak)  # the test's own client holds the body once
        worst, slowest = max(worst, peak - len(body)), max(slowest, seconds)
    assert not Query.objects.exists()
    seen = f"every one refused: at most {worst / 2**20:.0f} MB beyond the body, the slowest after {slowest:.2f} s (traced)"
    figure(row=22, n=len(GREEDY), seen=seen)


@pytest.mark.trust
def test_one_person_cannot_fill_the_queue(people: Cast, alice: Caller, bob: Caller, contract: Contract, figure: Figure) -> None:
    many = [{"where": {"column": "age", "equals": i % 100}, "accuracy": {"within": 25}, "label": str(i)} for i in range(500)]
    path = f"contracts/{contract.uid}/queries/"
    for key in ("first", "second"):
        assert alice.post(path, json.dumps(many[:400]).encode(), **{"Idempotency-Key": key})[0] == 202
    assert alice.post(path, json.dumps(many[:200]).encode(), **{"Idempotency-Key": "third"})[0] == 202
    status, said = alice.post(path, json.dumps(many[0]).encode(), **{"Idempotency-Key": "fourth"})
    assert (status, said["code"]) == (429, "too_many_waiting")
    assert Query.objects.count() == 1_000
    status, asked = bob.post(
        path, {"where": {"column": "sex", "equals": "F"}, "accuracy": {"within": 25}}, **{"Idempotency-Key": "b"}
    )
    assert status == 202
    slow = sorted(_seconds(bob, path, number) for number in range(20))[-2]
    while execution.run(contract.pk):
        pass
    assert bob.get(f"queries/{asked['id']}/")["state"] == "answered"
    told = f"another person's taken (20 more, p95 {1000 * slow:.0f} ms) and answered"
    figure(row=22, n=1_000, seen=f"a thousand waiting by one person, the next refused, {told}")


def _seconds(caller: Caller, path: str, number: int) -> float:
    """How long it takes to take one question in."""
    begun = time.monotonic()
    body = {"where": {"column": "age", "equals": number}, "accuracy": {"within": 40}}
    assert caller.post(path, body, **{"Idempotency-Key": f"b{number}"})[0] == 202
    return time.monotonic() - begun


@pytest.mark.trust
def test_without_the_limit_of_one_person_the_queue_would_grow(
    alice: Caller, contract: Contract, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    few = [{"where": {"column": "age", "equals": i}, "accuracy": {"within": 25}} for i in range(10)]
    path, body = f"contracts/{contract.uid}/queries/", json.dumps(few).encode()
    monkeypatch.setattr(queries, "MAX_WAITING", 10)
    assert [alice.post(path, body, **{"Idempotency-Key": key})[0] for key in ("first", "second")] == [202, 429]
    monkeypatch.setattr(queries, "MAX_WAITING", 10**9)
    assert alice.post(path, body, **{"Idempotency-Key": "third"})[0] == 202
    figure(row=22, n=20, mutant="without the limit of one person (10 here): 20 of 20 wait, caught")
