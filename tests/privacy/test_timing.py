"""When an answer appears says nothing about the data: neighbours interleaved, timed from the bell to the answer, and compared.

The only tests that look at a clock. A leak is planted in the engine (a pause where somebody is), so that there is something to be
hidden: without the tick it is found, with the tick it is not. Runs are timed as an analyst could: the answer is there or not.
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
from curator.engine import counts
from curator.engine.opened import Opened
from curator.mechanism.region import Region
from curator.models import Contract, Query
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract, make_version
from tests.fixtures.figures import Figure
from tests.worker.scene import ask, places

TICK = 40  # milliseconds: shorter than in production, so that thousands of runs take minutes
LEAK = 0.002  # seconds by which somebody's presence slows the planted engine
LAST = ROWS[-1]


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


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine dawdles where it counts more people."""
    count = Opened.count

    def slow(self: Opened, regions: Sequence[Region]) -> list[int]:
        found = count(self, regions)
        time.sleep(LEAK * (self.source.rows - len(ROWS) + 1))
        return found

    monkeypatch.setattr(Opened, "count", slow)


def one_run(people: Cast, contract: Contract, where: dict[str, object]) -> float:
    """Milliseconds from the bell to the answer, as a clock that is looked at after each beat would show them."""
    query = ask(people.alice, contract, where, rho="0.0001")
    begun = time.perf_counter()
    execution.run(contract.pk)
    taken = time.perf_counter() - begun
    assert Query.objects.get(pk=query.pk).state == "answered"
    return 1000 * taken


def interleaved(people: Cast, contracts: Sequence[Contract], runs: int) -> tuple[list[float], list[float]]:
    """Times of both, each question asked of both one after the other, in an order that is drawn."""
    generator, times = random.Random(5), ([], [])
    for where, _ in zip(places(), range(runs), strict=False):
        for place in generator.sample((0, 1), 2):
            times[place].append(one_run(people, contracts[place], where))
    return times
