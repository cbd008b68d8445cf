"""A page of a list that may be long: found from its neighbour by key, never by counting, at the same cost at any depth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items and the mark to continue from; `more` is empty on the last page."""

    items: tuple[Item, ...]
    more: str = ""
    first: bool = True


def cut(rows: Sequence[Item], limit: int) -> tuple[Sequence[Item], bool]:
    """Split off the one row read beyond `limit` that only says whether there is more."""
    return rows[:limit], len(rows) > limit
