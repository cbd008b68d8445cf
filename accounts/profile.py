"""What people change about their own account: mail address, password, and whether notices come by mail."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts import sign_ins, throttles
from accounts.hashing import hashed, turn
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


def set_email(*, user: User, email: str, password: str, notices: bool | None = None) -> None:
    """Another address, or none, and with `notices` whether they come by mail; both or neither.

    A new password can be sent there: a session left open is not enough, the password is asked.
    """
    throttles.check("email", user.pk, TRIES)
    checked = _checked(user, password)
    check_email(email)
    with transaction.atomic():
        locked = _locked(user, checked)
        locked.email = email
        locked.mail_notices = locked.mail_notices if notices is None else notices
        locked.save(update_fields=["email", "mail_notices"])
        audit.append(audit.SITE, [Event("email.changed", user.username, {})])
    user.email, user.mail_notices = email, locked.mail_notices


def set_password(*, user: User, password: str, new: str) -> None:
    """Another password, for whoever knows the one there is; sessions elsewhere end. BadInput: wrong_password, weak_password."""
    count_guess(user)
    replace_password(user=user, checked=_checked(user, password), new=new)


def replace_password(*, user: User, checked: str, new: str) -> None:
    """The same once the old one was found right, for the hash `checked`; BadInput where it is that hash no longer."""
    check_password(user, new, field="new_password")
    encoded = hashed(new)
    with transaction.atomic():  # the password and its event, or neither
        locked = _locked(user, checked)
        locked.password = encoded
        locked.save(update_fields=["password"])
        sign_ins.password_changed(locked)
    user.password = encoded


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


def _checked(user: User, password: str) -> str:
    """The hash of which this is the password, as a request loaded it; BadInput wrong_password."""
    with turn():
        right = user.check_password(password)
    if not right:
        raise _wrong_password()
    return user.password


def _wrong_password() -> BadInput:
    return BadInput("wrong_password", "password: this is not your password", field="password")


def _locked(user: User, checked: str) -> User:
    """Their row as it is now, locked; refused where the password is another one since it was looked at."""
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if row.password != checked:
        raise _wrong_password()
    return row
