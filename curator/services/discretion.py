"""What the database refuses to write is told by its code and constraint alone.

A refused row is quoted in the error's detail, and in it values that were drawn and will never be released: an exception with that
text would carry them into the worker's log. So it is replaced by one without cause, context or inner frames.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import psycopg
from django.db import DataError, IntegrityError, InternalError, ProgrammingError

P = ParamSpec("P")
T = TypeVar("T")

QUOTING = (DataError, IntegrityError, InternalError, ProgrammingError)


class WriteRefused(Exception):
    """The database refused a row; nothing of the transaction was kept."""


def discreet(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate what writes drawn values, its transaction included: a refusal of the database leaves it as WriteRefused."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except QUOTING as error:
            failure = WriteRefused(_names(error))
        raise failure

    return guarded


def _names(error: Exception) -> str:
    """Code, table and constraint of a refusal."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.Error):
        return type(error).__name__
    parts = (cause.sqlstate, cause.diag.table_name, cause.diag.constraint_name)
    return " ".join(part for part in parts if part)
