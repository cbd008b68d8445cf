"""The verifier that needs no product: it agrees with an honest record and names the first place of a dishonest one."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curator.mechanism import receipts
from curator.mechanism.chain import GENESIS
from curator.selectors import exports
from curator.services.audit import SITE, Event, append_alone, chain_of
from curator.services.verification import standalone
from tests.record.exported import Told, difference, edited, load, rehashed, spent_of, written
from tests.record.story import busy_week

SCRIPT = Path(standalone.__file__)


def run(*words: object) -> tuple[int, str]:
    """The script in an interpreter that sees no installed package and none of ours."""
    words = (sys.executable, "-I", "-S", SCRIPT, *words)
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd="/")
    return done.returncode, done.stdout + done.stderr


def test_an_honest_record_is_consistent_and_replayed(db: None, settings: Any, tmp_path: Path) -> None:
    settings.TICK_MS = 0
    story = busy_week()
    append_alone(SITE, Event("sign_in", "alice", {}))
    chain = chain_of(story.contract)
    record, anchors = tmp_path / "record.ndjson", tmp_path / "anchors.jsonl"
    record.write_bytes(b"".join(exports.record([SITE, chain])))
    anchors.write_bytes(b"".join(map(receipts.line, exports.newest([chain]))))
    code, said = run(record, "--anchor", anchors)
    assert (code, said[:28]) == (0, "The record is consistent: 2 "), said
    assert "1 anchors" in said
    anchors.write_bytes(b"".join(receipts.line(replace(each, state="open")) for each in exports.newest([chain])))
    assert run(record, "--anchor", anchors)[0] == 0
    code, said = run(record)
    assert (code, "No anchor was given" in said) == (0, True)


def test_a_head_noted_before_the_first_event_is_of_the_same_record(db: None, settings: Any) -> None:
    settings.TICK_MS = 0
    chain = chain_of(busy_week().contract)
    nothing = {"at": "2026-01-01T00:00:00Z", "chain": chain, "head": GENESIS, "seq": 0, "spent": 0}
    record = [("line", line) for line in exports.record([chain])]
    assert standalone.verify(record, {chain: [nothing]})["anchors"] == 1
    with pytest.raises(standalone.Difference):
        standalone.verify(record, {chain: [nothing | {"head": "f" * 64}]})


@pytest.fixture
def told(db: None, settings: Any) -> tuple[str, list[Told]]:
    """The chain of a busy week."""
    settings.TICK_MS = 0
    chain = chain_of(busy_week().contract)
    return chain, load(chain)


def test_a_difference_is_named_and_ends_in_failure(told: tuple[str, list[Told]], tmp_path: Path) -> None:
    chain, events = told
    record = tmp_path / "record.ndjson"
    record.write_bytes(b"".join(line for _, line in written(chain, [*events[:6], *events[7:]])))
    code, said = run(record)
    missing = "it follows event 6: something is missing, doubled or out of order"
    assert (code, said) == (1, f"DIFFERENCE chain {chain}, event 8: {missing}\n")
    assert run(tmp_path / "nothing")[0] == 2


def test_an_empty_file_is_no_record(tmp_path: Path) -> None:
    record = tmp_path / "record.ndjson"
    record.touch()
    code, said = run(record)
    assert (code, said) == (1, "DIFFERENCE the record: it is empty: an export has at least one chain's closing line\n")


def test_a_download_that_was_cut_shows(told: tuple[str, list[Told]]) -> None:
    chain, events = told
    lines = written(chain, events)
    with pytest.raises(standalone.Difference, match="without its closing line"):
        standalone.verify(lines[:-1], {})
    for length in (1, 40, len(lines[5][1]) - 1):
        with pytest.raises(standalone.Difference, match="line 6: neither an event nor a noted head"):
            standalone.verify([*lines[:5], (lines[5][0], lines[5][1][:length])], {})


def test_anchors_of_every_place_agree(told: tuple[str, list[Told]]) -> None:
    chain, events = told
    anchors: list[dict[str, Any]] = [
        {"at": "now", "chain": chain, "head": e.head, "seq": e.seq, "spent": spent_of(events, e.seq)} for e in events
    ]
    assert not difference(chain, events, {chain: anchors})
    for anchor in anchors:
        assert "spent is" in difference(chain, events, {chain: [anchor | {"spent": anchor["spent"] + 1}]})
        assert "head is" in difference(chain, events, {chain: [anchor | {"head": "0" * 64}]})
    assert "anchors speak of it" in difference(chain, events, {"site": anchors})


def test_an_unknown_kind_of_event_is_chained_and_not_replayed(told: tuple[str, list[Told]]) -> None:
    chain, events = told
    unknown = edited(events[-1], kind="something.new", data={}, query=None)
    assert not difference(chain, rehashed([*events, unknown]))


def test_somebody_deciding_their_own_request_is_found(told: tuple[str, list[Told]]) -> None:
    chain, events = told
    at = next(at for at, event in enumerate(events) if event.data["kind"] == "budget.approved")
    other = rehashed([*events[:at], edited(events[at], actor="alice"), *events[at + 1 :]])
    assert "somebody decided their own request" in difference(chain, other)


def test_the_script_is_one_file_that_imports_the_standard_library_only() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", SCRIPT.read_text(), flags=re.M)
    assert set(imported) <= set(sys.stdlib_module_names)
