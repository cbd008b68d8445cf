"""The demonstration's stage: safe to set again, and never with people whom it did not make."""

import pytest

from curator.demo import stage
from curator.mechanism.errors import Conflict
from tests.cast import person


def test_setting_it_again_draws_new_passwords_for_the_same_people(db: None) -> None:
    first, again = stage.people(), stage.people()
    assert [user for user, _ in first.values()] == [user for user, _ in again.values()]
    assert not {password for _, password in first.values()} & {password for _, password in again.values()}


def test_a_real_alice_keeps_her_password(db: None) -> None:
    alice = person("alice", "analyst")
    before = alice.password
    with pytest.raises(Conflict, match="username_taken"):
        stage.people()
    alice.refresh_from_db()
    assert alice.password == before
