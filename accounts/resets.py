"""A new password by e-mail: asked for by anybody, sent by the worker, opened once (Django's own tokens).

Asking writes a row, whoever has the address or nobody: the answer and the time it takes say nothing about who has an account.
"""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from accounts import throttles, tokens
from accounts.hashing import hashed
from accounts.models import ResetRequest, User
from accounts.services import check_password
from curator.mechanism.errors import NotYours, TooMany
from curator.services import audit
from curator.services.audit import Event

KEPT = timedelta(hours=1)  # a request that could not be mailed for so long is given up: whoever still wants it asks again

BODY = """Hello {name},

somebody, probably you, asked for a new password. Choose one within the hour:

{link}

If it was not you, nothing has changed and nothing needs doing.
"""


def ask(email: str, *, address: str) -> None:
    """Note that somebody at `address` (of the network) wants a new password for `email`.

    TooMany for an address that asks all the time. More than a few requests for one mail address are passed over in silence:
    the page says the same, and nobody's letter box is flooded.
    """
    throttles.check("door", address, settings.DOOR_RATE)
    try:
        throttles.check("reset", email.casefold(), settings.RESET_RATE)
    except TooMany:
        return
    ResetRequest.objects.create(email=email)


def waiting() -> QuerySet[ResetRequest]:
    """Requests that nobody has answered yet, without those that rest after a refusal."""
    now = timezone.now()
    rested = Q(again_at__isnull=True) | Q(again_at__lte=now)
    return ResetRequest.objects.filter(rested, done_at__isnull=True, created_at__gt=now - KEPT)


def letters(request: ResetRequest) -> Iterator[tuple[User, EmailMessage]]:
    """A mail for every active account with a password under that address that did not get it yet; often none."""
    for user in PasswordResetForm().get_users(request.email):
        assert isinstance(user, User)
        if user.pk in request.sent_to:
            continue
        body = BODY.format(name=user.get_username(), link=_link(user))
        yield user, EmailMessage("Residual: a new password", body, settings.DEFAULT_FROM_EMAIL, [user.email])


def sent(request: ResetRequest, user: User) -> None:
    """This person's letter is out: whatever becomes of the others, it is not sent again."""
    request.sent_to = [*request.sent_to, user.pk]
    request.save(update_fields=["sent_to"])


def refused(request: ResetRequest, rest: timedelta) -> None:
    """The mail server refused a letter: it is tried again after a rest, within the hour that the request is kept."""
    request.tries, request.again_at = request.tries + 1, timezone.now() + rest
    request.save(update_fields=["tries", "again_at"])


def done(request: ResetRequest) -> None:
    """The request is answered; rows that are long over go with it."""
    ResetRequest.objects.filter(pk=request.pk).update(done_at=timezone.now())
    ResetRequest.objects.filter(created_at__lt=timezone.now() - timedelta(days=1)).delete()


def set_new(*, uid: str, token: str, password: str) -> None:
    """Set a new password by the two parts of such a link; NotYours for a link that opens nothing, BadInput weak_password."""
    set_for(_opened(User.objects.filter(pk=_number(uid)).first(), token), token=token, password=password)


def set_for(user: User, *, token: str, password: str) -> None:
    """The same for the person of the link."""
    check_password(user, password, field="new_password")
    encoded = hashed(password)  # before the row is locked
    with transaction.atomic():  # the password, the end of the keys and the event, or nothing
        locked = _opened(User.objects.select_for_update(no_key=True).filter(pk=user.pk).first(), token)
        locked.password = encoded
        locked.save(update_fields=["password"])
        audit.append(audit.SITE, [Event("password.reset", locked.username, {"keys_ended": tokens.end_all(locked)})])


def _opened(user: User | None, token: str) -> User:
    """Whom a link is about, while it is good: not for an account that was switched off since it was mailed."""
    if user is None or not user.is_active or not default_token_generator.check_token(user, token):
        raise NotYours("not_found", "This link opens nothing: it is good for an hour and works once.")
    return user


def _number(uid: str) -> int:
    """The row that a link is about; 0, which is none, for what no link has."""
    try:
        text = urlsafe_base64_decode(uid).decode()
    except ValueError:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _link(user: User) -> str:
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"{settings.SITE_URL}{reverse('password-new', args=[uid, default_token_generator.make_token(user)])}"
