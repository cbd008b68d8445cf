"""Mail: once each, in nobody's way, without figures, and nothing that somebody wrote ever becomes a header."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any

import psycopg
import pytest
from celery import current_app
from django.core import mail
from django.core.mail.backends import locmem
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone

from accounts import resets
from accounts.models import ResetRequest, User
from curator import queue
from curator.mechanism.errors import BadInput
from curator.models import Notice, Query
from curator.services import mailing, notices, queries
from tests.fixtures.worker import Worker
from tests.record.story import OVER_40, Story, begin
from tests.worker.scene import until

Kind = Notice.Kind


@pytest.fixture
def story(db: None) -> Iterator[Story]:
    with override_settings(MAIL_AFTER=0.0, SITE_URL="https://counts.example.org"):
        made = begin(allotments={"alice": "0.1"})
        Notice.objects.update(mailed_at=timezone.now())  # of being added
        yield made


def test_an_answer_is_mailed_once_with_its_label_and_address_and_no_figure(story: Story) -> None:
    query = story.ask(story.people.alice, OVER_40, {"within": 20}, label="Über 40: <b>x</b>")
    assert [mailing.deliver(), mailing.deliver()] == [1, 0]
    sent = mail.outbox[0]
    assert (sent.to, sent.subject) == (["alice@example.org"], "Residual: An answer is ready")
    assert "Your question is answered: Über 40: <b>x</b> (The people of 2020)" in sent.body
    assert f"https://counts.example.org/queries/{query.uid}/" in sent.body
    value = query.answers.get().value
    told = sent.body.replace(str(query.uid), "").replace("Über 40", "").replace("2020", "")
    assert str(value) not in told
    assert not any(character.isdigit() for character in told)
    assert sent.message().get_content_type() == "text/plain"


def test_many_notices_of_one_person_are_one_mail(story: Story) -> None:
    notices.tell([story.people.alice] * 30 + [story.people.bob], Kind.MEMBER, story.contract)
    assert mailing.deliver() == 2
    by_person = {sent.to[0]: sent for sent in mail.outbox}
    assert by_person["alice@example.org"].subject == "Residual: 30 notices"
    assert "and 10 more." in by_person["alice@example.org"].body


def test_what_was_seen_or_is_not_wanted_or_has_nowhere_to_go_is_not_mailed(
    story: Story, owner_connection: psycopg.Connection[Any]
) -> None:
    alice, bob, carol, dora = (getattr(story.people, name) for name in ("alice", "bob", "carol", "dora"))
    User.objects.filter(pk=bob.pk).update(mail_notices=False)
    User.objects.filter(pk=carol.pk).update(email="")
    User.objects.filter(pk=dora.pk).update(is_active=False)
    notices.tell([alice, bob, carol, dora], Kind.MEMBER, story.contract)
    notices.seen(alice)
    assert mailing.deliver() == 0
    Notice.objects.update(seen_at=None)
    owner_connection.execute("UPDATE curator_notice SET created_at = created_at - interval '4 days'")
    assert mailing.deliver() == 0  # nobody wants the news of last week


@override_settings(MAIL_AFTER=60.0)
def test_a_notice_may_be_seen_on_a_page_first(story: Story) -> None:
    with override_settings(MAIL_AFTER=60.0):
        notices.tell([story.people.alice], Kind.MEMBER, story.contract)
        assert mailing.deliver() == 0


def test_no_label_becomes_a_header(story: Story) -> None:
    for label in ("Bcc: all@example.org", "=?utf-8?q?x?=", "Subject: you won", "a, b@example.org"):
        story.ask(story.people.alice, OVER_40, {"within": 20}, label=label)
    for label in ("x\nBcc: all@example.org", "x\r\n\r\n<html>", "x\u2028Bcc: all@example.org", "x\x0bBcc: all@example.org"):
        with pytest.raises(BadInput):
            story.ask(story.people.alice, OVER_40, {"within": 20}, label=label)
    assert mailing.deliver() == 1
    message = mail.outbox[0].message()
    assert sorted(message.keys()) == sorted(
        ["Content-Type", "MIME-Version", "Content-Transfer-Encoding", "Subject", "From", "To", "Date", "Message-ID"]
    )
    assert message["Subject"] == "Residual: 4 notices"
    assert message["To"] == "alice@example.org"


def away(*_: object) -> int:
    raise ConnectionRefusedError


def test_a_server_that_is_away_is_tried_again_and_nothing_is_lost(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    notices.tell([story.people.alice], Kind.MEMBER, story.contract)
    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", away)
        with pytest.raises(ConnectionRefusedError):
            mailing.deliver()
    assert Notice.objects.filter(mailed_at__isnull=True).count() == 1
    assert mailing.deliver() == 1


def test_one_address_that_the_server_refuses_holds_up_nobody_else(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    notices.tell([story.people.alice, story.people.bob], Kind.MEMBER, story.contract)
    plain = locmem.EmailBackend.send_messages

    def picky(self: Any, messages: Any) -> int:
        if messages[0].to == ["alice@example.org"]:
            raise SMTPRecipientsRefused({"alice@example.org": (550, b"no")})
        return int(plain(self, messages))

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", picky)
    assert mailing.deliver() == 1
    assert Notice.objects.get(mailed_at__isnull=True).user == story.people.alice


Refusals = Callable[[str], list[str]]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch, story: Story) -> Refusals:
    """Have the mail server refuse an address from now on; gives the list of whom it was asked for."""
    plain = locmem.EmailBackend.send_messages

    def refuse(address: str) -> list[str]:
        tried: list[str] = []

        def picky(self: Any, messages: Any) -> int:
            tried.extend(messages[0].to)
            if messages[0].to == [address]:
                raise SMTPRecipientsRefused({address: (550, b"no")})
            return int(plain(self, messages))

        monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", picky)
        return tried

    return refuse


def test_a_refused_letter_rests_for_longer_and_longer_and_others_are_not_starved(
    story: Story, refusing: Refusals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "AT_ONCE", 5)
    tried = refusing("alice@example.org")
    notices.tell([story.people.alice] * 5 + [story.people.bob], Kind.MEMBER, story.contract)
    assert [mailing.deliver() for _ in range(4)] == [0, 1, 0, 0]
    assert tried == ["alice@example.org", "bob@example.org"]
    refused = Notice.objects.filter(mailed_at__isnull=True)
    rests = []
    for _ in range(3):
        row = refused.order_by("id")[0]
        assert row.mail_after is not None
        rests.append(round((row.mail_after - timezone.now()).total_seconds() / 60))
        refused.update(mail_after=timezone.now())
        assert mailing.deliver() == 0
    assert rests == [1, 4, 16]
    assert [mailing.rest(tries) for tries in (7, 100)] == [mailing.LONGEST_REST] * 2


def test_of_several_letters_of_one_request_those_that_went_out_are_not_sent_again(story: Story, refusing: Refusals) -> None:
    for person, address in ((story.people.alice, "one@example.org"), (story.people.bob, "ONE@example.org")):
        person.email = address
        person.set_password("correct horse battery")
        person.save()
    tried = refusing("ONE@example.org")
    request = ResetRequest.objects.create(email="one@example.org")
    assert [mailing.deliver() for _ in range(3)] == [1, 0, 0]
    assert sorted(tried) == ["ONE@example.org", "one@example.org"]
    ResetRequest.objects.update(again_at=timezone.now())
    assert mailing.deliver() == 0 and tried[2:] == ["ONE@example.org"]
    refusing("nobody")
    ResetRequest.objects.update(again_at=timezone.now())
    assert mailing.deliver() == 1 and not resets.waiting().exists()
    request.refresh_from_db()
    assert request.done_at is not None and request.tries == 2


def test_two_mailers_at_once_send_nothing_twice(story: Story) -> None:
    notices.tell([story.people.alice, story.people.bob, story.people.carol], Kind.MEMBER, story.contract)
    start = threading.Barrier(6)

    def work() -> None:
        start.wait()
        try:
            mailing.deliver()
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mailing.deliver()
    assert sorted(sent.to[0] for sent in mail.outbox) == ["alice@example.org", "bob@example.org", "carol@example.org"]


def test_a_new_password_is_asked_for_alike_whoever_has_the_address(story: Story) -> None:
    story.people.alice.set_password("correct horse battery")
    story.people.alice.save()
    pages = {
        Client().post("/password/forgotten/", {"email": address}).content
        for address in ("alice@example.org", "bob@example.org", "nobody@example.org")  # Bob signs in otherwise: no password
    }
    assert len(pages) == 1
    assert mail.outbox == []
    assert mailing.deliver() == 1
    assert not resets.waiting().exists()
    link = next(line for line in mail.outbox[0].body.splitlines() if "https://" in line)
    assert mail.outbox[0].to == ["alice@example.org"]
    client, path = Client(), link.removeprefix("https://counts.example.org")
    form = client.get(path, follow=True)
    chosen = {"new_password1": "a better horse battery", "new_password2": "a better horse battery"}
    assert client.post(form.redirect_chain[-1][0], chosen).status_code == 302
    assert User.objects.get(username="alice").check_password("a better horse battery")
    assert "opens nothing" in Client().get(path, follow=True).content.decode()


def test_nobodys_letter_box_and_nobodys_patience_is_flooded(story: Story) -> None:
    codes = [Client().post("/password/forgotten/", {"email": "Alice@example.org"}).status_code for _ in range(21)]
    assert codes == [200] * 20 + [429]
    assert ResetRequest.objects.count() == 3


class Hanging:
    """A mail server that takes a call and says nothing."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.called = threading.Event()
        self.call: socket.socket | None = None
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        self.call = self.listener.accept()[0]
        self.called.set()

    @property
    def still_held(self) -> bool:
        """Whether the caller is still waiting for a first word."""
        assert self.call is not None
        self.call.setblocking(False)
        try:
            return self.call.recv(1) != b""
        except BlockingIOError:
            return True

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.listener.getsockname()[1]}"


def test_a_mail_server_that_hangs_delays_no_answer(story: Story, start_worker: Callable[..., Worker]) -> None:
    server = Hanging()
    start_worker(concurrency=1, EMAIL_URL=server.url, RDP_MAIL_AFTER="0")
    notices.tell([story.people.bob], Kind.MEMBER, story.contract)
    current_app.send_task(queue.SWEEP)
    assert server.called.wait(60)
    body = {"where": OVER_40, "accuracy": {"within": 20}}
    query = queries.submit(analyst=story.people.alice, contract=story.contract, body=body, key="k")[0]
    until(lambda: Query.objects.get(pk=query.pk).state == Query.State.ANSWERED)
    assert server.still_held
    assert not Notice.objects.filter(user=story.people.bob, mailed_at__gt=query.arrived_at).exists()


def test_the_worker_mails_what_the_sweep_finds(story: Story, start_worker: Callable[..., Worker], tmp_path: Path) -> None:
    start_worker(EMAIL_URL=f"filemail:///{tmp_path}", RDP_MAIL_AFTER="0")
    story.ask(story.people.alice, OVER_40, {"within": 20}, label="Forty and over")
    current_app.send_task(queue.SWEEP)
    until(lambda: Notice.objects.filter(kind=Kind.ANSWER, mailed_at__isnull=False).exists())
    sent = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "Forty and over" in sent
