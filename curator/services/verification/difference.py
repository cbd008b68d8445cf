"""How a contradiction in the record is told: the table, the row's id, what it says and what follows from the rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from curator.mechanism.errors import Refused

Row = TypeVar("Row")


class Difference(Exception):
    """The first place at which the record contradicts itself."""


def same(place: str, what: str, found: object, expected: object) -> None:
    """Raise Difference unless a row says what it has to say. Values are shown as literals: none can break a line."""
    if found != expected:
        raise Difference(f"{place}: {what} is {found!r}, expected {expected!r}")


def present(row: Row | None, place: str, detail: str) -> Row:
    """The row, or Difference with `detail` where there is none."""
    if row is None:
        raise Difference(f"{place}: {detail}")
    return row


def require(held: bool, place: str, detail: str) -> None:
    """Raise Difference with `detail` unless something holds."""
    if not held:
        raise Difference(f"{place}: {detail}")


@contextmanager
def readable(place: str) -> Iterator[None]:
    """An event that lacks an operand, or has one of the wrong kind, is a difference and no crash."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, Refused) as error:
        raise Difference(f"{place}: its operands do not make sense ({type(error).__name__})") from error
