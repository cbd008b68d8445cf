"""Who may see what: the only place that says "not yours".

Every function fetches a row or raises NotYours, with one and the same code and sentence for a missing row, somebody else's row
and an identifier that is none. The edge that answers with a refusal calls `count`, outside any transaction.
"""

from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet

from accounts.models import Invitation, Membership, Role, User
from curator.mechanism.errors import NotYours, Refused
from curator.models import (
    AuditEvent,
    BudgetRequest,
    Contract,
    Dataset,
    DatasetVersion,
    Experiment,
    Query,
    SavedQuestion,
    TotalRaise,
    Upload,
    Verification,
)
from curator.services import audit, denials

Visitor = User | AnonymousUser
Row = TypeVar("Row", bound=Model)

READERS = (Role.CURATOR, Role.AUDITOR)  # of a contract: they read every question asked under it


def not_yours(*, private: bool = False) -> NotYours:
    """The one refusal: nothing in it depends on whether the thing exists. `private`: what a file holds decided it."""
    return NotYours("not_found", "There is nothing here, or it is not yours to see.", private=private)


def count(visitor: Visitor, what: str, error: Refused) -> None:
    """Count that `what` was denied or refused, for the record; never what depends on records."""
    if error.private:
        return
    if isinstance(error, NotYours):
        denied(visitor, what)
    else:
        refused(visitor, what, error.code)


def denied(visitor: Visitor, what: str) -> None:
    """Count that `visitor` was denied `what` (a method and a route): the sweep tells of it on the site's chain."""
    denials.count(denials.ACCESS, actor=_name(visitor), what=_printable(what))


def refused(visitor: Visitor, what: str, code: str) -> None:
    """Count that a request of `visitor` (a method and a route) was refused with `code`."""
    denials.count(denials.REFUSED, actor=_name(visitor), what=f"{code}: {_printable(what)}")


def has_place(visitor: Visitor, contract: Contract, *roles: str) -> bool:
    """Say whether `visitor` is a member of `contract`, in one of `roles` where any are named."""
    return _places(visitor, *roles).filter(contract=contract).exists()


def require(visitor: Visitor, contract: Contract, *roles: str) -> None:
    """Raise NotYours unless `visitor` has a place in `contract` (in one of `roles`)."""
    if not has_place(visitor, contract, *roles):
        raise not_yours()


def require_site_role(visitor: Visitor, role: str) -> User:
    """The visitor as a user who holds `role` on the site, or NotYours."""
    if not isinstance(visitor, User) or not visitor.is_active or not visitor.has_role(role):
        raise not_yours()
    return visitor


def contracts_of(visitor: Visitor, *roles: str) -> QuerySet[Contract]:
    """The contracts that `visitor` is a member of; drafts only where they curate."""
    mine = Contract.objects.filter(pk__in=_places(visitor, *roles).values("contract"))
    return mine.filter(~Q(state=Contract.State.DRAFT) | Q(pk__in=_places(visitor, Role.CURATOR).values("contract")))


def contract_for(visitor: Visitor, uid: str | UUID, *, role: str | None = None) -> Contract:
    """A contract of which `visitor` is a member, in `role` where one is named."""
    mine = contracts_of(visitor, *([role] if role else []))
    return _one(mine.select_related("version", "dataset").filter(uid=_uid(uid)))


def query_for(visitor: Visitor, uid: str | UUID, *, own: bool = False) -> Query:
    """A question: one's own while a member as analyst, or (unless `own`) any under a contract one curates or audits."""
    allowed = Q(analyst_id=visitor.pk, contract__in=contracts_of(visitor, Role.ANALYST))
    if not own:
        allowed |= Q(contract__in=contracts_of(visitor, *READERS))
    return _one(Query.objects.select_related("contract", "analyst", "version").filter(allowed, uid=_uid(uid)))


def saved_for(visitor: Visitor, uid: str | UUID) -> SavedQuestion:
    """A question that one keeps oneself, in a contract where one may still ask."""
    mine = SavedQuestion.objects.select_related("contract__version", "owner").filter(owner_id=visitor.pk)
    return _one(mine.filter(contract__in=contracts_of(visitor, Role.ANALYST), uid=_uid(uid)))


def analyst_of(contract: Contract, username: str) -> User:
    """Somebody who has, or had, a budget in `contract`, by user name."""
    return _one(User.objects.filter(username=username, pk__in=contract.budgets.values("analyst")))


def request_for(visitor: Visitor, uid: str | UUID, *, role: str | None = None) -> BudgetRequest:
    """A budget request: one's own, or any under a contract one curates; with role "curator" only the latter."""
    allowed = Q(contract__in=contracts_of(visitor, Role.CURATOR))
    if role != Role.CURATOR:
        allowed |= Q(analyst_id=visitor.pk, contract__in=contracts_of(visitor, Role.ANALYST))
    return _one(BudgetRequest.objects.select_related("contract", "analyst").filter(allowed, uid=_uid(uid)))


def raise_for(visitor: Visitor, uid: str | UUID) -> TotalRaise:
    """A proposed raise of a contract that one curates."""
    proposed = TotalRaise.objects.select_related("contract", "proposed_by")
    return _one(proposed.filter(contract__in=contracts_of(visitor, Role.CURATOR), uid=_uid(uid)))


def invitation_for(visitor: Visitor, uid: str | UUID) -> Invitation:
    """An invitation to a contract that one curates."""
    made = Invitation.objects.select_related("contract", "invited_by")
    return _one(made.filter(contract__in=contracts_of(visitor, Role.CURATOR), uid=_uid(uid)))


def user_for(visitor: Visitor, username: str) -> User:
    """Anybody of the site, switched on or off: for its curators."""
    require_site_role(visitor, Role.CURATOR)
    return _one(User.objects.filter(username__iexact=username.replace("\x00", "").strip()))


def experiment_for(visitor: Visitor, uid: str | UUID) -> Experiment:
    """One's own experiment with a contract that one still curates or audits."""
    mine = Experiment.objects.select_related("contract__version", "contract__dataset").filter(owner_id=visitor.pk)
    return _one(mine.filter(contract__in=contracts_of(visitor, *READERS), uid=_uid(uid)))


def verification_for(visitor: Visitor, uid: str | UUID) -> Verification:
    """One's own verification of chains that one may still read."""
    row = _one(Verification.objects.filter(owner_id=visitor.pk, uid=_uid(uid)))
    if not set(row.chains) <= set(chains_of(visitor)):
        raise not_yours()
    return row


def datasets_of(visitor: Visitor) -> QuerySet[Dataset]:
    """The datasets that `visitor` looks after."""
    owner = require_site_role(visitor, Role.CURATOR)
    return Dataset.objects.filter(owner=owner)


def dataset_for(visitor: Visitor, uid: str | UUID) -> Dataset:
    """A dataset that `visitor`, a curator, looks after."""
    return _one(datasets_of(visitor).filter(uid=_uid(uid)))


def version_for(visitor: Visitor, uid: str | UUID) -> DatasetVersion:
    """A frozen version of a dataset that `visitor` looks after, or that a contract they curate is about."""
    allowed = Q(dataset__contracts__in=contracts_of(visitor, Role.CURATOR))
    if isinstance(visitor, User) and visitor.is_active and visitor.has_role(Role.CURATOR):
        allowed |= Q(dataset__owner=visitor)
    return _one(DatasetVersion.objects.select_related("dataset").filter(allowed, uid=_uid(uid)).distinct())


def upload_for(visitor: Visitor, uid: str | UUID) -> Upload:
    """An upload to a dataset that `visitor` looks after."""
    return _one(Upload.objects.select_related("dataset", "version").filter(dataset__in=datasets_of(visitor), uid=_uid(uid)))


def chains_of(visitor: Visitor) -> list[str]:
    """The audit chains that `visitor` may read: of contracts they audit or curate, and the site's for an auditor."""
    mine = [audit.chain_of(contract) for contract in contracts_of(visitor, *READERS).order_by("-id")]
    if isinstance(visitor, User) and visitor.is_active and visitor.has_role(Role.AUDITOR):
        mine.append(audit.SITE)
    return mine


def record_of(visitor: Visitor) -> list[str]:
    """The same; NotYours for somebody who may read none and is no auditor, who may yet read one."""
    chains = chains_of(visitor)
    if not chains and not (isinstance(visitor, User) and visitor.has_role(Role.AUDITOR)):
        raise not_yours()
    return chains


def chain_for(visitor: Visitor, chain: str) -> str:
    """The name of a chain that `visitor` may read, or NotYours."""
    if chain not in chains_of(visitor):
        raise not_yours()
    return chain


def event_for(visitor: Visitor, chain: str, seq: int) -> AuditEvent:
    """One event of a chain that `visitor` may read."""
    return _one(AuditEvent.objects.filter(chain=chain_for(visitor, chain), seq=seq))


def _places(visitor: Visitor, *roles: str) -> QuerySet[Membership]:
    if not visitor.is_authenticated or not visitor.is_active:
        return Membership.objects.none()
    mine = Membership.objects.filter(user=visitor, active=True)
    return mine.filter(role__in=roles) if roles else mine


def _uid(uid: str | UUID) -> UUID:
    try:
        return uid if isinstance(uid, UUID) else UUID(uid)
    except ValueError:
        raise not_yours() from None


def _one(rows: QuerySet[Row]) -> Row:
    row = rows.first()
    if row is None:
        raise not_yours()
    return row


def _name(visitor: Visitor) -> str:
    return visitor.get_username() if visitor.is_authenticated else ""


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text[:300])
