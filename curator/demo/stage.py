"""Sets the stage: four people with fresh passwords, the survey frozen as a version, an open contract.

Safe to run again: what is there is used, passwords are drawn anew.
"""

from decimal import Decimal
from pathlib import Path

from accounts import profile
from accounts import services as accounts
from accounts.models import Role, User
from curator.demo import script
from curator.mechanism import rho
from curator.mechanism.errors import Conflict
from curator.models import AnalystBudget, BudgetRequest, Contract, DatasetVersion, Query
from curator.services import budget_requests, contracts, ingestion, memberships
from curator.services.datasets import PrivacyUnit

HERE = Path(__file__).parent
CAST = {"alice": Role.ANALYST, "bob": Role.ANALYST, "carol": Role.CURATOR, "dora": Role.AUDITOR}
DATASET = "Survey of income, 1991"
CONTRACT = "SIPP 1991"
ALLOTMENT = "0.05"

Cast = dict[str, tuple[User, str]]


def people() -> Cast:
    """The cast, each with a password to be shown once."""
    return {name: _person(name, role) for name, role in CAST.items()}


def _person(name: str, role: str) -> tuple[User, str]:
    known = User.objects.filter(username=name, is_active=True).first()
    if known is not None and known.email != mail(name):
        raise Conflict("username_taken", f"There is a real {name} here: the demonstration leaves this database alone.")
    if known is not None:
        return known, accounts.draw_password(known)
    made = accounts.create_user(username=name, roles=[role], email=mail(name))
    profile.set_mail(user=made.user, notices=False)  # nobody has that address
    return made.user, made.password or ""


def mail(name: str) -> str:
    """An address that nobody has; it marks the demonstration's own people."""
    return f"{name}@demonstration.invalid"


def contract(cast: Cast) -> Contract:
    """The demonstration's contract, opened if it is not there yet."""
    carol = cast["carol"][0]
    known = Contract.objects.filter(name=CONTRACT, created_by=carol).first()
    if known is not None:
        return known
    opened = contracts.open_contract(
        curator=carol,
        version=_version(carol),
        name=CONTRACT,
        stands=True,
        rho_total=rho.parse("0.12", field="rho_total"),
        kappa=Decimal("0.05"),
    )
    for name in ("alice", "bob"):
        amount = rho.parse(ALLOTMENT, field="allotment")
        memberships.add_member(curator=carol, contract=opened, user=cast[name][0], role=Role.ANALYST, allotment=amount)
    memberships.add_member(curator=carol, contract=opened, user=cast["dora"][0], role=Role.AUDITOR)
    return opened


def _version(carol: User) -> DatasetVersion:
    known = DatasetVersion.objects.filter(dataset__owner=carol, dataset__name=DATASET).order_by("number").last()
    if known is not None:
        return known
    schema = (HERE / "k401ksubs.schema.json").read_text(encoding="utf-8")
    return ingestion.load(HERE / "k401ksubs.csv", curator=carol, name=DATASET, schema_text=schema, unit=PrivacyUnit())


def leave(contract: Contract, cast: Cast, rest: str) -> None:
    """Carol sets each allotment so that `rest` (rho) is left of it; once, before the scarce questions were ever asked."""
    if Query.objects.filter(contract=contract, key=script.SCARCE[0].key).exists():
        return
    carol, reason = cast["carol"][0], f"{rest} rho left for the end of the round"
    for budget in AnalystBudget.objects.filter(contract=contract).select_related("analyst"):
        amount = budget.spent + rho.parse(rest, field="rest")
        memberships.set_allotment(curator=carol, contract=contract, analyst=budget.analyst, rho=amount, reason=reason)


def ask_for_more(contract: Contract, cast: Cast) -> None:
    """Bob asks Carol for more, so that her inbox has something to decide."""
    bob = cast["bob"][0]
    if not BudgetRequest.objects.filter(contract=contract, analyst=bob).exists():
        reason = "The tables by age group at ±15 for the spring report need a little more."
        budget_requests.request(analyst=bob, contract=contract, amount=rho.parse("0.02", field="amount"), reason=reason)
