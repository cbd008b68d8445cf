"""Made-up people for rehearsals, drawn from a public schema alone: they tell nothing about anybody.

Every column is drawn by itself and evenly over its declared values, with a few `missing` and `other` where the schema has them.
Python's seeded `random` is right here: the people must be the same at every rehearsal of a schema, and nothing private is near.
"""

import random
from collections.abc import Collection, Sequence
from functools import lru_cache

from curator.mechanism.columns import Column
from curator.mechanism.schema import Schema

PEOPLE = 1_000
RARE = 0.04  # share of each of `missing` and `other` in a column that has them
NOBODY_LOOKS = (0,) * PEOPLE  # a column that the question does not use


def made_up(schema: Schema, columns: Collection[str]) -> Sequence[tuple[int, ...]]:
    """PEOPLE people as codes, one for each column in schema order; columns that are not named are all 0."""
    return tuple(
        zip(*(_drawn(column) if column.name in columns else NOBODY_LOOKS for column in schema.columns), strict=True)
    )  # fmt: skip


@lru_cache(maxsize=256)
def _drawn(column: Column) -> tuple[int, ...]:
    """The same codes for equal columns, whatever else is in the schema."""
    rng = random.Random(f"{column.name}, one of a thousand made-up people")
    return tuple(_code(column, rng) for _ in range(PEOPLE))


def _code(column: Column, rng: random.Random) -> int:
    for rare in (column.missing_code, column.other_code):
        if rare is not None and rng.random() < RARE:
            return rare
    return rng.randrange(column.value_count)
