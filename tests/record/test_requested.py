"""Verifications that somebody asked for: progress while they go on, taken up after a crash, given up after two."""

from typing import Any

import psycopg
import pytest

from curator.models import AuditEvent, Verification
from curator.services import audit
from curator.services.audit import SITE, Event
from curator.services.verification import requested
from tests.record.story import Story, begin


@pytest.fixture
def story(db: None) -> Story:
    made = begin()
    audit.append_alone(SITE, Event("sign_in", "alice", {}))
    return made


def ask(story: Story, *chains: str) -> Verification:
    return requested.start(owner=story.people.dora, chains=list(chains))


def test_progress_is_seen_while_it_goes_on(
    story: Story, owner_connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requested, "PROGRESS_SECONDS", 0)
    made, seen = ask(story, SITE, audit.chain_of(story.contract)), []
    add = requested.Counted.add

    def watched(counted: requested.Counted, events: int) -> None:
        add(counted, events)
        row = owner_connection.execute("SELECT state, done, total FROM curator_verification WHERE id = %s", [made.pk]).fetchone()
        seen.append(row)

    monkeypatch.setattr(requested.Counted, "add", watched)
    requested.run(made.pk)
    made.refresh_from_db()
    assert seen[0] == ("waiting", 1, made.total)
    assert (made.state, made.ok, made.done) == ("done", True, made.total)
    assert AuditEvent.objects.filter(kind="record.verified", actor="dora").count() == 2


def test_a_run_that_died_twice_has_failed_and_said_nothing(story: Story) -> None:
    made = ask(story, SITE)
    Verification.objects.update(attempts=2)
    requested.run(made.pk)
    made.refresh_from_db()
    assert (made.state, made.ok) == ("failed", None)
    assert not AuditEvent.objects.filter(kind="record.verified").exists()


def test_a_second_bell_does_it_no_second_time(story: Story) -> None:
    made = ask(story, SITE)
    for _ in range(3):
        requested.run(made.pk)
    assert AuditEvent.objects.filter(kind="record.verified").count() == 1


def test_a_difference_is_kept_with_its_place(story: Story, owner_connection: psycopg.Connection[Any]) -> None:
    owner_connection.execute("ALTER TABLE curator_auditevent DISABLE TRIGGER USER")
    owner_connection.execute("UPDATE curator_auditevent SET actor = 'mallory' WHERE chain = 'site'")
    made = ask(story, SITE)
    requested.run(made.pk)
    made.refresh_from_db()
    assert (made.ok, "actor is 'mallory'" in made.first_difference) == (False, True)
