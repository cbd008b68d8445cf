"""Two data sets that differ by one person, and the same draws: nobody outside can tell which one they were asking.

A workload is lived through on one data set while a tape records every call of the mechanism, then on its neighbour with the
recorded values forced. Calls, charges, states, statuses, bodies and every row of every table must be the same, byte for byte; and
what the calls counted may differ by no more than their price covers.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import zip_longest

import pytest
from pytest_django import DjangoDbBlocker

from curator import language
from curator.engine import counts
from curator.mechanism import accuracy
from curator.mechanism.accuracy import Relative
from curator.mechanism.region import Region
from curator.models import DatasetVersion
from curator.services import asking, deciding, drawing, reading
from curator.services.drawing import Counts, Fresh
from curator.services.pending import Batch
from tests.databases import TestDatabases
from tests.fixtures.figures import Figure
from tests.privacy import plans, worlds
from tests.privacy.tape import used
from tests.privacy.worlds import World

LENGTH = 50  # steps of one workload


@dataclass(frozen=True, slots=True)
class Pair:
    """The first difference between two worlds ("" for none), and the largest share of a price that was needed."""

    difference: str
    calls: int
    answers: int
    rows: int
    used: Fraction
    kinds: frozenset[str]  # what happened: kinds of decisions, states, statuses of answers, whether there were diagnostics


@pytest.fixture
def compare(databases: TestDatabases, django_db_blocker: DjangoDbBlocker) -> Iterator[Callable[[int], Pair]]:
    """Compares the two worlds of a seed."""

    def pair(seed: int) -> Pair:
        plan, at = plans.plan(seed, length=LENGTH), datetime.now(UTC)
        with pytest.MonkeyPatch.context() as patch:
            first = worlds.live(plan, plan.rows, databases, patch, at=at)
        with pytest.MonkeyPatch.context() as patch:
            second = worlds.live(plan, plan.without_one, databases, patch, at=at, forced=first.tape.values)
        return _pair(first, second)

    with django_db_blocker.unblock():
        yield pair


def _pair(first: World, second: World) -> Pair:
    difference = _first_difference(first, second)
    shares = [] if difference.startswith("call") else used(first.tape, second.tape)
    rows = sum(len(table) for table in first.tables.values())
    return Pair(difference, len(first.tape.calls), len(first.answers), rows, max(shares, default=Fraction(0)), _kinds(first))


def _kinds(world: World) -> frozenset[str]:
    """What happened in a world, so that no test is about worlds in which little happens."""
    decided = {json.loads(row)["kind"] for row in world.tables["curator_decision"]}
    states = {json.loads(row)["state"] for row in world.tables["curator_query"]}
    diagnosed = {"diagnostic"} if world.tables["curator_diagnostic"] else set()
    histograms = {"histogram"} if any(len(call.descriptors) > 1 for call in world.tape.calls) else set()
    return frozenset(decided | states | diagnosed | histograms | {str(status) for _, status, _ in world.answers})


def _first_difference(first: World, second: World) -> str:
    for number, (mine, theirs) in enumerate(zip_longest(first.tape.calls, second.tape.calls)):
        if mine != theirs:
            return f"call {number}: {mine} / {theirs}"
    for one, other in zip_longest(first.answers, second.answers):
        if one != other:
            return f"answer: {one} / {other}"
    for name in first.tables | second.tables:
        for row, its in zip_longest(first.tables.get(name, []), second.tables.get(name, [])):
            if row != its:
                return f"row of {name}: {row} / {its}"
    return ""


def _figures(pairs: list[Pair]) -> tuple[int, int, str]:
    answers, calls, rows = (sum(getattr(pair, name) for pair in pairs) for name in ("answers", "calls", "rows"))
    largest = max(pair.used for pair in pairs)
    said = f"0 diverge in {len(pairs)} workloads, {calls} calls, {rows} rows; sensitivity used {float(largest):.2f} of 1"
    return answers, calls, said


@pytest.mark.trust
def test_nobody_can_tell_a_data_set_from_its_neighbour(compare: Callable[[int], Pair], figure: Figure) -> None:
    pairs = [compare(seed) for seed in range(3)]
    assert [pair.difference for pair in pairs if pair.difference] == []
    answers, calls, said = _figures(pairs)
    assert max(pair.used for pair in pairs) == 1  # the person who left was in what was counted
    assert answers > 100 and calls > 30
    happened = frozenset[str]().union(*(pair.kinds for pair in pairs))
    assert happened >= {
        "reuse",
        "measure",
        "partial",
        "decline",
        "cancelled",
        "diagnostic",
        "histogram",
        "200",
        "202",
        "400",
        "409",
    }
    figure(row=4, n=answers, seen=said)


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
def test_nobody_can_tell_a_thousand_requests_from_those_on_a_neighbour(compare: Callable[[int], Pair], figure: Figure) -> None:
    pairs = [compare(seed) for seed in range(100, 120)]
    assert [pair.difference for pair in pairs if pair.difference] == []
    answers, _, said = _figures(pairs)
    assert max(pair.used for pair in pairs) == 1
    assert answers >= 1_000
    figure(row=4, n=answers, seen=said)


# What a careless change could do. Each must be found by the same workloads.


def _found_by(compare: Callable[[int], Pair], *, most: int = 6) -> tuple[int, str]:
    """How many workloads it took to find a difference, and which."""
    for number, seed in enumerate(range(most), start=1):
        if difference := compare(seed).difference:
            return number, difference
    pytest.fail(f"not found by {most} workloads")


def _true_count(version: DatasetVersion, region: Region) -> int:
    from curator.services.versions import known

    seen = known(version)
    file = counts.VersionFile(seen.uid, seen.schema, seen.has_person_column, seen.k)
    return counts.count(file, [region])[0]._reveal()


def _domain_from_data(patch: pytest.MonkeyPatch) -> None:
    """Groups are made for those values only that somebody has."""
    bins_of = language.bins_of

    def understand(body: object, version: DatasetVersion) -> list[asking.Asked]:
        def occurring(question: object, schema: object) -> object:
            every = bins_of(question, schema)  # type: ignore[arg-type]  # as bins_of has them
            return [each for each in every if each.region.is_empty or _true_count(version, each.region)] or every[:1]

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(language, "bins_of", occurring)
            return real(body, version)

    real = asking.understand
    patch.setattr(asking, "understand", understand)


def _price_from_true_count(patch: pytest.MonkeyPatch) -> None:
    """A relative target is priced from the size of the group itself instead of from its diagnostic."""
    exact: dict[str, int] = {}
    read, price = reading.read, deciding.price

    def remember(batch: Batch, digests: object) -> Counts:
        found = read(batch, digests)  # type: ignore[arg-type]  # as reading.read has them
        exact.update({digest: count._reveal() for digest, count in found.items()})
        return found

    def dear(pending: object, cell: object, diagnostic: object) -> int | None:
        if isinstance(pending.target, Relative) and cell.digest in exact:  # type: ignore[attr-defined]  # a Pending, a Cell
            need = accuracy.relative_need(pending.target, exact[cell.digest])  # type: ignore[attr-defined]  # a Pending, a Cell
            return None if need is None else need[1]
        return price(pending, cell, diagnostic)  # type: ignore[arg-type]  # as deciding.price has them

    patch.setattr(reading, "read", remember)
    patch.setattr(deciding, "price", dear)


def _early_exit_on_empty(patch: pytest.MonkeyPatch) -> None:
    """Where nobody is, no noise is drawn: it would only be noise."""
    draw = drawing.draw

    def sparing(exact: Counts, amounts: Mapping[str, int]) -> dict[str | None, Fresh]:
        return draw(exact, {digest: rho for digest, rho in amounts.items() if exact[digest]._reveal()})

    patch.setattr(drawing, "draw", sparing)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("bug", "words"),
    [
        (_domain_from_data, "a domain taken from the data"),
        (_price_from_true_count, "a price taken from the true count"),
        (_early_exit_on_empty, "an early exit on empty"),
    ],
)
def test_each_seeded_bug_is_found(
    compare: Callable[[int], Pair],
    monkeypatch: pytest.MonkeyPatch,
    figure: Figure,
    bug: Callable[[pytest.MonkeyPatch], None],
    words: str,
) -> None:
    bug(monkeypatch)
    workloads, difference = _found_by(compare)
    assert difference.startswith(("call", "answer", "row of curator_answer"))
    figure(row=4, n=workloads, mutant=f"{words}: caught")
