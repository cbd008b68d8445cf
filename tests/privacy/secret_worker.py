"""Included by the worker of one test alone: a private cell makes whatever reads it fail, with the cell in its words.

A file `fail` in the folder that the test knows says where: describe, suggest, freeze, count, or abort (the process itself ends).
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from curator.engine import shapes
from curator.engine.opened import Opened
from curator.engine.suggesting import Suggester
from curator.mechanism.columns import Column
from curator.mechanism.region import Region

SECRET = "SECRET42"
FOLDER = Path(os.environ["SECRET_FOLDER"])
counted, look, encode, count = shapes._counted, Suggester._look, Column.encode_text, Opened.count


def _fail(where: str, text: object) -> None:
    told = (FOLDER / "fail").read_text()
    if told == where and SECRET in str(text):
        raise ValueError(f"could not read {text!r}")
    if told == "abort" and where == "freeze" and SECRET in str(text):
        os.abort()


def _counted(tidy: str, *, decimal_comma: bool) -> str:
    _fail("describe", tidy)
    return counted(tidy, decimal_comma=decimal_comma)


def _look(self: Suggester, text: str) -> None:
    _fail("suggest", text)
    look(self, text)


def _encode(self: Column, text: str | None, *more: object, **others: object) -> int:
    _fail("freeze", text)
    wrapped: Callable[..., int] = encode
    return wrapped(self, text, *more, **others)


def _count(self: Opened, regions: Sequence[Region]) -> list[int]:
    _fail("count", SECRET)
    return count(self, regions)


shapes._counted = _counted
Suggester._look = _look  # type: ignore[method-assign]  # what this module is for
Column.encode_text = _encode  # type: ignore[method-assign]  # what this module is for
Opened.count = _count  # type: ignore[method-assign]  # what this module is for
