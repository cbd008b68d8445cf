"""Conditions against brute force: every pair is the same key exactly if it selects the same cells under Kleene's logic.

The oracle knows nothing of codes, intervals or diagrams: it looks at each cell's values, decides each leaf as true, false or
unknown there, and combines them by the tables of three-valued logic.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from curator.language import parse_json, parse_sql, region_of, write_sql
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

SCHEMA = Schema.from_json(
    {
        "columns": [
            {"name": "age", "kind": "integer", "low": 0, "high": 4, "missing": True, "out_of_domain": "other"},
            {"name": "city", "kind": "category", "values": ["Rome", "Paris"], "missing": True, "out_of_domain": "other"},
            {"name": "ok", "kind": "boolean", "out_of_domain": "other"},
            {"name": "rate", "kind": "decimal", "low": 0, "high": 1, "step": "0.5", "missing": True},
        ]
    }
)
VALUES: dict[str, list[object]] = {
    "age": [0, 1, 2, 3, 4, "other", None],
    "city": ["Rome", "Paris", "other", None],
    "ok": [False, True, "other"],
    "rate": [0.0, 0.5, 1.0, None],
}
CELLS = list(itertools.product(*VALUES.values()))
EVERY = (1 << len(CELLS)) - 1
PAIRS, POOL = 100_000, 12_000
Masks = tuple[int, int]  # cells where a condition is true, and where it is false


def leaf_value(obj: dict[str, object], value: object) -> bool | None:
    """True, False or None (unknown) of one leaf at one value."""
    operator = next(key for key in obj if key != "column")
    wanted = obj[operator]
    if operator == "is_missing":
        return (value is None) is wanted
    if value is None:
        return None
    if operator == "is_other":
        return (value == "other") is wanted
    compare: dict[str, Callable[[], bool]] = {
        "equals": lambda: same(value, wanted),
        "not_equals": lambda: not same(value, wanted),
        "in": lambda: any(same(value, item) for item in wanted),  # type: ignore[attr-defined]
        "between": lambda: value != "other" and wanted[0] <= value <= wanted[1],  # type: ignore[index]
        "at_least": lambda: value != "other" and value >= wanted,  # type: ignore[operator]
        "at_most": lambda: value != "other" and value <= wanted,  # type: ignore[operator]
        "more_than": lambda: value != "other" and value > wanted,  # type: ignore[operator]
        "less_than": lambda: value != "other" and value < wanted,  # type: ignore[operator]
    }
    return compare[operator]()


def same(value: object, wanted: object) -> bool:
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


@dataclass
class Oracle:
    """Masks of a condition; those of leaves are kept."""

    known: dict[str, Masks] = field(default_factory=dict)

    def masks(self, obj: dict[str, object]) -> Masks:
        if "column" in obj:
            return self.leaf(obj)
        if "always" in obj:
            return (EVERY, 0) if obj["always"] else (0, EVERY)
        if "not" in obj:
            yes, no = self.masks(obj["not"])  # type: ignore[arg-type]
            return no, yes
        parts = [self.masks(part) for part in obj.get("all") or obj["any"]]  # type: ignore[attr-defined]
        yes, no = parts[0]
        for more_yes, more_no in parts[1:]:
            yes, no = (yes & more_yes, no | more_no) if "all" in obj else (yes | more_yes, no & more_no)
        return yes, no

    def leaf(self, obj: dict[str, object]) -> Masks:
        key = repr(obj)
        if key not in self.known:
            place = list(VALUES).index(str(obj["column"]))
            values = [leaf_value(obj, cell[place]) for cell in CELLS]
            self.known[key] = tuple(
                sum(1 << i for i, value in enumerate(values) if value is outcome) for outcome in (True, False)
            )  # type: ignore[assignment]
        return self.known[key]


class Writer:
    """Random conditions, and other spellings of the same."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def condition(self, depth: int) -> dict[str, object]:
        roll = self.random.random()
        if depth == 0 or roll < 0.25:
            return self.leaf()
        if roll < 0.4:
            return {"not": self.condition(depth - 1)}
        if roll < 0.42:
            return {"always": self.random.random() < 0.5}
        parts = [self.condition(depth - 1) for _ in range(self.random.randint(1, 3))]
        return {self.random.choice(["all", "any"]): parts}

    def leaf(self) -> dict[str, object]:
        column = self.random.choice(list(VALUES))
        declared = [value for value in VALUES[column] if value is not None and value != "other"]
        operators = ["equals", "not_equals", "in", "is_missing", "between", "at_least", "at_most", "more_than", "less_than"]
        if column in ("city", "ok"):
            operators = operators[:4]
        if "other" in VALUES[column]:
            operators.append("is_other")
        operator = self.random.choice(operators)
        if operator in ("is_missing", "is_other"):
            return {"column": column, operator: self.random.random() < 0.7}
        if operator == "in":
            return {"column": column, "in": [self.random.choice(declared) for _ in range(self.random.randint(1, 4))]}
        if operator in ("equals", "not_equals"):
            return {"column": column, operator: self.random.choice(declared)}
        bounds = [-1, -0.25, 0, 0.5, 0.75, 1, 1.5, 2, 3, 4, 4.5, 7]
        low, high = self.random.choice(bounds), self.random.choice(bounds)
        return {"column": column, operator: [low, high] if operator == "between" else low}

    def respelled(self, obj: dict[str, object]) -> dict[str, object]:
        """Another condition of the same meaning: De Morgan, double negation, other order, IN-lists taken apart."""
        if self.random.random() < 0.2:
            return {"not": {"not": self.respelled(obj)}}
        for word, dual in (("all", "any"), ("any", "all")):
            if word in obj:
                parts = [self.respelled(part) for part in obj[word]]  # type: ignore[attr-defined]
                self.random.shuffle(parts)
                if self.random.random() < 0.3:
                    return {"not": {dual: [{"not": part} for part in parts]}}
                return {word: parts + parts[:1]}
        if "not" in obj:
            return {"not": self.respelled(obj["not"])}  # type: ignore[arg-type]
        if "in" in obj:
            values = list(obj["in"])  # type: ignore[call-overload]
            self.random.shuffle(values)
            return {"any": [{"column": obj["column"], "equals": value} for value in values]}
        if "not_equals" in obj:
            return {"not": {"column": obj["column"], "in": [obj["not_equals"]]}}
        return obj


def exact(obj: object) -> object:
    """Floats as the texts that a JSON body would be read from exactly."""
    if isinstance(obj, dict):
        return {key: exact(value) for key, value in obj.items()}
    if isinstance(obj, list):
        return [exact(item) for item in obj]
    return str(obj) if isinstance(obj, float) else obj


def region(obj: dict[str, object]) -> Region:
    return region_of(parse_json({"where": exact(obj)}, schema=SCHEMA), SCHEMA)


def pool() -> list[tuple[str, int]]:
    """Digest and true cells of many conditions; each second one is the one before in other words."""
    writer, oracle = Writer(20261130), Oracle()
    result: list[tuple[str, int]] = []
    while len(result) < POOL:
        obj = writer.condition(writer.random.randint(0, 4))
        result += [(region(spelled).digest, oracle.masks(spelled)[0]) for spelled in (obj, writer.respelled(obj))]
    return result


def test_same_cells_same_key_and_other_cells_other_key_over_random_pairs() -> None:
    conditions, chooser = pool(), random.Random(7)
    merges = splits = equal = 0
    for number in range(PAIRS):
        first = chooser.randrange(0, POOL, 2)
        second = first + 1 if number % 2 else chooser.randrange(POOL)
        (key, cells), (other_key, other_cells) = conditions[first], conditions[second]
        equal += cells == other_cells
        merges += key == other_key and cells != other_cells
        splits += key != other_key and cells == other_cells
    print(f"\n{PAIRS:,} pairs of {POOL:,} conditions, {equal:,} equal: {merges} false merges, {splits} false splits")
    assert (merges, splits) == (0, 0)
    assert PAIRS // 2 <= equal < PAIRS
    assert len({key for key, _ in conditions}) == len({cells for _, cells in conditions}) == len(set(conditions))


def test_the_region_is_the_set_of_cells_for_which_the_condition_is_true() -> None:
    writer, oracle = Writer(3), Oracle()
    codes = list(itertools.product(*(range(len(values)) for values in VALUES.values())))
    for _ in range(400):
        obj = writer.condition(3)
        selected, yes = region(obj), oracle.masks(obj)[0]
        assert [selected.contains(cell) for cell in codes] == [bool(yes >> i & 1) for i in range(len(codes))], obj


def test_sql_and_json_and_the_region_written_out_are_one_region() -> None:
    writer = Writer(11)
    for _ in range(400):
        obj = writer.condition(4)
        asked = parse_json({"where": exact(obj)}, schema=SCHEMA)
        selected = region_of(asked, SCHEMA)
        sql = write_sql(asked, schema=SCHEMA, table="people")
        assert region_of(parse_sql(sql, schema=SCHEMA, table="people"), SCHEMA) == selected, sql
        written = f"SELECT COUNT(*) FROM people WHERE {selected.text()}"
        assert region_of(parse_sql(written, schema=SCHEMA, table="people"), SCHEMA) == selected, written
