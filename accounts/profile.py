"""What people change about their own account: mail address, password, and whether notices come by mail."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts import sign_ins, throttles
from accounts.models import User
from accounts.services import check_password
from curator.mechanism.errors import BadInput
from curator.services import audit
from curator.services.audit import Event

TRIES = "10/hour"  # of one person: guessing one's own password is guessing somebody's whose session was left open
LONGEST_EMAIL = 254  # characters that a row holds


def set_mail(*, user: User, notices: bool) -> None:
    """Whether notices come by mail too."""
    User.objects.filter(pk=user.pk).update(mail_notices=notices)
    user.mail_notices = notices


def set_email(*, user: User, email: str, password: str) -> None:
    """Another address, or none. A new password can be sent there: a session left open is not enough, the password is asked."""
    throttles.check("email", user.pk, TRIES)
    _require(user, password)
    check_email(email)
    with transaction.atomic():
        locked = _locked(user)
        locked.email = email
        locked.save(update_fields=["email"])
        audit.append(audit.SITE, [Event("email.changed", user.username, {})])
    user.email = email


def set_password(*, user: User, password: str, new: str) -> None:
    """Another password, for whoever knows the one there is; sessions elsewhere end. BadInput: wrong_password, weak_password."""
    count_guess(user)
    _require(user, password)
    check_password(user, new, field="new_password")
    with transaction.atomic():  # the password and its event, or neither
        locked = _locked(user)
        locked.set_password(new)
        locked.save(update_fields=["password"])
        sign_ins.password_changed(locked)
    user.password = locked.password


def count_guess(user: User) -> None:
    """Count one try at one's own password; TooMany."""
    throttles.check("password", user.pk, TRIES)


def check_email(email: str) -> None:
    """BadInput for what is no mail address; "" is none, and may be."""
    try:
        validate_email(email or "nobody@example.org")
    except ValidationError as error:
        raise _bad_email() from error
    if len(email) > LONGEST_EMAIL:
        raise _bad_email()


def _bad_email() -> BadInput:
    return BadInput("bad_email", "email: expected a mail address, or nothing", field="email")


def _require(user: User, password: str) -> None:
    if not user.check_password(password):
        raise BadInput("wrong_password", "password: this is not your password", field="password")


def _locked(user: User) -> User:
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)
