"""Conditions against brute force: every pair is the same key exactly if it selects the same cells under Kleene's logic.

The oracle knows nothing of codes, intervals or diagrams: it looks at each cell's values, decides each leaf as true, false or
unknown there, and combines them by the tables of three-valued logic.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from curator.language import parse_json, parse_sql, region_of, write_sql
from curator.mechanism.region import Region, descriptor_digest
from curator.mechanism.schema import Schema
from tests.fixtures.figures import Figure

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


@dataclass(frozen=True, slots=True)
class Meant:
    """A condition asked of one of two dataset versions: its region as the product reads it, its cells as the oracle does."""

    version: str
    region: Region
    cells: int


@pytest.fixture(scope="module")
def pool() -> list[Meant]:
    """Many conditions; each second one is the one before in other words."""
    writer, oracle = Writer(20261130), Oracle()
    result: list[Meant] = []
    while len(result) < POOL:
        obj, version = writer.condition(writer.random.randint(0, 4)), writer.random.choice("vw")
        result += [Meant(version, region(spelled), oracle.masks(spelled)[0]) for spelled in (obj, writer.respelled(obj))]
    return result


def judged(pool: list[Meant], key: Callable[[str, Region], str]) -> tuple[int, int, int]:
    """False merges, false splits and truly equal ones among random pairs, if `key` told questions apart."""
    keys, chooser = [key(each.version, each.region) for each in pool], random.Random(7)
    merges = splits = equal = 0
    for number in range(PAIRS):
        first = chooser.randrange(0, POOL, 2)
        second = first + 1 if number % 2 else chooser.randrange(POOL)
        same_key = keys[first] == keys[second]
        same_meaning = (pool[first].version, pool[first].cells) == (pool[second].version, pool[second].cells)
        equal += same_meaning
        merges += same_key and not same_meaning
        splits += same_meaning and not same_key
    return merges, splits, equal


def proper(version: str, region: Region) -> str:
    return descriptor_digest(version, "count", region)


@pytest.mark.trust
def test_same_cells_same_key_and_other_cells_other_key_over_random_pairs(pool: list[Meant], figure: Figure) -> None:
    merges, splits, equal = judged(pool, proper)
    assert (merges, splits) == (0, 0)
    assert PAIRS // 2 <= equal < PAIRS
    assert len({proper(each.version, each.region) for each in pool}) == len({(each.version, each.cells) for each in pool})
    figure(row=16, n=PAIRS, seen=f"false merges 0, false splits 0 ({equal:,} pairs equal)")


def without_codes_of_a_column(version: str, region: Region) -> str:
    """Forgets which values of the last column a condition names."""
    nodes = [(level, [child for _, child in cuts] if level == 3 else cuts) for level, cuts in region.nodes]
    return f"{version} {region.diagram.root} {nodes}"


def without_the_version(version: str, region: Region) -> str:
    return region.digest


def of_the_text(version: str, region: Region) -> str:
    """Tells one meaning apart by how it came to be written."""
    return f"{version} {id(region)}"


@pytest.mark.trust
@pytest.mark.parametrize(
    ("key", "words"),
    [(without_codes_of_a_column, "ignores one column's codes"), (without_the_version, "ignores the dataset version")],
)
def test_a_key_that_leaves_something_out_merges_what_is_different(
    pool: list[Meant], key: Callable[[str, Region], str], words: str, figure: Figure
) -> None:
    merges, splits, _ = judged(pool, key)
    assert merges > 30 and splits == 0
    figure(row=16, n=PAIRS, mutant=f"a digest that {words}: {merges:,} false merges, caught")


@pytest.mark.trust
def test_a_key_of_anything_but_the_meaning_splits_what_is_the_same(pool: list[Meant], figure: Figure) -> None:
    merges, splits, _ = judged(pool, of_the_text)
    assert merges == 0 and splits > 100
    figure(row=16, n=PAIRS, mutant=f"a digest of the spelling: {splits:,} false splits, caught")


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
