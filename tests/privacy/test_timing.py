"""When an answer appears says nothing about the data: neighbours interleaved, timed from the bell to the answer, and compared.

The only tests that look at a clock. A leak is planted in the engine (a pause where somebody is), so that there is something to be
hidden. With the tick a pause shorter than it must not be found; without, one that stands out of a busy machine's jitter must be,
which shows that the statistics can. Both are in the figures: they are not the same pause.
"""

import random
import time
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from django.conf import settings
from scipy.stats import rankdata, wilcoxon

from curator import queue
from curator.engine.opened import Opened
from curator.mechanism.region import Region
from curator.models import Contract, Decision
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract, make_version
from tests.fixtures.figures import Figure
from tests.worker.scene import ask, places

TICK = 25  # milliseconds: shorter than in production, so that thousands of runs take minutes
PAIRS = 2_000
CELLS = list(places())
HIDDEN, FOUND = 0.01, 0.05  # seconds by which somebody's presence slows the planted engine: within a tick, and beyond the jitter


def auc(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Area under the curve of telling `other` from `one` by time alone, and its 99.9 % interval (Hanley and McNeil 1982)."""
    ranks = rankdata([*other, *one])
    n, m = len(other), len(one)
    area = float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    error = sqrt((area * (1 - area) + (n - 1) * (first - area**2) + (m - 1) * (second - area**2)) / (n * m))
    reach = NormalDist().inv_cdf(0.9995) * error
    return area, area - reach, area + reach


def paired(one: Sequence[float], other: Sequence[float]) -> float:
    """p-value that pairs differ as they do by chance (Wilcoxon)."""
    differences = np.array(other) - np.array(one)
    return float(wilcoxon(differences).pvalue) if np.any(differences) else 1.0


@pytest.fixture
def pair(db: None, monkeypatch: pytest.MonkeyPatch) -> tuple[Cast, Contract, Contract]:
    """The cast and two contracts: over everybody, and over everybody but one."""
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    people = cast()
    both = [make_version(people.carol, rows=rows) for rows in (ROWS, ROWS[:-1])]
    whole, fewer = (make_contract(people, version, rho_total="1000") for version in both)
    return people, whole, fewer


def plant(monkeypatch: pytest.MonkeyPatch, pause: float) -> None:
    """The engine dawdles where it counts more people."""
    count = Opened.count

    def slow(self: Opened, regions: Sequence[Region]) -> list[int]:
        found = count(self, regions)
        time.sleep(pause * (self.source.rows - len(ROWS) + 1))
        return found

    monkeypatch.setattr(Opened, "count", slow)


def one_run(people: Cast, contract: Contract, number: int) -> float:
    """Milliseconds from the bell to the answer; asked just after a beat, where who asks knows best what to expect."""
    query = ask(people.alice, contract, CELLS[number % len(CELLS)], rho=f"{0.0001 * (1 + number // len(CELLS)):.4f}")
    time.sleep(TICK / 1000 - time.time() % (TICK / 1000))
    begun = time.perf_counter()
    execution.run(contract.pk)
    taken = time.perf_counter() - begun
    assert Decision.objects.get(query=query).kind == "measure"
    return 1000 * taken


def interleaved(people: Cast, contracts: Sequence[Contract], numbers: range) -> tuple[list[float], list[float]]:
    """Times of both, each question asked of both one after the other, in an order that is drawn; no number twice (it is free)."""
    generator = random.Random(5)
    times: tuple[list[float], list[float]] = ([], [])
    for number in numbers:
        for place in generator.sample((0, 1), 2):
            times[place].append(one_run(people, contracts[place], number))
    return times


def words(times: tuple[list[float], list[float]]) -> str:
    area, low, high = auc(times[1], times[0])
    return f"AUC {area:.3f} ({low:.3f} to {high:.3f}), paired p = {paired(*times):.2g}"


def test_the_statistics_see_what_is_there_and_nothing_else() -> None:
    generator = np.random.default_rng(1)
    noise = [list(generator.normal(10, 1, 2_000)) for _ in range(3)]
    _, low, high = auc(noise[0], noise[1])
    assert low < 0.5 < high and paired(noise[0], noise[1]) > 0.001
    later = [value + 0.3 for value in noise[2]]
    assert auc(noise[0], later)[1] > 0.5 and paired(noise[0], later) < 1e-9


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
def test_the_moment_of_an_answer_tells_nothing_with_the_tick(
    pair: tuple[Cast, Contract, Contract], monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    people, *contracts = pair
    plant(monkeypatch, HIDDEN)
    monkeypatch.setattr(settings, "TICK_MS", TICK)
    interleaved(people, contracts, range(5))  # what is read once is read by now
    times = interleaved(people, contracts, range(5, 5 + PAIRS))
    _, low, high = auc(times[1], times[0])
    assert low < 0.5 < high, words(times)
    assert paired(*times) > 0.001
    figure(row=18, n=PAIRS, seen=f"engine that dawdles {1000 * HIDDEN:.0f} ms for one person, tick {TICK} ms: {words(times)}")


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
def test_without_the_tick_an_engine_that_dawdles_is_found_out(
    pair: tuple[Cast, Contract, Contract], monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    people, *contracts = pair
    interleaved(people, contracts, range(5))
    plain = interleaved(people, contracts, range(5, 5 + PAIRS // 4))
    plant(monkeypatch, FOUND)
    times = interleaved(people, contracts, range(5 + PAIRS // 4, 5 + PAIRS // 2))
    assert auc(times[1], times[0])[0] > 0.5 and paired(*times) < 0.001, words(times)
    figure(row=18, n=PAIRS // 4, seen=f"tick off, engine as it is: {words(plain)}")
    figure(row=18, n=PAIRS // 4, mutant=f"tick off, engine that dawdles {1000 * FOUND:.0f} ms: {words(times)}, caught")
