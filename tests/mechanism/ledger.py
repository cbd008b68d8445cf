"""A contract kept in memory, as plainly as it can be told: what the promises are checked against without a database."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from curator.mechanism import qif
from curator.mechanism.controller import Decision, Limit, Need, Terms, UnderScarcity, available, cost, decide
from curator.mechanism.rho import Units


@dataclass
class Contract:
    """One contract: two accounts, allotments, what is held of each descriptor, what each analyst has spent.

    `exposed` is kept beside the ledger, from the releases: the rho that each of six made-up people have been in. Person p has
    a record in k bins of every question, from bin p on and around.
    """

    rho_est: Units
    rho_ans: Units
    k: int = 1
    mu: Fraction = Fraction(0)
    cap: Units | None = None
    allotments: dict[str, Units | None] = field(default_factory=dict)
    held: dict[str, Units] = field(default_factory=dict)
    spent: dict[str, Units] = field(default_factory=dict)
    est_spent: dict[str, Units] = field(default_factory=dict)
    exposed: list[Units] = field(default_factory=lambda: [0] * 6)

    @property
    def charged(self) -> Units:
        """Spent of both accounts, by all."""
        return sum(self.spent.values()) + sum(self.est_spent.values())

    def limits(self, analyst: str, bins: int) -> tuple[Limit, ...]:
        """What `analyst` may spend now on a question of so many bins."""
        pool = self.rho_ans - sum(self.spent.values())
        allotment, spent = self.allotments.get(analyst), self.spent.get(analyst, 0)
        return available(pool=pool, allotment=allotment, spent=spent, cap=self.cap, bins=bins)

    def settle(self, analyst: str, needs: Sequence[Need], choice: UnderScarcity = UnderScarcity.PARTIAL) -> Decision:
        """Decide from the state now, whatever was held when `needs` were looked at; charge and release."""
        current = [replace(need, rho_hist=self.held.get(need.descriptor, 0)) for need in needs]
        decision = decide(current, self.limits(analyst, len(needs)), Terms(self.k, self.mu, choice))
        self.spent[analyst] = self.spent.get(analyst, 0) + decision.quota
        for need, amount in zip(needs, decision.amounts, strict=True):
            self.held[need.descriptor] = self.held.get(need.descriptor, 0) + amount
        self._expose(decision.amounts)
        return decision

    def _expose(self, amounts: Sequence[Units]) -> None:
        bins = len(amounts)
        for person in range(len(self.exposed)):
            self.exposed[person] += sum(amounts[(person + step) % bins] for step in range(min(self.k, bins)))

    def diagnose(self, analyst: str, bins: int, rho_d: Units) -> Units:
        """Charge `est` for diagnostics of so many bins if the analyst's share and the account allow; what was charged."""
        charge = cost([rho_d] * bins, self.k)
        share = qif.est_share(self.rho_est, self.allotments, analyst) - self.est_spent.get(analyst, 0)
        if charge > min(share, self.rho_est - sum(self.est_spent.values())):
            return 0
        self.est_spent[analyst] = self.est_spent.get(analyst, 0) + charge
        self._expose([rho_d] * bins)
        return charge
