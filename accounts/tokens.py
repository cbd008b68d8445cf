"""Keys for programs: made once and shown once, kept as a digest, good for a while, revoked at will."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.access import not_yours
from accounts.models import ApiToken, User
from curator.mechanism.errors import BadInput
from curator.services import audit
from curator.services.audit import Event

PREFIX = "rdp_"  # lets secret scanners recognise one that was committed by mistake
MAX_DAYS = 366
MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key in a list; `state` is good, ended or revoked."""

    key: ApiToken
    state: str


def issue(*, user: User, name: str, scope: str, days: int) -> tuple[ApiToken, str]:
    """Make a token for `user` and return it with its secret, which nothing keeps. Refused (BadInput): name, scope, days."""
    label = name.strip()
    if not 1 <= len(label) <= MAX_NAME or not label.isprintable():
        raise BadInput("bad_name", f"name: expected 1 to {MAX_NAME} printable characters", field="name")
    if scope not in ApiToken.Scope.values:
        raise BadInput("bad_scope", f"scope: expected one of {', '.join(ApiToken.Scope.values)}", field="scope")
    if not 1 <= days <= MAX_DAYS:
        raise BadInput("bad_number", f"days: expected a whole number from 1 to {MAX_DAYS}", field="days")
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        expires = timezone.now() + timedelta(days=days)
        token = ApiToken.objects.create(user=user, name=label, scope=scope, digest=digest(secret), expires_at=expires)
        audit.append(
            audit.SITE, [Event("token.issued", user.username, {"token": token.pk, "name": label, "scope": scope, "days": days})]
        )
    return token, secret


def revoke(*, user: User, token_id: int) -> ApiToken:
    """End one of one's own tokens; ending it twice is no error. NotYours for anybody else's."""
    with transaction.atomic():
        token = ApiToken.objects.select_for_update(no_key=True).filter(pk=token_id, user=user).first()
        if token is None:
            raise not_yours()
        if token.revoked_at is None:
            token.revoked_at = timezone.now()
            token.save(update_fields=["revoked_at"])
            audit.append(audit.SITE, [Event("token.revoked", user.username, {"token": token.pk})])
    return token


def end_all(user: User) -> int:
    """End every key of `user`, in the caller's transaction and told by its event; how many there were.

    Whoever is switched off, or sets a new password because the old one may be known, must not go on by an older key.
    """
    now = timezone.now()
    return ApiToken.objects.filter(user=user, revoked_at__isnull=True, expires_at__gt=now).update(revoked_at=now)


def holder(secret: str) -> ApiToken | None:
    """The token with this secret, if it is still good and so is the person."""
    found = ApiToken.objects.select_related("user").filter(
        digest=digest(secret), revoked_at__isnull=True, expires_at__gt=timezone.now(), user__is_active=True
    )
    return found.first()


def of(user: User) -> list[KeyLine]:
    """A person's keys, newest first, with what became of each."""
    now = timezone.now()
    return [KeyLine(row, _state(row, now)) for row in ApiToken.objects.filter(user=user).order_by("-id")]


def _state(row: ApiToken, now: datetime) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "ended" if row.expires_at <= now else "good"


def digest(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
