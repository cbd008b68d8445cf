"""What breaks around private data comes out as a code: the secret is nowhere, in no message and no traceback."""

import pickle
import traceback
from pathlib import Path

import pytest

from curator.engine import backends, counts
from curator.engine.sealing import EngineFailed, sealed
from curator.mechanism.columns import Column
from curator.mechanism.errors import Refused
from curator.mechanism.region import Region
from tests.engine.tables import category, frozen, number, put, schema

SECRET = "SECRET42"


def everything(error: BaseException) -> str:
    """All that a log, a traceback with its chain, or a pickle could show of an exception."""
    return "\n".join([str(error), repr(error), *traceback.format_exception(error), repr(vars(error)), repr(pickle.dumps(error))])


def test_a_failure_on_a_private_cell_shows_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(column: Column, text: str | None) -> int:
        raise ValueError(f"could not read {text}")

    monkeypatch.setattr(Column, "encode_text", fail)
    with pytest.raises(EngineFailed, match="freeze_failed") as caught:
        frozen(put(tmp_path, f"city\n{SECRET}\n"), schema(category("city", "Rome")))
    assert SECRET not in everything(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.where.startswith("coding.py:")


def test_a_failure_of_an_engine_shows_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = schema(number("a"))
    version, _ = frozen(put(tmp_path, "a\n1\n"), described)

    def fail(path: Path) -> backends.Source:
        raise RuntimeError(f"{SECRET} rows")

    monkeypatch.setitem(backends.OPENERS, "polars", fail)
    with pytest.raises(EngineFailed, match="count_failed") as caught:
        counts.count(version, [Region.full(described)])
    assert SECRET not in everything(caught.value)


def test_a_refusal_passes_but_leaves_its_history_behind() -> None:
    @sealed("broken")
    def refuse() -> None:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise Refused("no_good", "Not like this.") from error

    with pytest.raises(Refused, match="no_good") as caught:
        refuse()
    assert SECRET not in "\n".join(traceback.format_exception(caught.value))


def test_what_stops_the_process_is_not_held_up() -> None:
    @sealed("broken")
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()


@pytest.mark.parametrize("content", [f"id,city\n1,{SECRET},3\n", f'id,city\n1,"{SECRET}\n', f"id,city\n{SECRET}\n"])
def test_a_refused_file_is_not_quoted(tmp_path: Path, content: str) -> None:
    with pytest.raises(Refused) as caught:
        frozen(put(tmp_path, content), schema(category("city", "Rome")))
    shown = "\n".join([*traceback.format_exception(caught.value), repr(vars(caught.value)), repr(caught.value.operands)])
    assert SECRET not in shown
