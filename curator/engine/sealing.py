"""The seal around private data: what goes wrong inside comes out as one fixed failure, without values, text or traceback.

Libraries quote cells in their messages ("could not parse 'SECRET42'"), and a chained exception would carry them into every log.
So the failure is raised after the handler has ended: it has no cause, no context and none of the inner frames.
"""

import functools
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from curator.mechanism.errors import Refused

P = ParamSpec("P")
T = TypeVar("T")


class EngineFailed(Exception):
    """Something broke while private data was in hand; `where` (file and line of ours) and the code are all there is to know."""

    def __init__(self, code: str, where: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.where = where

    def __str__(self) -> str:
        return f"{self.code} ({self.where})" if self.where else self.code


def sealed(code: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a public function of the engine: any exception but a refusal leaves it as EngineFailed(code)."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except (Refused, EngineFailed) as known:
                failure: Refused | EngineFailed = known.with_traceback(None)
            except Exception as unknown:  # noqa: BLE001  # a seal with a list of exceptions leaks the first one forgotten
                failure = EngineFailed(code, _where(unknown))
            failure.__context__ = failure.__cause__ = None
            raise failure

        return guarded

    return decorate


def _where(error: Exception) -> str:
    """The innermost of our own lines that the error passed through; never the error's text."""
    here = Path(__file__).resolve().parent.parent
    lines = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if here in Path(frame.filename).resolve().parents
    ]
    return lines[-1] if lines else ""
