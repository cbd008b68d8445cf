"""A bin in which nobody is, a thousand times over: released like any other, below zero half of the time, and kept as drawn.

Each p-value is held against one in a million, so a sound release fails here once in several hundred thousand runs.
"""

from fractions import Fraction
from math import floor, sqrt
from statistics import fmean
from typing import Any

import pytest

from curator import queue
from curator.mechanism import noise
from curator.mechanism.noise import Draw, ExactCount
from curator.models import Answer, Contract, Query, Release
from tests.cast import Cast, make_contract, make_version, units
from tests.mechanism import laws
from tests.services.serving import run
from tests.worker.scene import ask

pytestmark = pytest.mark.django_db

ALPHA = 1e-6
BINS = 1_000
SCHEMA = {"columns": [{"name": "visits", "kind": "integer", "low": 0, "high": BINS, "missing": False}]}
NOBODYS: dict[str, Any] = {
    "where": {"column": "visits", "less_than": BINS}, "group_by": [{"column": "visits"}],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)


@pytest.fixture
def contract(people: Cast) -> Contract:
    """Everybody came a thousand times: a thousand bins below that are declared, and empty in the data."""
    version = make_version(people.carol, rows=[{"visits": str(BINS)}] * 12, schema=SCHEMA)
    return make_contract(people, version, rho_total="2")


def released(query: Query) -> list[int]:
    """What was drawn for each of the empty bins, in their order."""
    drawn = dict(Release.objects.filter(query=query).values_list("descriptor_id", "value"))
    return [drawn[digest] for digest in shown(query)]


def shown(query: Query) -> dict[str, int | None]:
    """The answer of each bin that may hold somebody by the schema, by its descriptor."""
    values = dict(Answer.objects.filter(query=query).values_list("position", "value"))
    bins = query.bins.exclude(descriptor=None).order_by("position").values_list("descriptor_id", "position")
    return {digest: values[position] for digest, position in bins}


def p_values(sample: list[int], rho: str) -> dict[str, float]:
    sigma2 = 1 / (2 * float(rho))
    return {
        "mean": laws.off_centre(sample, sigma2), "half below": laws.lopsided(sample), "variance": laws.too_little(sample, sigma2),
        "law": laws.chi_square(sample, sigma2),
    }  # fmt: skip


def test_a_thousand_empty_bins_are_nought_on_average_and_half_below(people: Cast, contract: Contract) -> None:
    """Standard deviation 10: the mean is within 4.9 standard errors, 1.55 people, of nought."""
    query = ask(people.alice, contract, NOBODYS["where"], group_by=NOBODYS["group_by"], rho="0.005")
    run(contract)
    sample = released(query)
    assert len(sample) == BINS
    assert abs(fmean(sample)) < 4.9 * sqrt(100 / BINS)
    assert min(p_values(sample, "0.005").values()) > ALPHA, p_values(sample, "0.005")
    assert list(shown(query).values()) == sample  # one release each: the answer is what was drawn, below nought or not


def test_what_is_below_nought_is_fused_as_it_was_drawn(people: Cast, contract: Contract) -> None:
    parts = [ask(people.alice, contract, NOBODYS["where"], group_by=NOBODYS["group_by"], rho=rho) for rho in ("0.005", "0.02")]
    run(contract)
    first, second = (released(query) for query in parts)
    fused = [Fraction(one, 4) + Fraction(3 * two, 4) for one, two in zip(first, second, strict=True)]
    assert list(shown(parts[1]).values()) == [away_from_nought(value) for value in fused]
    weighted = dict(contract.supports.values_list("descriptor_id", "weighted_sum"))
    assert [int(weighted[digest]) for digest in shown(parts[1])] == [int(value * (units("0.02") or 0)) for value in fused]
    assert laws.lopsided([1 if value > 0 else -1 for value in fused if value]) > ALPHA


def away_from_nought(value: Fraction) -> int:
    """The nearest whole number, halves away from nought."""
    return floor(value + Fraction(1, 2)) if value >= 0 else -floor(-value + Fraction(1, 2))


def test_a_release_that_is_cut_off_at_nought_is_noticed(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = noise.release_all

    def cut_off(counts: list[ExactCount], amounts: list[int]) -> list[Draw]:
        return [Draw(max(0, each.value), each.scale) for each in draw(counts, amounts)]

    monkeypatch.setattr(noise, "release_all", cut_off)
    query = ask(people.alice, contract, NOBODYS["where"], group_by=NOBODYS["group_by"], rho="0.005")
    run(contract)
    found = p_values(released(query), "0.005")
    assert max(found["mean"], found["half below"], found["law"]) < ALPHA
