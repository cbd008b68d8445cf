"""Heads noted outside the database: in a file that only grows, and by e-mail; when it is time, for chains that grew."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ImproperlyConfigured

from curator.mechanism import receipts
from curator.mechanism.receipts import Receipt
from curator.selectors import exports
from curator.services import anchoring, mailing
from curator.services.audit import SITE, Event, append_alone, chain_of
from curator.services.verification import verify
from curator.tasks import sweep
from tests.record.story import begin
from tests.site.commands import python


@pytest.fixture
def file(db: None, settings: Any, tmp_path: Path) -> Path:
    """An anchor file, and settings that leave an anchor at every sweep."""
    settings.ANCHORS, settings.ANCHOR_STATE, settings.ANCHOR_SECONDS = str(tmp_path / "anchors.jsonl"), tmp_path / "left", 0.0
    return Path(settings.ANCHORS)


def noted(path: Path) -> list[Receipt]:
    with path.open("rb") as opened:
        return list(receipts.read(opened))


def happen() -> None:
    append_alone(SITE, Event("sign_in", "alice", {}))


def test_the_sweep_notes_every_chain_once_and_then_those_that_grew(file: Path) -> None:
    story = begin()
    happen()
    sweep()
    assert {anchor.chain for anchor in noted(file)} == {SITE, chain_of(story.contract)}
    assert {anchor.head for anchor in noted(file)} == {head.head for head in exports.newest([SITE, chain_of(story.contract)])}
    first = file.read_bytes()
    sweep()
    assert file.read_bytes() == first
    happen()
    sweep()
    assert file.read_bytes().startswith(first)
    assert [anchor.chain for anchor in noted(file)[2:]] == [SITE]
    assert verify(receipts=noted(file)).ok
    assert oct(file.stat().st_mode)[-3:] == "600"


def test_nothing_is_noted_before_it_is_time(file: Path, settings: Any) -> None:
    happen()
    assert anchoring.leave() == 1
    settings.ANCHOR_SECONDS = 3600.0
    happen()
    assert anchoring.leave() == 0
    os.utime(anchoring.state_of(settings.ANCHORS), (0, 0))
    assert anchoring.leave() == 1


def test_a_letter_has_lines_that_the_verifiers_take(file: Path, settings: Any) -> None:
    settings.ANCHORS, settings.ANCHOR_MAIL = "", "dora@example.org"
    happen()
    assert mailing.deliver() == 1
    (letter,) = mail.outbox
    assert letter.to == ["dora@example.org"]
    lines = [line.encode() + b"\n" for line in letter.body.splitlines() if line.startswith("{")]
    assert [anchor.chain for anchor in receipts.read(lines)] == [SITE]
    assert not file.exists()


def test_a_mail_server_that_is_away_repeats_nothing_in_the_file(
    file: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANCHOR_MAIL, settings.EMAIL_BACKEND = "dora@example.org", "django.core.mail.backends.locmem.EmailBackend"
    happen()
    with monkeypatch.context() as patch:
        patch.setattr(f"{settings.EMAIL_BACKEND}.send_messages", away)
        for _ in range(3):
            anchoring.leave()
            with pytest.raises(ConnectionRefusedError):
                mailing.deliver()
        assert len(noted(file)) == 1
    happen()
    assert mailing.deliver() == 1
    assert '"seq":2' in mail.outbox[0].body


def away(*_: object) -> int:
    raise ConnectionRefusedError


def test_a_letter_that_is_refused_waits_for_its_next_time(file: Path, settings: Any) -> None:
    settings.ANCHOR_MAIL, settings.ANCHOR_SECONDS = "dora@example.org", 3600.0
    happen()
    assert not anchoring.mail(lambda letter: False)
    assert not anchoring.is_mail_due()
    os.utime(anchoring.state_of("dora@example.org"), (0, 0))
    assert anchoring.mail(lambda letter: "chain" in str(letter.body))


def test_a_new_target_gets_every_chain_and_half_a_state_is_none(file: Path, settings: Any) -> None:
    happen()
    assert [anchoring.leave(), anchoring.leave()] == [1, 0]
    settings.ANCHORS = str(file.with_name("other.jsonl"))
    assert anchoring.leave() == 1
    state = anchoring.state_of(settings.ANCHORS)
    state.write_bytes(state.read_bytes()[:20])
    assert anchoring.leave() == 1


def test_a_line_that_a_crash_left_unfinished_is_cut_off_and_the_rest_stays(file: Path) -> None:
    happen()
    anchoring.leave()
    whole = file.read_bytes()
    with file.open("ab") as opened:
        opened.write(whole[:50])
    happen()
    anchoring.leave()
    assert file.read_bytes().startswith(whole)
    assert [anchor.seq for anchor in noted(file)] == [1, 2]


def test_what_could_not_be_written_is_written_by_a_later_sweep(file: Path, settings: Any) -> None:
    settings.ANCHORS = str(file.parent / "missing" / "anchors.jsonl")
    happen()
    assert anchoring.leave() == 0
    (file.parent / "missing").mkdir()
    assert anchoring.leave() == 1


def test_a_file_beside_the_database_is_refused(tmp_path: Path) -> None:
    variables = {"RDP_VAR": str(tmp_path), "RDP_ANCHORS": str(tmp_path / "a" / "anchors.jsonl")}
    words = "try:\n    import rdp_site.settings\nexcept Exception as error:\n    print(type(error).__name__, error)\n"
    said = python(words, env=dict(os.environ) | variables)
    assert said.startswith(f"{ImproperlyConfigured.__name__} RDP_ANCHORS: expected a file outside RDP_VAR")
