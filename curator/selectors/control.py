"""A contract as its curator sees it: settings, gauge, people and their spending, raises."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Membership, Role
from curator.mechanism import rho
from curator.mechanism.rho import Units
from curator.models import AnalystBudget, BudgetRequest, Contract, Hold, TotalRaise
from curator.selectors.allotments import promised
from curator.selectors.comparison import AnalystLine, analyst_lines
from curator.selectors.openness import is_open
from curator.selectors.purchases import buys
from curator.selectors.workspace import privacy_unit, thousandths


@dataclass(frozen=True, slots=True)
class Gauge:
    """The accounts of a contract; `*_share` are thousandths of the account."""

    delta: Decimal
    rho_total: Units
    rho_ans: Units
    rho_est: Units
    spent: Units
    left: Units
    est_spent: Units
    allotted: Units
    unlimited: int
    not_allotted: Units
    promised: Units  # to invitations that may still be accepted
    over_allotted: Units
    spent_share: int
    est_share: int
    buys: str

    @property
    def spent_percent(self) -> int:
        """The first bar's length in words."""
        return self.spent_share // 10

    @property
    def unpromised(self) -> Units:
        """What is neither allotted nor promised."""
        return max(0, self.not_allotted - self.promised)

    @property
    def est_left(self) -> Units:
        """What the account for diagnostics still has."""
        return max(0, self.rho_est - self.est_spent)

    @property
    def est_percent(self) -> int:
        """The second bar's length in words."""
        return self.est_share // 10


@dataclass(frozen=True, slots=True)
class Person:
    """One member in one role; amounts are an analyst's."""

    username: str
    full_name: str
    role: str
    role_title: str
    allotment: Units | None
    spent: Units
    left: Units | None
    share: int
    asked: int
    met: int
    partition: Units | None
    added_at: datetime

    @property
    def allotment_text(self) -> str:
        """The allotment as one types it; empty for no limit."""
        return "" if self.allotment is None else rho.text(self.allotment)


@dataclass(frozen=True, slots=True)
class Raise:
    """A proposed or decided raise of the total."""

    uid: UUID
    before: Units
    after: Units
    reason: str
    proposed_by: str
    state: str
    decided_by: str
    note: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ControlPage:
    """The control room of one contract."""

    contract: Contract
    open_now: bool
    privacy_unit: str
    gauge: Gauge
    people: tuple[Person, ...]
    open_requests: int
    raises: tuple[Raise, ...]
    ends_on: date | None
    hold: Hold | None  # why the worker releases nothing, although the contract is open

    @property
    def open_raise(self) -> Raise | None:
        """The raise that waits for a decision; there is at most one."""
        return next((each for each in self.raises if each.state == TotalRaise.State.OPEN), None)

    @property
    def analysts(self) -> tuple[Person, ...]:
        """Those who may ask."""
        return tuple(person for person in self.people if person.role == Role.ANALYST)


def control_page(contract: Contract, now: datetime) -> ControlPage:
    """Everything on the control page, in a fixed number of queries."""
    return ControlPage(
        contract=contract,
        open_now=is_open(contract, now),
        privacy_unit=privacy_unit(contract.version.person_column, contract.k),
        gauge=gauge(contract),
        people=people(contract),
        open_requests=open_requests(contract),
        raises=raises(contract),
        ends_on=contract.ends_on,
        hold=Hold.objects.filter(contract=contract).exclude(code="").first(),
    )


def open_requests(contract: Contract) -> int:
    """Budget requests that wait for a decision."""
    return BudgetRequest.objects.filter(contract=contract, state=BudgetRequest.State.OPEN).count()


def gauge(contract: Contract) -> Gauge:
    """Totals of the two accounts, and how much of them is allotted to members."""
    allotments = list(_budgets(contract).values_list("allotment", flat=True))
    allotted = sum(allotment for allotment in allotments if allotment is not None)
    return Gauge(
        delta=contract.delta,
        rho_total=contract.rho_total,
        rho_ans=contract.rho_ans,
        rho_est=contract.rho_est,
        spent=contract.spent_bound,
        left=max(0, contract.rho_ans - contract.spent_bound),
        est_spent=contract.est_spent,
        allotted=allotted,
        unlimited=allotments.count(None),
        not_allotted=max(0, contract.rho_ans - allotted),
        promised=promised(contract),
        over_allotted=max(0, allotted - contract.rho_ans),
        spent_share=thousandths(contract.spent_bound, contract.rho_ans),
        est_share=thousandths(contract.est_spent, contract.rho_est),
        buys=buys(contract.rho_ans),
    )


def _budgets(contract: Contract) -> QuerySet[AnalystBudget]:
    """Budgets of those who are members now."""
    members = Membership.objects.filter(contract=contract, role=Role.ANALYST, active=True).values("user")
    return AnalystBudget.objects.filter(contract=contract, analyst__in=members)


def people(contract: Contract) -> tuple[Person, ...]:
    """The active members, analysts with what they may spend and have spent."""
    budgets = {row.analyst_id: row for row in AnalystBudget.objects.filter(contract=contract)}
    lines = {line.analyst: line for line in analyst_lines(contract)}
    rows = Membership.objects.filter(contract=contract, active=True).select_related("user").order_by("role", "user__username")
    return tuple(_person(row, budgets.get(row.user_id), lines.get(row.user.get_username())) for row in rows)


def _person(row: Membership, budget: AnalystBudget | None, line: AnalystLine | None) -> Person:
    budget = budget if row.role == Role.ANALYST else None
    allotment = budget.allotment if budget else 0
    spent = budget.spent if budget else 0
    return Person(
        username=row.user.get_username(),
        full_name=row.user.get_full_name(),
        role=row.role,
        role_title=Role(row.role).label,
        allotment=allotment,
        spent=spent,
        left=None if allotment is None else max(0, allotment - spent),
        share=thousandths(spent, allotment) if allotment else 0,
        asked=line.asked if line else 0,
        met=line.met if line else 0,
        partition=line.partition if line else None,
        added_at=row.added_at,
    )


def raises(contract: Contract) -> tuple[Raise, ...]:
    """The latest raises of the total, undecided ones first."""
    rows = TotalRaise.objects.filter(contract=contract).select_related("proposed_by", "decided_by").order_by("-id")[:10]
    found = [_raise(row) for row in rows]
    return tuple(sorted(found, key=lambda raised: raised.state != TotalRaise.State.OPEN))


def _raise(row: TotalRaise) -> Raise:
    decided_by = row.decided_by.get_username() if row.decided_by else ""
    return Raise(
        row.uid, row.before, row.rho_total, row.reason, row.proposed_by.get_username(), row.state, decided_by, row.note,
        row.created_at,
    )  # fmt: skip
