"""What a contract stands at: who has spent how much, what is held of each descriptor, which diagnostics were taken.

Everything here is public within the contract. Read under the contract's row lock it decides; read without, it only foretells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from accounts.models import Membership, Role
from curator.mechanism import controller, qif
from curator.mechanism.controller import Limit, Terms, UnderScarcity
from curator.mechanism.rho import Units
from curator.mechanism.support import Held
from curator.models import AnalystBudget, Contract, Diagnostic, Release, Support
from curator.selectors.openness import is_open

CLOSED = Limit(0, "contract")


@dataclass(slots=True)
class Purse:
    """One analyst's allotment (None: no limit of their own) and spending; nobody without a row or a place may spend anything."""

    allotment: Units | None = 0
    spent: Units = 0
    est_spent: Units = 0


@dataclass(slots=True)
class Credit:
    """What is held of one descriptor: its fusion state, and the releases behind it as [uid, rho]."""

    held: Held = field(default_factory=Held)
    parts: list[tuple[str, Units]] = field(default_factory=list)

    def add(self, uid: str, *, rho: Units, value: int) -> None:
        """Fuse one more release."""
        self.held = self.held.add(rho=rho, value=value)
        self.parts.append((uid, rho))


@dataclass(slots=True)
class Standing:
    """A contract at one moment; settling moves it forward question by question before anything is written."""

    contract: Contract
    is_open: bool
    spent: Units
    purses: dict[int, Purse]
    credits: dict[str, Credit]
    diagnostics: Mapping[str, qif.Diagnostic]

    def credit(self, digest: str) -> Credit:
        """What is held of a descriptor, possibly nothing."""
        return self.credits.setdefault(digest, Credit())

    def purse(self, analyst_id: int) -> Purse:
        """An analyst's own limits and spending."""
        return self.purses.setdefault(analyst_id, Purse())

    def limits(self, analyst_id: int, *, bins: int) -> tuple[Limit, ...]:
        """What may be spent on each bin, and whose limit that is; nothing while the contract is not open."""
        if not self.is_open:
            return (CLOSED,) * bins
        purse = self.purse(analyst_id)
        return controller.available(
            pool=self.contract.rho_ans - self.spent, allotment=purse.allotment, spent=purse.spent,
            cap=self.contract.query_cap, bins=bins,
        )  # fmt: skip

    def terms(self, under_scarcity: UnderScarcity) -> Terms:
        """The contract's side of a decision."""
        price = controller.price_of_scarcity(self.contract.kappa, self.contract.rho_ans)
        return Terms(k=self.contract.k, mu=price, under_scarcity=under_scarcity)


def read(contract: Contract, *, analysts: Iterable[int], digests: Iterable[str], now: datetime) -> Standing:
    """The standing of a contract as far as these analysts and descriptors go."""
    wanted = list(digests)
    return Standing(
        contract=contract, is_open=is_open(contract, now), spent=contract.spent_bound,
        purses=_purses(contract, analysts), credits=_credits(contract, wanted), diagnostics=_diagnostics(contract, wanted),
    )  # fmt: skip


def _purses(contract: Contract, analysts: Iterable[int]) -> dict[int, Purse]:
    wanted = list(analysts)
    places = Membership.objects.filter(contract=contract, role=Role.ANALYST, active=True, user_id__in=wanted)
    present = set(places.values_list("user_id", flat=True))
    rows = AnalystBudget.objects.filter(contract=contract, analyst_id__in=wanted)
    return {row.analyst_id: purse_of(row.allotment, row.spent, row.est_spent, present=row.analyst_id in present) for row in rows}


def purse_of(allotment: Units | None, spent: Units, est_spent: Units, *, present: bool) -> Purse:
    """The purse of an analyst; of one who has left (a question of theirs may still be under way) with nothing to spend."""
    return Purse(allotment if present else 0, spent, est_spent)


def _credits(contract: Contract, digests: list[str]) -> dict[str, Credit]:
    sums = Support.objects.filter(contract=contract, descriptor_id__in=digests)
    found = {row.descriptor_id: Credit(Held(row.rho_hist, int(row.weighted_sum))) for row in sums}
    parts = Release.objects.filter(contract=contract, descriptor_id__in=list(found), account=Release.Account.ANS)
    for digest, uid, rho in parts.order_by("id").values_list("descriptor_id", "uid", "rho"):
        found[digest].parts.append((str(uid), rho))
    return found


def _diagnostics(contract: Contract, digests: list[str]) -> dict[str, qif.Diagnostic]:
    rows = Diagnostic.objects.filter(contract=contract, descriptor_id__in=digests)
    values = rows.values_list("descriptor_id", "release__value", "release__rho")
    return {digest: qif.Diagnostic(value, rho) for digest, value, rho in values}
