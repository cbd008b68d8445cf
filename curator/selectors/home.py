"""A person's front page: the contracts they have a place in, with what each means for them."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts.models import Membership, Role, User
from curator.models import AnalystBudget, BudgetRequest, Contract
from curator.selectors.workspace import Meter, meter_of


@dataclass(frozen=True, slots=True)
class ContractCard:
    """One contract and the roles one has in it; `meter` for its analysts, `requests` waiting for its curators."""

    uid: UUID
    name: str
    dataset: str
    state: str
    ends_on: date | None
    analyst: bool
    curator: bool
    auditor: bool
    meter: Meter | None
    requests: int

    @property
    def roles(self) -> list[str]:
        """The roles one has in it."""
        held = ((Role.ANALYST, self.analyst), (Role.CURATOR, self.curator), (Role.AUDITOR, self.auditor))
        return [role.value for role, mine in held if mine]


def contract_cards(user: User, contracts: QuerySet[Contract]) -> tuple[ContractCard, ...]:
    """The contracts among `contracts` (fetched by access), newest first, in a fixed number of queries."""
    rows = list(contracts.select_related("dataset").annotate(waiting=Count("budget_requests", filter=_OPEN)).order_by("-id"))
    roles = defaultdict(set)
    for contract, role in Membership.objects.filter(user=user, active=True).values_list("contract_id", "role"):
        roles[contract].add(role)
    budgets = {row.contract_id: row for row in AnalystBudget.objects.filter(analyst=user)}
    return tuple(_card(row, roles[row.pk], budgets.get(row.pk), row.waiting) for row in rows)


_OPEN = Q(budget_requests__state=BudgetRequest.State.OPEN)


def _card(row: Contract, roles: set[str], budget: AnalystBudget | None, waiting: int) -> ContractCard:
    meter = meter_of(row, allotment=budget.allotment, my_spent=budget.spent) if budget and Role.ANALYST in roles else None
    return ContractCard(
        row.uid, row.name, row.dataset.name, row.state, row.ends_on,
        Role.ANALYST in roles, Role.CURATOR in roles, Role.AUDITOR in roles,
        meter, waiting if Role.CURATOR in roles else 0,
    )  # fmt: skip
