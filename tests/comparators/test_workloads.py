"""A common workload through the allocators: its published figures, with names as descriptors and with regions.

`common_workload.jsonl` has its 500 counts in the laboratory's format. The original files, whose conditions are read into regions
here, are not part of the project: `RDP_WORKLOADS=FOLDER` names the folder with `workload.jsonl` (500 counts) and
`workload2.jsonl` (50 histograms).
"""

import json
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from curator.laboratory import lines
from curator.language.meaning import bins_of
from curator.language.question import parse_json
from curator.mechanism.accuracy import Within, rho_min
from curator.mechanism.comparators.events import Asked, Bin, Event
from curator.mechanism.comparators.protocol import Outcome
from curator.mechanism.region import descriptor_digest
from curator.mechanism.rho import UNITS_PER_RHO
from curator.mechanism.schema import Schema
from tests.comparators.streams import outcomes, settings, spent

COUNTS = Path(__file__).parents[1] / "laboratory" / "common_workload.jsonl"
FOLDER = os.environ.get("RDP_WORKLOADS")
needs_originals = pytest.mark.skipif(FOLDER is None, reason="RDP_WORKLOADS does not name the folder of the original workloads")

SCHEMA = Schema.from_json(
    {
        "columns": [
            {"name": "age", "kind": "integer", "low": 0, "high": 99, "out_of_domain": "clamp"},
            {"name": "sex", "kind": "category", "values": ["F", "M"], "out_of_domain": "other"},
            {"name": "region", "kind": "category", "values": [f"R{i}" for i in range(10)], "out_of_domain": "other"},
            {"name": "education", "kind": "category", "values": [f"E{i:02d}" for i in range(16)], "out_of_domain": "other"},
            {"name": "income", "kind": "integer", "low": 0, "high": 200_000, "out_of_domain": "clamp"},
            {"name": "hours", "kind": "integer", "low": 0, "high": 99, "out_of_domain": "clamp"},
        ]
    }
)
WORDS = {"=": "equals", "in": "in", "between": "between", ">=": "at_least"}

Row = Mapping[str, object]


def rho(found: Sequence[Outcome]) -> Decimal:
    return Decimal(spent(found)) / UNITS_PER_RHO


def free(found: Sequence[Outcome]) -> int:
    return sum(outcome.charge == 0 for outcome in found)


def about(figure: str) -> object:
    return pytest.approx(Decimal(figure), abs=Decimal("0.000001"))


def test_500_counts_cost_0_346211_here_with_188_free_and_0_487433_from_scratch() -> None:
    stream: list[Event] = [settings(UNITS_PER_RHO), *lines.read(COUNTS.read_text().splitlines())]
    ours = outcomes("residual", stream)
    assert (rho(ours), free(ours)) == (about("0.346211"), 188)
    assert rho(outcomes("state_agnostic", stream)) == about("0.487433")
    assert rho(outcomes("budget_partition", stream)) == about("0.487433")


def original(name: str) -> list[Event]:
    """A stream in plenty, of a file of the original workload, with regions as descriptors."""
    text = (Path(FOLDER or "") / name).read_text()
    return [settings(UNITS_PER_RHO), *(asked(json.loads(line)) for line in text.splitlines())]


def asked(row: Row) -> Asked:
    need = rho_min(Within(int(str(row["E"])), Decimal(str(row["conf"]))))
    question = parse_json(body(row), schema=SCHEMA)
    bins = tuple(Bin(descriptor_digest("v", "count", b.region), need, region=b.region) for b in bins_of(question, SCHEMA))
    return Asked(analyst=str(row["analyst"]), query=str(row["id"]), bins=bins)


def body(row: Row) -> dict[str, object]:
    conditions, groups = row["conds"], row.get("group", [])
    assert isinstance(conditions, list)
    assert isinstance(groups, list)
    where = [{"column": c["col"], WORDS[c["op"]]: c["val"]} for c in conditions]
    return {**({"where": {"all": where}} if where else {}), **({"group_by": [{"column": c} for c in groups]} if groups else {})}


@needs_originals
def test_500_counts_read_as_conditions_cost_the_same_as_by_name() -> None:
    stream = original("workload.jsonl")
    ours = outcomes("residual", stream)
    assert (rho(ours), free(ours)) == (about("0.346211"), 188)
    assert rho(outcomes("budget_partition", stream)) == about("0.487433")


@needs_originals
def test_50_histograms_cost_0_035341_here_with_18_free_and_0_046049_from_scratch() -> None:
    stream = original("workload2.jsonl")
    ours = outcomes("residual", stream)
    assert (rho(ours), free(ours)) == (about("0.035341"), 18)
    assert rho(outcomes("state_agnostic", stream)) == about("0.046049")
    assert rho(outcomes("budget_partition", stream)) == about("0.046049")
