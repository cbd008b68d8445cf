"""Reading workloads: every form a line may have, and the line number of whatever does not parse."""

import json
from decimal import Decimal

import pytest

from curator.laboratory.lines import read
from curator.mechanism.comparators.events import AllotmentSet, Asked, Bin
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.errors import BadInput


def one(**line: object) -> object:
    """The last event of a workload that ends in this line."""
    return read([json.dumps(line)] if "query" in line else [json.dumps(line), '{"analyst": "a", "query": "q", "rho_min": "1"}'])[
        0
    ]


def test_an_allotment_sets_an_amount_or_explicitly_none() -> None:
    assert one(allotment="alice", rho="0.5") == AllotmentSet("alice", 500_000_000_000)
    assert one(allotment="alice", rho=0) == AllotmentSet("alice", 0)
    assert one(allotment="alice", rho=None) == AllotmentSet("alice", None)


def test_a_count_states_its_support_or_a_bound_and_a_confidence() -> None:
    assert one(analyst="alice", query="q7", rho_min="0.3") == Asked("alice", "q7", (Bin("q7", 300_000_000_000),))
    assert one(analyst="alice", query="q7", rho_min=0.3) == one(analyst="alice", query="q7", rho_min="0.3")
    bounded = one(analyst="alice", query="q7", within=20, confidence=0.95)
    assert bounded == Asked("alice", "q7", (Bin("q7", 4_801_823_526),))  # 0.00480182 of the check values, rounded up


def test_weight_and_scarcity_are_optional() -> None:
    asked = one(analyst="alice", query="q", rho_min="1", weight="2.5", under_scarcity="all_or_nothing")
    assert asked == Asked("alice", "q", (Bin("q", 10**12, Decimal("2.5")),), UnderScarcity.ALL_OR_NOTHING)


def test_cells_make_a_histogram_and_take_from_the_line_what_they_do_not_say() -> None:
    cells = [{"query": "women", "rho_min": "0.1", "weight": 3}, {"query": "rich"}]
    asked = one(analyst="alice", query="by group", rho_min="0.2", weight=2, cells=cells)
    women, rich = Bin("women", 10**11, Decimal(3)), Bin("rich", 2 * 10**11, Decimal(2))
    assert asked == Asked("alice", "by group", (women, rich))


def test_a_cell_and_a_count_of_the_same_name_are_one_descriptor() -> None:
    events = read(
        [
            '{"analyst": "a", "query": "h", "cells": [{"query": "q", "rho_min": "1"}]}',
            '{"analyst": "a", "query": "q", "rho_min": "1"}',
        ]
    )
    assert [event.bins[0].key for event in events if isinstance(event, Asked)] == ["q", "q"]


def test_blank_lines_are_skipped_but_counted() -> None:
    with pytest.raises(BadInput, match="line 3"):
        read(["", "  ", "nonsense"])


QUESTION = '{"analyst": "a", "query": "q", %s}'
WRONG = {
    "no JSON": ("{", "not JSON"),
    "no object": ("[1]", "object"),
    "a number only": ("7", "object"),
    "NaN": (QUESTION % '"rho_min": NaN', "NaN"),
    "infinity": (QUESTION % '"rho_min": Infinity', "Infinity"),
    "NaN as text": (QUESTION % '"rho_min": "NaN"', "rho_min"),
    "huge": (QUESTION % '"rho_min": 1e309', "rho_min"),
    "huge whole": (QUESTION % f'"rho_min": {"9" * 5000}', "line 2"),
    "negative": (QUESTION % '"rho_min": "-1"', "rho_min"),
    "zero": (QUESTION % '"rho_min": "0"', "rho_min"),
    "true": (QUESTION % '"rho_min": true', "rho_min"),
    "a list": (QUESTION % '"rho_min": [1]', "rho_min"),
    "null": (QUESTION % '"rho_min": null', "rho_min"),
    "bound below 1": (QUESTION % '"within": 0, "confidence": 0.95', "within"),
    "bound not whole": (QUESTION % '"within": 2.5, "confidence": 0.95', "within"),
    "confidence 1": (QUESTION % '"within": 25, "confidence": 1', "confidence"),
    "confidence 0.5": (QUESTION % '"within": 25, "confidence": 0.5', "confidence"),
    "no accuracy": ('{"analyst": "a", "query": "q"}', "accuracy"),
    "two accuracies": (QUESTION % '"rho_min": "1", "within": 5', "accuracy"),
    "negative weight": (QUESTION % '"rho_min": "1", "weight": -2', "weight"),
    "weight 0": (QUESTION % '"rho_min": "1", "weight": 0', "weight"),
    "weight NaN": (QUESTION % '"rho_min": "1", "weight": "NaN"', "weight"),
    "weight huge": (QUESTION % '"rho_min": "1", "weight": 1e30', "weight"),
    "weight no number": (QUESTION % '"rho_min": "1", "weight": {}', "weight"),
    "unknown scarcity": (QUESTION % '"rho_min": "1", "under_scarcity": "maybe"', "under_scarcity"),
    "scarcity a list": (QUESTION % '"rho_min": "1", "under_scarcity": []', "under_scarcity"),
    "unknown key": (QUESTION % '"rho_min": "1", "weigth": 2', "weigth"),
    "key twice": (QUESTION % '"rho_min": "1", "rho_min": "2"', "twice"),
    "no analyst": ('{"query": "q", "rho_min": "1"}', "analyst"),
    "empty analyst": ('{"analyst": "", "query": "q", "rho_min": "1"}', "analyst"),
    "query a number": ('{"analyst": "a", "query": 7, "rho_min": "1"}', "query"),
    "half a character": ('{"analyst": "\\ud800", "query": "q", "rho_min": "1"}', "analyst"),
    "a control character": ('{"analyst": "a", "query": "q\\u0000", "rho_min": "1"}', "query"),
    "no query": ('{"analyst": "a", "rho_min": "1"}', "query"),
    "cells no list": (QUESTION % '"cells": {}', "cells"),
    "cells empty": (QUESTION % '"cells": []', "cells"),
    "cell no object": (QUESTION % '"cells": [3]', "cells"),
    "cell unknown key": (QUESTION % '"cells": [{"query": "c", "rho_min": "1", "analyst": "b"}]', "analyst"),
    "cell without accuracy": (QUESTION % '"cells": [{"query": "c"}]', "accuracy"),
    "cell twice": (QUESTION % '"cells": [{"query": "c", "rho_min": "1"}, {"query": "c", "rho_min": "2"}]', "twice"),
    "allotment without rho": ('{"allotment": "a"}', "rho"),
    "allotment negative": ('{"allotment": "a", "rho": "-0.1"}', "rho"),
    "allotment true": ('{"allotment": "a", "rho": true}', "rho"),
    "allotment of nobody": ('{"allotment": null, "rho": "1"}', "allotment"),
    "allotment and question": ('{"allotment": "a", "rho": "1", "query": "q"}', "query"),
    "nested too deeply": ("[" * 100_000, "line 2"),
}


@pytest.mark.parametrize("line, said", WRONG.values(), ids=WRONG.keys())
def test_what_does_not_parse_is_refused_with_its_line_number(line: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read([QUESTION % '"rho_min": "1"', line])
    assert refused.value.detail.startswith("line 2: ")
    assert said in refused.value.detail
    assert (refused.value.field or "").startswith("line 2")


def test_a_workload_needs_a_question() -> None:
    with pytest.raises(BadInput, match="no question"):
        read(['{"allotment": "a", "rho": "1"}'])
