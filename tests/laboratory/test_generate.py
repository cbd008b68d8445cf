"""Made-up workloads: repeatable from their seed, and as overlapping, popular and difficult as asked for."""

import json
from collections import Counter

import pytest

from curator.laboratory.generate import Spec, workload
from curator.laboratory.lines import read
from curator.mechanism.comparators.events import AllotmentSet, Asked
from curator.mechanism.errors import BadInput


def keys(spec: Spec) -> list[object]:
    return [line["query"] for line in workload(spec) if "query" in line]


def test_equal_specs_give_equal_lines_and_another_seed_gives_others() -> None:
    assert list(workload(Spec(seed=3))) == list(workload(Spec(seed=3)))
    assert list(workload(Spec(seed=3))) != list(workload(Spec(seed=4)))


@pytest.mark.parametrize("overlap, distinct", [(0, 101), (0.25, 76), (0.5, 51), (1, 1)])
def test_the_overlap_is_the_exact_share_of_repeats_and_the_first_is_never_one(overlap: float, distinct: int) -> None:
    asked = keys(Spec(questions=101, overlap=overlap))
    assert len(asked) == 101
    assert len(set(asked)) == distinct
    assert asked[0] == "q1"


def test_a_larger_exponent_makes_the_popular_more_popular() -> None:
    shares = [Counter(keys(Spec(questions=2000, overlap=0.5, zipf=zipf)))["q1"] for zipf in (0, 1, 2)]
    assert shares == sorted(shares)
    assert shares[2] > 3 * shares[0]


def test_every_line_reads_back_and_a_descriptor_keeps_its_weight() -> None:
    spec = Spec(questions=300, analysts=3, within=(10, 20), difficult=True, allotment="0.5")
    events = read(json.dumps(line) for line in workload(spec))
    asked = [event for event in events if isinstance(event, Asked)]
    assert len(asked) == 300
    assert len([event for event in events if isinstance(event, AllotmentSet)]) == 3
    assert {event.analyst for event in asked} == {"analyst-1", "analyst-2", "analyst-3"}
    assert len({event.bins[0].rho_min for event in asked}) == 2
    assert len({(event.bins[0].key, event.bins[0].weight) for event in asked}) == len({event.bins[0].key for event in asked})


@pytest.mark.parametrize(
    "wrong",
    [
        {"questions": 0},
        {"overlap": 1.1},
        {"overlap": float("nan")},
        {"zipf": -1},
        {"analysts": 0},
        {"within": ()},
        {"within": (0,)},
    ],
)
def test_specs_out_of_range_are_refused_with_their_field(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput) as refused:
        Spec(**wrong)  # type: ignore[arg-type]  # the point of the test
    assert refused.value.field in wrong
