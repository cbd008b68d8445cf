"""What people change about their own account: their mail address, and whether notices come by mail."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts import throttles
from accounts.models import User
from curator.mechanism.errors import BadInput
from curator.services import audit
from curator.services.audit import Event

TRIES = "10/hour"  # of one person: guessing one's own password is guessing somebody's whose session was left open


def set_mail(*, user: User, notices: bool) -> None:
    """Whether notices come by mail too."""
    User.objects.filter(pk=user.pk).update(mail_notices=notices)
    user.mail_notices = notices


def set_email(*, user: User, email: str, password: str) -> None:
    """Another address, or none. A new password can be sent there: a session left open is not enough, the password is asked."""
    throttles.check("email", user.pk, TRIES)
    if not user.check_password(password):
        raise BadInput("wrong_password", "password: this is not your password", field="password")
    try:
        validate_email(email or "nobody@example.org")
    except ValidationError as error:
        raise BadInput("bad_email", "email: expected a mail address, or nothing", field="email") from error
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        locked.email = email
        locked.save(update_fields=["email"])
        audit.append(audit.SITE, [Event("email.changed", user.username, {})])
    user.email = email
