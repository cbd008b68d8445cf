"""Tasks that take long leave a process for answers, and show that they get on; no step of the sweep stands in another's way."""

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError

from accounts import throttles
from curator import queue, tasks
from curator.models import Verification
from curator.services import anchoring, audit, claiming, denials
from curator.services.audit import SITE, Event
from curator.services.verification import requested
from rdp_site import heartbeat
from tests.record.story import Story, begin

Bells = list[tuple[str, int]]
Owner = psycopg.Connection[Any]


@pytest.fixture
def story(db: None) -> Story:
    made = begin()
    audit.append_alone(SITE, Event("sign_in", "alice", {}))
    return made


@pytest.fixture
def bells(story: Story, monkeypatch: pytest.MonkeyPatch) -> Bells:
    rung: Bells = []
    monkeypatch.setattr(queue, "_send", lambda task, row_id: rung.append((task, row_id)))
    return rung


def ask(story: Story) -> Verification:
    return requested.start(owner=story.people.dora, chains=[SITE])


def take(owner: Owner, place: int = 0) -> None:
    """Take a place from another session, as another process at a long task does."""
    owner.execute("SELECT pg_advisory_lock(%s)", [claiming._LOCK_SPACE + claiming.LONG + place])


def leave(owner: Owner) -> None:
    owner.execute("SELECT pg_advisory_unlock_all()")


@pytest.mark.parametrize(("processes", "places"), [(1, 1), (2, 1), (4, 3)])
def test_one_process_of_several_is_left_for_answers(
    story: Story, owner_connection: Owner, settings: Any, processes: int, places: int
) -> None:
    settings.WORKERS = processes
    for place in range(places):
        with claiming.long_place(longest=60) as mine:
            assert mine
        take(owner_connection, place)
    with claiming.long_place(longest=60) as mine:
        assert not mine
    leave(owner_connection)


def test_a_second_long_task_leaves_at_once_and_the_sweep_rings_for_it(
    story: Story, bells: Bells, owner_connection: Owner
) -> None:
    made = ask(story)
    take(owner_connection)
    tasks.verify_record(made.pk)
    made.refresh_from_db()
    assert (made.state, made.attempts) == ("waiting", 0)
    bells.clear()
    tasks.sweep()
    assert (queue.VERIFY_RECORD, made.pk) in bells
    leave(owner_connection)
    tasks.verify_record(made.pk)
    made.refresh_from_db()
    assert made.state == "done"


def test_who_is_done_rings_for_the_next_and_who_is_not_rings_for_nobody(
    story: Story, bells: Bells, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ask(story), ask(story)
    bells.clear()
    with monkeypatch.context() as patch:
        patch.setattr(requested, "run", lambda *_, **__: None)  # another worker has it
        tasks.verify_record(first.pk)
    assert bells == []
    tasks.verify_record(first.pk)
    assert bells == [(queue.VERIFY_RECORD, second.pk)]


def test_a_verification_shows_that_it_gets_on(story: Story, bells: Bells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requested, "PROGRESS_SECONDS", 0)
    heartbeat.FILE.touch()
    os.utime(heartbeat.FILE, (0, 0))
    tasks.verify_record(ask(story).pk)
    assert (heartbeat.silence() or 0) < 3600


def test_a_step_of_the_sweep_that_fails_holds_up_no_other(
    story: Story, bells: Bells, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, settings: Any
) -> None:
    def broken() -> int:
        raise OperationalError("somebody's SECRET42")

    settings.ANCHORS, settings.ANCHOR_STATE, settings.ANCHOR_SECONDS = str(tmp_path / "anchors"), tmp_path / "left", 0.0
    monkeypatch.setattr(denials, "tell", broken)
    monkeypatch.setattr(throttles, "forget_full", broken)
    tasks.sweep()
    assert (tmp_path / "anchors").exists() and anchoring.leave() == 0
    assert "denials failed (OperationalError)" in caplog.text and "SECRET42" not in caplog.text
