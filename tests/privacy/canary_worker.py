"""Included by the workers of the canary test alone: every exact count and every draw of noise gets nine digits of its own.

They are noted in a folder that only the test knows, which also says what is to fail next (`fail`), and what is to leak (`leak`).
"""

import logging
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from curator.engine import describing, shapes
from curator.engine.opened import Opened
from curator.mechanism import noise
from curator.mechanism.region import Region
from curator.services import recording
from curator.services.drawing import Settled
from curator.services.standing import Standing

logger = logging.getLogger("tests.canary")
FOLDER = Path(os.environ["CANARY_FOLDER"])


def _canary(kind: str) -> int:
    number = 100_000_000 + secrets.randbelow(900_000_000)
    _note(kind, number)
    return number


def _note(kind: str, number: int) -> None:
    with (FOLDER / kind).open("a") as file:
        file.write(f"{number}\n")


def _told(name: str) -> str:
    place = FOLDER / name
    return place.read_text() if place.exists() else ""


def _count(self: Opened, regions: Sequence[Region]) -> list[int]:
    numbers = [_canary("exact") for _ in regions]
    if _told("fail") == "engine":
        raise ValueError(f"could not convert {numbers} of {self}")
    if "log" in _told("leak"):
        logger.info("counted %s", numbers)
    return numbers


def _measurement(scale: float, process: int) -> Callable[[Sequence[int]], list[int]]:
    def draw(counts: Sequence[int]) -> list[int]:
        drawn = [_canary("noise") * secrets.choice((1, -1)) for _ in counts]
        for exact, each in zip(counts, drawn, strict=True):
            _note("value", exact + each)
        return [exact + each for exact, each in zip(counts, drawn, strict=True)]

    return draw


def _write(now: Standing, settled: Sequence[Settled]) -> None:
    write(now, settled)
    if _told("fail") == "settle":
        raise RuntimeError("something nobody thought of, after everything was drawn and written")


def _event(each: Settled) -> object:
    told = event(each)
    if "event" in _told("leak"):
        told.data["seen"] = int(_told("noise").split()[-1])  # type: ignore[index]  # a dict, as `recording` made it
    return told


def _count_shapes(texts: pa.DictionaryArray, *rest: Any, **more: Any) -> None:
    count_shapes(texts, *rest, **more)
    if "cell" in _told("leak"):
        logger.info("odd cells such as %s", texts.dictionary[0])


count_shapes = shapes.count_shapes
describing.count_shapes = _count_shapes  # type: ignore[attr-defined]  # what this module is for
write, event = recording.write, recording._event
Opened.count = _count  # type: ignore[method-assign]  # what this module is for
noise._measurement = _measurement  # type: ignore[assignment]  # what this module is for
recording.write = _write
recording._event = _event  # type: ignore[assignment]  # what this module is for
