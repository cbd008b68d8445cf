"""Made-up data sets with a neighbour, and made-up workloads: what people do one after the other, whatever the data say."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Rows = list[dict[str, str]]
Step = tuple[Any, ...]

CITIES = ("Oslo", "Rome", "Lima", "", "Kiel", "oslo ")  # the last two are none that the schema declares
MEMBER = ("true", "false", "", "perhaps")
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"always": True},
    {"column": "sex", "equals": "F"},
    {"column": "age", "at_least": 40},
    {"column": "age", "between": [20, 24]},
    {"not": {"column": "age", "less": 30}},
    {"column": "city", "in": ["Oslo", "Lima"]},
    {"column": "city", "missing": True},
    {"all": [{"column": "sex", "equals": "M"}, {"column": "member", "equals": True}]},
    {"any": [{"column": "age", "at_least": 90}, {"column": "city", "equals": "Rome"}]},
    {"all": [{"column": "age", "at_least": 60}, {"column": "age", "less": 50}]},  # nobody can be there
)
GROUPINGS: tuple[list[dict[str, Any]], ...] = (
    [{"column": "city"}],
    [{"column": "sex"}, {"column": "member"}],
    [{"column": "age", "bins": 5}],
    [{"column": "age", "edges": [0, 18, 65, 99]}],
)
ACCURACIES: tuple[dict[str, Any], ...] = (
    {"within": 2, "confidence": "0.95"},
    {"within": 4, "confidence": "0.9"},
    {"within": 3, "confidence": "0.99", "simultaneous": True},
    {"standard_error": "1.5"},
    {"rho": "0.3"},
    {"rho": "4"},
    {"relative": "0.5", "confidence": "0.9"},
    {"relative": "0.25", "confidence": "0.8"},
)
WRONG: tuple[dict[str, Any], ...] = (
    {"where": {"column": "salary", "equals": 1}, "accuracy": {"within": 5}},
    {"where": {"column": "city", "equals": "Kiel"}, "accuracy": {"within": 5}},
    {"where": {"always": True}, "accuracy": {"within": -5}},
    {"sql": "SELECT AVG(age) FROM people", "accuracy": {"within": 5}},
    {"sql": "SELECT COUNT(*) FROM people WHERE age = NULL", "accuracy": {"within": 5}},
    {"where": {"always": True}},
)
QUERY_PAGES = (
    "/queries/{q}/",
    "/queries/{q}/status/",
    "/queries/{q}/download.csv",
    "/queries/{q}/download.json",
    "/api/v1/queries/{q}/",
)
CONTRACT_PAGES = (
    "/contracts/{c}/", "/contracts/{c}/released/", "/contracts/{c}/compare/", "/contracts/{c}/budget/",
    "/api/v1/contracts/{c}/", "/api/v1/contracts/{c}/queries/", "/api/v1/contracts/{c}/releases/",
    "/api/v1/contracts/{c}/comparison/", "/",
)  # fmt: skip
AUDIT_PAGES = (
    "/audit/",
    "/api/v1/audit/?chain={c}",
    "/api/v1/audit/?chain=site",
    "/api/v1/audit/head/?chain={c}",
    "/audit/{c}/5/",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Two data sets that differ by one person, and the steps that are taken on either; `k` by contract."""

    seed: int
    rows: Rows
    without_one: Rows
    steps: tuple[Step, ...]


def plan(seed: int, *, length: int) -> Plan:
    """`length` steps over two contracts, number 0 of records and number 1 of persons with several."""
    generator = random.Random(seed)
    people = [_person(generator, number) for number in range(generator.randint(8, 14))]
    gone = generator.randrange(len(people))
    return Plan(
        seed=seed,
        rows=[row for records in people for row in records],
        without_one=[row for number, records in enumerate(people) for row in records if number != gone],
        steps=tuple(_steps(generator, length)),
    )


def _person(generator: random.Random, number: int) -> Rows:
    return [
        {
            "who": f"person-{number}",
            "age": generator.choice([str(generator.randint(0, 110)), "-7", "n/a", "33.5"][: generator.choice([1, 1, 1, 4])]),
            "sex": generator.choice("FM"),
            "city": generator.choice(CITIES),
            "member": generator.choice(MEMBER),
        }
        for _ in range(generator.choice([1, 1, 2, 4]))
    ]


def one_each(rows: Rows) -> Rows:
    """The first record of each person, for a contract in which one record is one person."""
    return list({row["who"]: row for row in reversed(rows)}.values())[::-1]


def _steps(generator: random.Random, length: int) -> list[Step]:
    kinds: dict[Callable[[random.Random], Step], int] = {
        _ask: 40, _wrong: 6, _again: 4, _run: 16, _page: 20, _quote: 6, _cancel: 3, _curate: 3, _upload: 1,
    }  # fmt: skip
    makers = generator.choices(list(kinds), list(kinds.values()), k=length)
    return [make(generator) for make in makers] + [("run", 0), ("run", 1)]


def _who(generator: random.Random) -> str:
    return generator.choice(["alice", "bob"])


def body(generator: random.Random) -> dict[str, Any]:
    """One question with its accuracy."""
    made: dict[str, Any] = {"accuracy": generator.choice(ACCURACIES), "where": generator.choice(CONDITIONS)}
    if generator.random() < 0.35:
        made["group_by"] = generator.choice(GROUPINGS)
    if generator.random() < 0.2:
        made["under_scarcity"] = "all_or_nothing"
    return made


def _ask(generator: random.Random) -> Step:
    return ("ask", generator.randrange(2), _who(generator), body(generator), f"key-{generator.getrandbits(64)}")


def _wrong(generator: random.Random) -> Step:
    return ("ask", generator.randrange(2), _who(generator), generator.choice(WRONG), f"key-{generator.getrandbits(64)}")


def _again(generator: random.Random) -> Step:
    """A few keys for everybody: what comes second is a repeat, or another body under the same key."""
    return ("ask", generator.randrange(2), _who(generator), body(generator), f"shared-{generator.randrange(3)}")


def _run(generator: random.Random) -> Step:
    return ("run", generator.randrange(2))


def _page(generator: random.Random) -> Step:
    kind = generator.random()
    if kind < 0.5:
        return ("query", generator.randrange(1000), generator.choice(QUERY_PAGES))
    if kind < 0.8:
        return ("get", generator.randrange(2), _who(generator), generator.choice(CONTRACT_PAGES))
    return ("get", generator.randrange(2), "dora", generator.choice(AUDIT_PAGES))


def _quote(generator: random.Random) -> Step:
    return ("quote", generator.randrange(2), _who(generator), body(generator))


def _cancel(generator: random.Random) -> Step:
    return ("cancel", generator.randrange(1000))


def _curate(generator: random.Random) -> Step:
    return (generator.choice(["freeze", "reopen", "raise", "allot"]), generator.randrange(2))


def _upload(generator: random.Random) -> Step:
    return ("upload", generator.randrange(2))
