"""The verifier that needs no product: it agrees with an honest record and names the first place of a dishonest one."""

import subprocess
import sys
from pathlib import Path

from curator.mechanism import receipts
from curator.selectors import exports
from curator.services.audit import SITE, Event, append_alone, chain_of
from curator.services.verification import standalone
from tests.record.story import busy_week

SCRIPT = Path(standalone.__file__)


def run(*words: object) -> tuple[int, str]:
    """The script in an interpreter that sees no installed package and none of ours."""
    words = (sys.executable, "-I", "-S", SCRIPT, *words)
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd="/")
    return done.returncode, done.stdout + done.stderr


def test_an_honest_record_is_consistent_and_replayed(db: None, tmp_path: Path) -> None:
    story = busy_week()
    append_alone(SITE, Event("sign_in", "alice", {}))
    chain = chain_of(story.contract)
    record, anchors = tmp_path / "record.ndjson", tmp_path / "anchors.jsonl"
    record.write_bytes(b"".join(exports.record([SITE, chain])))
    anchors.write_bytes(b"".join(map(receipts.line, exports.newest([chain]))))
    code, said = run(record, "--anchor", anchors)
    assert (code, said[:28]) == (0, "The record is consistent: 2 "), said
    assert "1 anchors" in said
    code, said = run(record)
    assert (code, "No anchor was given" in said) == (0, True)
