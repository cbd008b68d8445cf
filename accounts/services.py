"""Making people, giving them roles, switching them off and on again; each an event on the site's chain.

A person who left is deactivated, and comes back as the same row: what they have spent in a contract is still theirs.
"""

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import access, tokens
from accounts.hashing import hashed
from accounts.models import Membership, Role, User
from curator.mechanism.errors import BadInput, Conflict
from curator.models import Contract
from curator.services import audit, texts
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, State, curators

USER_NAME = re.compile(r"[A-Za-z0-9@.+_-]{1,150}")  # of new people; older names stay
RANDOM_PASSWORD_BYTES = 15  # 120 bits: twenty characters
LONGEST_PASSWORD = 1_000


@dataclass(frozen=True, slots=True)
class NewUser:
    """A person made (or, by the command line, switched on again); `password` is shown once, and only if it was drawn here."""

    user: User
    password: str | None
    reactivated: bool


def create_user(
    *, username: str, roles: Collection[str], password: str | None = None, encoded: str = "", email: str = "",
    by: User | None = None, again: bool = True,
) -> NewUser:  # fmt: skip
    """Make a person; the command line may also switch a deactivated one of that name on again, with exactly `roles`.

    `by` is the curator who does it; None is the command line (`again`), or a newcomer. A curator never gets into an account
    that was somebody's: see `reactivate`. Without a password a random one is drawn and returned; `encoded` is the hash of
    one that was checked and hashed before the caller's transaction (`hash_for`). Refused: BadInput (username,
    roles, password, email), Conflict username_taken (in any case), in_use for a role that a sleeping person still uses.
    """
    if by is not None:
        access.require_site_role(by, Role.CURATOR)
    known = _known_roles(roles)
    drawn = None if encoded or password is not None else secrets.token_urlsafe(RANDOM_PASSWORD_BYTES)
    encoded = encoded or hash_for(username, drawn or password or "", email=email)
    with transaction.atomic():
        user, reactivated = _new_or_sleeping(username)
        if reactivated:
            _check_may_wake(user, known, allowed=again and by is None)
        user.roles, user.email, user.is_active, user.password = known, email.strip(), True, encoded
        _save_valid(user)
        kind = "user.reactivated" if reactivated else "user.created"
        audit.append(audit.SITE, [Event(kind, _name(by), {"username": user.username, "roles": known})])
    return NewUser(user, drawn, reactivated)


def reactivate(*, by: User, user: User) -> User:
    """Switch a person on again as they were: their own password, which nobody here is shown, their roles, their address.

    Whoever has forgotten the password asks for a link to a new one. Conflict already_active.
    """
    _somebody_else(by, user)
    with transaction.atomic():
        locked = _locked_both(by, user)
        if locked.is_active:
            raise Conflict("already_active", f"{locked.username} is switched on already.")
        locked.is_active = True
        locked.save(update_fields=["is_active"])
        told = {"username": locked.username, "roles": sorted(locked.roles)}
        audit.append(audit.SITE, [Event("user.reactivated", by.username, told)])
    return locked


def set_roles(*, by: User, user: User, roles: Collection[str]) -> User:
    """Give `user` exactly `roles` on the site; a curator does it, and never for themselves, so that one curator always stays.

    A role that somebody still uses in a contract is not taken from them (Conflict in_use): the place there ends first.
    """
    _somebody_else(by, user)
    known = _known_roles(roles)
    with transaction.atomic():
        locked = _locked_both(by, user)
        _check_unused(locked, set(locked.roles) - set(known))
        before, locked.roles = sorted(locked.roles), known
        locked.save(update_fields=["roles"])
        audit.append(
            audit.SITE, [Event("role.changed", by.username, {"username": locked.username, "before": before, "after": known})]
        )
    return locked


def grant_role(*, user: User, role: str, by: User) -> User:
    """Add a role that `by` offered and `user` accepted, in the caller's transaction; nothing happens where they have it."""
    locked = _locked(user)
    if role not in locked.roles:
        before, locked.roles = sorted(locked.roles), sorted({*locked.roles, role})
        locked.save(update_fields=["roles"])
        told = {"username": locked.username, "before": before, "after": locked.roles}
        audit.append(audit.SITE, [Event("role.changed", by.username, told)])
    return locked


def deactivate(*, by: User, user: User, reason: str = "") -> User:
    """Switch a person off: they can no longer sign in; memberships, spending and history stay as they are.

    Conflict: not_active; last_curator of a contract (they name another one first).
    """
    _somebody_else(by, user)
    why = texts.optional(reason, field="reason")
    with transaction.atomic():
        _check_others_curate(user)
        locked = _locked_both(by, user)
        if not locked.is_active:
            raise Conflict("not_active", f"{locked.username} is switched off already.")
        locked.is_active = False
        locked.save(update_fields=["is_active"])
        told = {"username": locked.username, "reason": why, "keys_ended": tokens.end_all(locked)}
        audit.append(audit.SITE, [Event("user.deactivated", by.username, told)])
    return locked


def draw_password(user: User) -> str:
    """Give a person a new random password, from the command line, and return it to be shown once."""
    with transaction.atomic():
        locked = _locked(user)
        drawn = secrets.token_urlsafe(RANDOM_PASSWORD_BYTES)
        locked.set_password(drawn)
        locked.save(update_fields=["password"])
        audit.append(audit.SITE, [Event("password.drawn", "", {"username": locked.username})])
    return drawn


def check_password(user: User, password: str, *, field: str = "password") -> None:
    """BadInput for a password that is too short, too common, too like its person's name, or longer than anybody types."""
    if len(password) > LONGEST_PASSWORD:
        raise BadInput("too_long", f"{field}: expected at most {LONGEST_PASSWORD:,} characters", field=field)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise BadInput("weak_password", " ".join(error.messages), field=field) from error


def hash_for(username: str, password: str, *, email: str = "") -> str:
    """The hash of a password that somebody of this name may have, made before any row is locked; BadInput, TooMany."""
    check_password(User(username=username, email=email), password)
    return hashed(password)


def person(username: str, *, field: str = "username") -> User:
    """The active person of that name (in any case), or BadInput unknown_person: for a curator's form."""
    found = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if found is None:
        raise BadInput("unknown_person", f"{field}: nobody here has this user name", field=field)
    return found


def _somebody_else(by: User, user: User) -> None:
    access.require_site_role(by, Role.CURATOR)
    if by.pk == user.pk:
        raise BadInput("own_account", "Nobody changes their own roles or switches themselves off.", field="username")


def _locked_both(by: User, user: User) -> User:
    """The row of `user`, locked with that of the curator who acts and still is one: of two who act on each other one wins."""
    rows = {row.pk: row for row in User.objects.select_for_update(no_key=True).filter(pk__in=[by.pk, user.pk]).order_by("pk")}
    access.require_site_role(rows[by.pk], Role.CURATOR)
    return rows[user.pk]


def _check_unused(user: User, roles: set[str]) -> None:
    places = Membership.objects.filter(user=user, role__in=roles, active=True, contract__state__in=(State.DRAFT, *LIVE))
    used = sorted(set(places.values_list("role", flat=True)))
    if used:
        raise Conflict("in_use", f"{user.username} has a place as {', '.join(used)} in a contract: it ends first.", field="roles")


def _check_may_wake(user: User, roles: list[str], *, allowed: bool) -> None:
    if not allowed:
        raise _taken(user.username)
    _check_unused(user, set(user.roles) - set(roles))


def _check_others_curate(user: User) -> None:
    """Conflict while a contract would be left without a curator; its rows are locked first, as everywhere."""
    places = Membership.objects.filter(user=user, role=Role.CURATOR, active=True).values("contract")
    live = Contract.objects.filter(pk__in=places, state__in=(State.DRAFT, *LIVE)).order_by("pk")
    if any(curators(contract) == [user] for contract in live.select_for_update(no_key=True)):
        raise Conflict("last_curator", f"{user.username} is the only curator of a contract: they add another one first.")


def _locked(user: User) -> User:
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _new_or_sleeping(username: str) -> tuple[User, bool]:
    found = User.objects.select_for_update(no_key=True).filter(username__iexact=username).first()
    if found is None:
        if USER_NAME.fullmatch(username) is None:  # letters of another script may look like these: nobody passes for another
            detail = "username: expected 1 to 150 of the letters a to z and A to Z, digits and @ . + - _"
            raise BadInput("bad_username", detail, field="username")
        return User(username=username), False
    if found.is_active:
        raise _taken(found.username)
    return found, True


def _known_roles(roles: Collection[str]) -> list[str]:
    unknown = set(roles) - set(Role.values)
    if unknown or not roles:
        raise BadInput("unknown_role", f"roles: expected some of {', '.join(Role.values)}", field="roles")
    return sorted(set(roles))


def _save_valid(user: User) -> None:
    try:
        user.full_clean(validate_unique=False, validate_constraints=False)  # the database decides who was first
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise BadInput("bad_account", f"{field}: {' '.join(messages)}", field=field) from error
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:  # somebody made the same name since we looked
        raise _taken(user.username) from error


def _taken(username: str) -> Conflict:
    return Conflict("username_taken", f"There is a person named {username} already.", field="username")


def _name(by: User | None) -> str:
    return by.username if by else ""
