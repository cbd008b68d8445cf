"""The workload: counts with one to four conditions, half of them exact repeats, some with their conditions in another order.

`--workload` takes another file of the same form: JSON lines with `analyst`, `conds` (col, op, val), `E` and `conf`.
"""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BOUNDS = (25, 50, 100, 200)
ANALYSTS = ("ana", "ben", "chi", "dee")
LEVELS = {"sex": ["F", "M"], "region": [f"R{i}" for i in range(10)], "education": [f"E{i:02d}" for i in range(16)]}
SPANS = {"age": (99, 1), "income": (200_000, 1_000), "hours": (99, 1)}

Line = Mapping[str, Any]


def read(path: Path) -> list[Line]:
    """A workload from a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def made(n: int = 500, *, seed: int = 7) -> list[Line]:
    """A made-up workload of `n` questions, repeatable from its seed."""
    chance = random.Random(seed)
    lines: list[Line] = []
    for place in range(n):
        repeat = place > 0 and chance.random() < 0.5
        conditions = list(chance.choice(lines)["conds"]) if repeat else _conditions(chance)
        chance.shuffle(conditions)
        lines.append({"analyst": chance.choice(ANALYSTS), "conds": conditions, "E": chance.choice(BOUNDS), "conf": 0.95})
    return lines


def _conditions(chance: random.Random) -> list[dict[str, Any]]:
    columns = chance.sample([*LEVELS, *SPANS], chance.choice([1, 2, 2, 3, 3, 4]))
    return [_levels(chance, name) if name in LEVELS else _span(chance, name) for name in columns]


def _levels(chance: random.Random, name: str) -> dict[str, Any]:
    chosen = sorted(chance.sample(LEVELS[name], chance.randint(1, max(1, len(LEVELS[name]) // 3))))
    return {"col": name, "op": "in", "val": chosen}


def _span(chance: random.Random, name: str) -> dict[str, Any]:
    high, step = SPANS[name]
    low = chance.randrange(0, high * 7 // 10, step)
    return {"col": name, "op": "between", "val": [low, min(high, low + chance.randrange(step * 5, high // 2, step))]}


def request(line: Line) -> dict[str, Any]:
    """One line as a request of the API."""
    where = {"all": [_leaf(condition) for condition in line["conds"]]}
    return {"where": where, "accuracy": {"within": line["E"], "confidence": str(line["conf"])}}


def _leaf(condition: Mapping[str, Any]) -> dict[str, Any]:
    name = {"=": "equals", "in": "in", ">=": "at_least", "between": "between"}[condition["op"]]
    return {"column": condition["col"], name: condition["val"]}
