"""Carol invites people: a link works once, for a while, unless it is taken back, and takes no account over."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from accounts import hashing, invitations
from accounts.models import Invitation, Membership, Role, User
from accounts.services import deactivate
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused
from curator.models import AnalystBudget, AuditEvent, Notice
from curator.services import contracts
from curator.services.verification import verify
from tests.cast import person
from tests.record.events import data_of, kinds_of
from tests.record.story import OVER_40, Story, amount, begin

GOOD = "correct horse battery"


@pytest.fixture
def story(db: None) -> Story:
    return begin(allotments={"alice": "0.05"})


def invite(story: Story, role: str = Role.ANALYST, allotment: str | None = "0.1", **more: Any) -> str:
    """The secret of a new invitation of Carol's."""
    given = amount(allotment) if allotment is not None and role == Role.ANALYST else None
    return invitations.invite(curator=story.people.carol, contract=story.contract, role=role, allotment=given, **more)[1]


def join(secret: str, username: str = "nina", **more: str) -> User:
    return invitations.join(secret=secret, username=username, password=GOOD, **more)


def gone(secret: str) -> bool:
    try:
        invitations.find(secret)
    except NotYours:
        return True
    return False


def test_nina_joins_with_the_role_and_allotment_that_carol_chose(story: Story) -> None:
    secret = invite(story, email="nina@example.org")
    nina = join(secret)
    assert (nina.roles, nina.email, nina.check_password(GOOD)) == ([Role.ANALYST], "nina@example.org", True)
    assert AnalystBudget.objects.get(analyst=nina).allotment == amount("0.1")
    assert kinds_of(story.contract)[-3:] == ["invitation.made", "member.added", "allotment.set"]
    made, added = data_of(story.contract, "invitation.made"), data_of(story.contract, "member.added")
    assert added == {"user": "nina", "role": "analyst", "invitation": made["invitation"]}
    assert "nina@example.org" not in str(made)
    assert Notice.objects.filter(user=story.people.carol, kind=Notice.Kind.JOINED).count() == 1
    assert verify([story.contract]).first_difference is None


def test_a_link_works_once(story: Story) -> None:
    secret = invite(story)
    join(secret)
    with pytest.raises(NotYours):
        join(secret, "otto")
    with pytest.raises(NotYours):
        invitations.accept(user=person("otto", Role.ANALYST), secret=secret)
    assert not User.objects.filter(username="otto", memberships__isnull=False).exists()


def test_of_eight_who_use_one_link_at_once_one_gets_in(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "PATIENCE", 60.0)  # each gets a turn, however busy the machine
    secret, start = invite(story), threading.Barrier(8)

    def work(number: int) -> str:
        start.wait()
        try:
            join(secret, f"guest{number}")
            return "in"
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(work, range(8)))
    assert codes == ["in", *["not_found"] * 7]
    assert User.objects.filter(username__startswith="guest").count() == 1
    assert Membership.objects.filter(user__username__startswith="guest").count() == 1


def test_only_a_digest_of_the_link_is_kept(story: Story) -> None:
    secret = invite(story)
    assert secret not in str(vars(Invitation.objects.get()))
    told = "".join(bytes(event.body).decode() for event in AuditEvent.objects.all())
    assert secret not in told
    assert Invitation.objects.get().digest not in told


def test_a_link_ends_by_time_by_carol_and_with_carols_own_place(story: Story) -> None:
    old, taken, orphan = invite(story), invite(story), invite(story)
    assert not gone(old)
    row = Invitation.objects.get(digest=invitations._digest(taken))
    invitations.revoke(curator=story.people.carol, invitation=row)
    assert gone(taken)
    with pytest.raises(Conflict) as refusal:
        invitations.revoke(curator=story.people.carol, invitation=row)
    assert refusal.value.code == "already_ended"
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=story.people.carol, contract=story.contract, user=cyril, role=Role.CURATOR)
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=story.people.carol, role=Role.CURATOR)
    assert gone(orphan)
    assert gone(old)


def test_a_link_that_is_over_opens_nothing(story: Story) -> None:
    Invitation.objects.create(
        contract=story.contract, role=Role.ANALYST, digest=invitations._digest("late"), invited_by=story.people.carol,
        expires_at=timezone.now() - timedelta(seconds=1),
    )  # fmt: skip
    assert gone("late")
    with pytest.raises(NotYours):
        join("late")


def test_a_link_to_a_closed_contract_opens_nothing(story: Story) -> None:
    secret = invite(story)
    contracts.close(curator=story.people.carol, contract=story.contract, reason="over")
    assert gone(secret)


def test_no_account_is_taken_over(story: Story) -> None:
    deactivate(by=story.people.carol, user=story.people.bob)
    secret = invite(story)
    for name in ("alice", "ALICE", "bob"):
        with pytest.raises(Conflict) as refusal:
            join(secret, name)
        assert refusal.value.code == "username_taken"
    assert not User.objects.get(username="bob").is_active
    assert not gone(secret)


@pytest.mark.parametrize(("username", "password"), [("", GOOD), ("a b", GOOD), ("nina", "short"), ("nina", "12345678901")])
def test_what_makes_no_account_leaves_the_link_good(story: Story, username: str, password: str) -> None:
    secret = invite(story)
    with pytest.raises(BadInput):
        invitations.join(secret=secret, username=username, password=password)
    assert not gone(secret)
    assert not User.objects.filter(username="nina").exists()


def test_dora_accepts_a_second_role_and_keeps_the_first(story: Story) -> None:
    invitations.accept(user=story.people.dora, secret=invite(story))
    dora = User.objects.get(username="dora")
    assert dora.roles == ["analyst", "auditor"]
    assert AuditEvent.objects.filter(chain="site", kind="role.changed", actor="carol").count() == 1


def test_nobody_accepts_their_own_invitation_or_twice_the_same_place(story: Story) -> None:
    codes = []
    for user in (story.people.carol, story.people.alice):
        with pytest.raises(Conflict) as refusal:
            invitations.accept(user=user, secret=invite(story))
        codes.append(refusal.value.code)
    assert codes == ["own_invitation", "already_member"]
    assert User.objects.get(username="carol").roles == ["curator"]


def test_alice_removed_and_invited_again_has_spent_what_she_had(story: Story) -> None:
    alice = story.people.alice
    story.ask(alice, OVER_40, {"within": 20})
    spent = AnalystBudget.objects.get(analyst=alice).spent
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=alice, role=Role.ANALYST)
    with pytest.raises(Conflict) as refusal:
        invitations.accept(user=alice, secret=invite(story, allotment="0.000000001"))
    assert refusal.value.code == "below_spent"
    invitations.accept(user=alice, secret=invite(story, allotment="0.05"))
    budget = AnalystBudget.objects.get(analyst=alice)
    assert (budget.spent, budget.allotment) == (spent, amount("0.05"))
    assert spent > 0
    assert verify([story.contract]).first_difference is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"role": "king"}, "role"), ({"role": Role.AUDITOR, "allotment": 5}, "allotment"), ({"allotment": -1}, "allotment"),
        ({"days": 0}, "days"), ({"days": 31}, "days"), ({"email": "nowhere"}, "email"),
        ({"email": "a@example.org\nBcc: all@example.org"}, "email"),
    ],
)  # fmt: skip
def test_what_cannot_be_invited(story: Story, given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        invitations.invite(curator=story.people.carol, contract=story.contract, **{"role": Role.ANALYST, **given})
    assert refusal.value.field == field
    assert not Invitation.objects.exists()


def test_only_its_curators_invite_and_take_back(story: Story) -> None:
    row = invitations.invite(curator=story.people.carol, contract=story.contract, role=Role.AUDITOR)[0]
    for somebody in (story.people.alice, story.people.dora, person("cyril", Role.CURATOR)):
        with pytest.raises(NotYours):
            invitations.invite(curator=somebody, contract=story.contract, role=Role.AUDITOR)
        with pytest.raises(NotYours):
            invitations.revoke(curator=somebody, invitation=row)


def test_the_mail_has_the_link_and_a_server_that_is_away_only_means_that_carol_passes_it_on(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, secret = invitations.invite(
        curator=story.people.carol, contract=story.contract, role=Role.AUDITOR, email="nina@example.org"
    )
    assert invitations.send(made, secret)
    assert secret in mail.outbox[0].body
    assert mail.outbox[0].to == ["nina@example.org"]
    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    assert not invitations.send(made, secret)


def refuse(*_: object) -> int:
    raise ConnectionRefusedError


def test_an_invitation_changes_in_nothing_but_its_end(story: Story, owner_connection: psycopg.Connection[Any]) -> None:
    invite(story)
    for change in ("role = 'curator'", "allotment = 1", "digest = 'x'", "expires_at = now()", "invited_by_id = 1"):
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner_connection.execute(f"UPDATE accounts_invitation SET {change}")
    with pytest.raises(psycopg.errors.RestrictViolation):
        owner_connection.execute("DELETE FROM accounts_invitation")
