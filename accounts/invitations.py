"""Inviting somebody to a contract: a link that is shown once, kept as a digest, good for a while, for one person, and revocable.

Whoever opens it takes the place with the role and allotment that the curator chose: a newcomer makes an account on the way,
somebody who is signed in accepts. It counts as the inviting curator's act, so it ends with their place in the contract; nobody
accepts their own. The mail address an invitation went to is kept beside it and is no part of the record.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts import access
from accounts.models import Invitation, Membership, Role, User
from accounts.profile import check_email
from accounts.services import create_user, grant_role, hash_for
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused, TooMany
from curator.mechanism.rho import Units
from curator.models import Contract
from curator.services import audit
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, State, locked, locked_for
from curator.services.contract_settings import check_amount
from curator.services.memberships import add_member

USUAL_DAYS, MOST_DAYS = 7, 30
MOST_OPEN = 200  # of one contract

SAYS = {
    Role.ANALYST: "You may ask questions about its data.",
    Role.CURATOR: "You run it together with its other curators.",
    Role.AUDITOR: "You read the record of everything decided in it.",
}

BODY = """Hello,

{curator} invites you to the contract "{contract}" as {role}. Open this address to accept, once, until {until} (UTC):

{link}

If this tells you nothing, ignore it.
"""


def invite(
    *, curator: User, contract: Contract, role: str, allotment: Units | None = None, email: str = "", days: int = USUAL_DAYS
) -> tuple[Invitation, str]:
    """Invite somebody and return the invitation with the secret of its link, which nothing keeps.

    Refused: BadInput role, allotment, email, days; TooMany too_many_invitations while so many are open.
    """
    _check(role, allotment, email.strip(), days)
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT, *LIVE)
        if open_invitations(row).count() >= MOST_OPEN:
            raise TooMany("too_many_invitations", f"At most {MOST_OPEN} invitations to a contract are open at a time.")
        made = Invitation.objects.create(
            contract=row, email=email.strip(), role=role, allotment=allotment, digest=_digest(secret), invited_by=curator,
            expires_at=timezone.now() + timedelta(days=days),
        )  # fmt: skip
        told = {"invitation": str(made.uid), "role": role, "allotment": allotment, "expires": audit.stamp(made.expires_at)}
        audit.append(audit.chain_of(row), [Event("invitation.made", curator.username, told)])
    return made, secret


def send(invitation: Invitation, secret: str) -> bool:
    """Mail the link to the address it is for; False where there is none, or where the mail server is away."""
    if not invitation.email:
        return False
    link = f"{settings.SITE_URL}{reverse('invitation', args=[secret])}"
    body = BODY.format(
        curator=invitation.invited_by.get_username(), contract=invitation.contract.name, role=invitation.role, link=link,
        until=f"{invitation.expires_at:%-d %b %Y, %H:%M}",
    )  # fmt: skip
    message = EmailMessage("Residual: an invitation", body, settings.DEFAULT_FROM_EMAIL, [invitation.email])
    try:
        return bool(message.send())
    except (OSError, SMTPException):
        return False


def revoke(*, curator: User, invitation: Invitation) -> Invitation:
    """Take an invitation back; Conflict already_ended where it was accepted or taken back before."""
    with transaction.atomic():
        row = locked_for(curator, invitation.contract, State.DRAFT, *LIVE)
        held = Invitation.objects.select_for_update(no_key=True).get(pk=invitation.pk)
        if held.accepted_at or held.revoked_at:
            raise Conflict("already_ended", "This invitation was accepted or taken back already.")
        held.revoked_at = timezone.now()
        held.save(update_fields=["revoked_at"])
        audit.append(audit.chain_of(row), [Event("invitation.revoked", curator.username, {"invitation": str(held.uid)})])
    return held


def find(secret: str) -> Invitation:
    """The invitation with this secret while it is good; NotYours otherwise, whatever the reason."""
    found = Invitation.objects.select_related("contract", "invited_by").filter(digest=_digest(secret)).first()
    if found is None or not _is_good(found, found.contract):
        raise _no_longer_good()
    return found


def find_kept(uid: str) -> Invitation:
    """The same for an invitation whose link was opened before, by the id that the browser's session keeps of it."""
    found = Invitation.objects.select_related("contract", "invited_by").filter(uid=uid).first() if uid else None
    if found is None or not _is_good(found, found.contract):
        raise _no_longer_good()
    return found


def accept(*, user: User, secret: str) -> Membership:
    """Take the place as `user`, who gets the role on the site if they lack it.

    Conflict: own_invitation, already_member, below_spent.
    """
    return accept_found(user=user, invitation=find(secret))


def accept_found(*, user: User, invitation: Invitation) -> Membership:
    """The same, with an invitation that `find` gave for the secret of its link."""
    return _take(invitation, lambda held: grant_role(user=user, role=held.role, by=held.invited_by))


def join(*, secret: str, username: str, password: str, email: str = "") -> User:
    """Take the place as somebody new. A name that anybody has or had is refused (username_taken): no account is taken over."""
    return join_found(invitation=find(secret), username=username, password=password, email=email)


def join_found(*, invitation: Invitation, username: str, password: str, email: str = "") -> User:
    """The same, with an invitation that `find` gave for the secret of its link."""
    encoded = hash_for(username, password, email=invitation.email or email)  # before the contract's row is locked

    def make(held: Invitation) -> User:
        chosen = held.email or email
        return create_user(username=username, roles=[held.role], encoded=encoded, email=chosen, again=False).user

    return _take(invitation, make).user


def open_invitations(contract: Contract) -> QuerySet[Invitation]:
    """Invitations to a contract that may still be accepted, newest first."""
    waiting = Invitation.objects.filter(contract=contract, accepted_at__isnull=True, revoked_at__isnull=True)
    return waiting.filter(expires_at__gt=timezone.now()).select_related("invited_by").order_by("-id")


def _take(found: Invitation, who: Callable[[Invitation], User]) -> Membership:
    """Locks: contract, invitation, person, head of the site's chain, head of the contract's."""
    with transaction.atomic():
        row = locked(found.contract)
        held = Invitation.objects.select_for_update(no_key=True, of=("self",)).select_related("invited_by").get(pk=found.pk)
        if not _is_good(held, row):
            raise _no_longer_good()
        user = who(held)
        if user.pk == held.invited_by_id:
            raise Conflict("own_invitation", "Nobody accepts an invitation of their own.")
        place = _placed(held, row, user)
        held.accepted_by, held.accepted_at = user, timezone.now()
        held.save(update_fields=["accepted_by", "accepted_at"])
    return place


def _placed(held: Invitation, contract: Contract, user: User) -> Membership:
    try:
        return add_member(
            curator=held.invited_by, contract=contract, user=user, role=held.role, allotment=held.allotment, invitation=held
        )
    except BadInput as refused:
        if refused.code != "below_spent":
            raise
        detail = "You were here before and spent more than this invitation allots: ask for a new one."
        raise Conflict("below_spent", detail) from refused


def _is_good(invitation: Invitation, contract: Contract) -> bool:
    ended = invitation.accepted_at or invitation.revoked_at or invitation.expires_at <= timezone.now()
    live = contract.state in (State.DRAFT, *LIVE)
    return not ended and live and access.has_place(invitation.invited_by, contract, Role.CURATOR)


def _no_longer_good() -> Refused:
    return NotYours("not_found", "This link is not good, or not any more: it works once, for a while, and can be taken back.")


def _check(role: str, allotment: Units | None, email: str, days: int) -> None:
    if role not in Role.values:
        raise BadInput("unknown_role", f"role: expected one of {', '.join(Role.values)}", field="role")
    if allotment is not None:
        if role != Role.ANALYST:
            raise BadInput("bad_number", "allotment: only an analyst has one", field="allotment")
        check_amount(allotment, field="allotment")
    if not 1 <= days <= MOST_DAYS:
        raise BadInput("bad_number", f"days: expected a whole number from 1 to {MOST_DAYS}", field="days")
    check_email(email)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
