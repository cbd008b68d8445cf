"""Mail: notices and links to new passwords, sent from the worker's side, once each, and never in anybody's way.

The sweep starts a thread for it, so that a mail server that is away or slow holds up no question. One mailer works at a time
(an advisory lock). What was sent is marked afterwards: a crash in between sends a mail twice, never not at all. A notice that
was seen on a page first is not mailed. A letter that the server refuses rests for longer and longer while the others are sent,
and is given up: a notice after days, a link to a new password after an hour.
"""

import logging
import threading
import time
from collections import defaultdict
from datetime import timedelta
from functools import partial
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPSenderRefused

from django.conf import settings
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connections
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts import resets
from accounts.models import User
from curator import ticks
from curator.models import Notice
from curator.selectors import notices
from curator.selectors.notices import NoticeLine
from curator.services import anchoring
from curator.services.claiming import MAIL, exclusive

logger = logging.getLogger(__name__)

PAUSE = 60.0  # seconds after a failure in which this process does not try again
REST = timedelta(minutes=1)  # after the first refusal of a letter; each further one makes it four times as long
LONGEST_REST = timedelta(hours=12)
GIVE_UP = timedelta(days=3)
LISTED = 20  # notices in one mail; more are counted
AT_ONCE = 500  # notices looked at in one go

_running = threading.Lock()
_quiet_until = 0.0


def start() -> None:
    """Begin to send what is due in a thread of its own, unless one is at it or a failure was a moment ago."""
    if time.monotonic() < _quiet_until or not _is_due() or not _running.acquire(blocking=False):
        return
    threading.Thread(target=_run, name="mail", daemon=True).start()


def deliver() -> int:
    """Send what is due and return how many mails went out; an error of the mail server (OSError, SMTPException) ends it."""
    with exclusive(0, space=MAIL) as mine:
        if not mine or not _is_due():
            return 0
        with mail.get_connection() as server:
            sent = sum(_send_notices(server, user, rows) for user, rows in _due()) + _send_resets(server)
            return sent + anchoring.mail(partial(_send, server))


def _run() -> None:
    global _quiet_until
    try:
        deliver()
    except (OSError, SMTPException) as error:
        # A server's own words could quote addresses.
        _quiet_until = time.monotonic() + PAUSE
        logger.warning("mail not sent (%s); it is tried again in %d seconds", type(error).__name__, PAUSE)
    finally:
        connections.close_all()
        _running.release()


def _is_due() -> bool:
    return _waiting().exists() or resets.waiting().exists() or anchoring.is_mail_due()


def _waiting() -> QuerySet[Notice]:
    now = timezone.now()
    ready = now - timedelta(seconds=settings.MAIL_AFTER)
    fresh = Notice.objects.filter(seen_at__isnull=True, mailed_at__isnull=True, created_at__range=(now - GIVE_UP, ready))
    rested = fresh.filter(Q(mail_after__isnull=True) | Q(mail_after__lte=now))
    return rested.filter(user__mail_notices=True, user__is_active=True).exclude(user__email="")


def _due() -> list[tuple[User, list[Notice]]]:
    by_person: dict[User, list[Notice]] = defaultdict(list)
    for row in notices.rows().filter(pk__in=_waiting().values("pk")).select_related("user").order_by("id")[:AT_ONCE]:
        by_person[row.user].append(row)
    return list(by_person.items())


def _send_notices(server: BaseEmailBackend, user: User, rows: list[Notice]) -> bool:
    sent = _send(server, letter(user, notices.lines(user, rows)))
    same = Notice.objects.filter(pk__in=[row.pk for row in rows])
    if sent:
        same.update(mailed_at=ticks.now())
    else:
        tries = max(row.mail_tries for row in rows) + 1
        same.update(mail_tries=tries, mail_after=ticks.now() + rest(tries))
    return sent


def rest(tries: int) -> timedelta:
    """How long a letter rests that was refused so often."""
    longer: int = 4 ** min(tries - 1, 10)
    return min(REST * longer, LONGEST_REST)


def _send_resets(server: BaseEmailBackend) -> int:
    sent = 0
    for request in resets.waiting().order_by("id")[:AT_ONCE]:
        refused = 0
        for user, message in resets.letters(request):
            if _send(server, message):
                resets.sent(request, user)
                sent += 1
            else:
                refused += 1
        if refused:
            resets.refused(request, rest(request.tries + 1))
        else:
            resets.done(request)
    return sent


def _send(server: BaseEmailBackend, message: EmailMessage) -> bool:
    """False where the server refuses this very mail: the others must not wait for it."""
    try:
        return bool(server.send_messages([message]))
    except (SMTPRecipientsRefused, SMTPSenderRefused, SMTPDataError) as error:
        logger.warning("one mail refused by the server (%s)", type(error).__name__)
        return False


def letter(user: User, lines: list[NoticeLine]) -> EmailMessage:
    """One mail about these notices. The subject is ours alone; what people wrote is only in the body, which is plain text."""
    one = len(lines) == 1
    subject = f"Residual: {Notice.Kind(lines[0].kind).label}" if one else f"Residual: {len(lines)} notices"
    more = [f"and {len(lines) - LISTED} more."] if len(lines) > LISTED else []
    body = [
        f"Hello {user.get_username()},", *map(_paragraph, lines[:LISTED]), *more,
        f"All of them: {address('notices')}\nNo such mail any more: {address('account')}",
    ]  # fmt: skip
    return EmailMessage(subject, "\n\n".join(body) + "\n", settings.DEFAULT_FROM_EMAIL, [user.email])


def _paragraph(line: NoticeLine) -> str:
    about = f": {line.about}" if line.about else ""
    leads = f"\n{address(*line.leads)}" if line.leads else ""
    return f"{line.words}{about} ({line.contract}){leads}"


def address(name: str, *args: object) -> str:
    """A page's address as a mail needs it."""
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
