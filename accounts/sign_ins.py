"""Who signed in and who failed to, on the site's chain.

A failed attempt is counted, and told once a minute, with the name of the person it was for; what was typed for a name that
nobody has is not kept, as people type passwords into the wrong box.
"""

from accounts.models import User
from curator.services import audit, denials
from curator.services.audit import Event


def signed_in(user: User) -> None:
    """Somebody signed in."""
    audit.append_alone(audit.SITE, Event("sign_in", user.username, {}))


def failed(typed: str) -> None:
    """Somebody tried to, and was refused."""
    name = typed.replace("\x00", "").strip()
    known = User.objects.filter(username__iexact=name).values_list("username", flat=True).first()
    denials.count(denials.SIGN_IN, actor=known or "")


def password_changed(user: User) -> None:
    """Somebody changed their own password, in the transaction of the caller."""
    audit.append(audit.SITE, [Event("password.changed", user.username, {})])
