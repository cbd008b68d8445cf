"""What the services on contracts share: locking the rows in their order, and who may do what to a contract in which state."""

from decimal import Decimal

from accounts import access
from accounts.models import Membership, Role, User
from curator.mechanism.errors import Conflict
from curator.models import AnalystBudget, Contract

State = Contract.State
LIVE = (State.OPEN, State.FROZEN)


def locked(contract: Contract) -> Contract:
    """The contract's row as it is now, locked until the transaction ends; the first lock of every change.

    FOR NO KEY UPDATE: a plain FOR UPDATE would block everybody who inserts a row that points at the contract.
    """
    rows = Contract.objects.select_related("version", "dataset")
    return rows.select_for_update(no_key=True, of=("self",)).get(pk=contract.pk)


def locked_for(curator: User, contract: Contract, *states: str) -> Contract:
    """The locked contract, if `curator` curates it and it is in one of `states`; else NotYours or Conflict."""
    row = locked(contract)
    access.require(curator, row, Role.CURATOR)
    check_state(row, *states)
    return row


def check_state(contract: Contract, *states: str) -> None:
    """Conflict contract_not_open unless the contract is in one of `states`."""
    if contract.state not in states:
        allowed = " or ".join(states)
        raise Conflict(
            "contract_not_open", f"The contract is {contract.state}; this needs one that is {allowed}.", state=contract.state
        )


def locked_budget(contract: Contract, analyst: User) -> AnalystBudget | None:
    """An analyst's budget row in a contract that is locked already; None for somebody who never had one."""
    rows = AnalystBudget.objects.select_for_update(no_key=True)
    return rows.filter(contract=contract, analyst=analyst).first()


def curators(contract: Contract) -> list[User]:
    """The active people who curate a contract, in the order of their user names."""
    places = Membership.objects.filter(contract=contract, role=Role.CURATOR, active=True, user__is_active=True)
    return [place.user for place in places.select_related("user").order_by("user__username")]


def curator_places(contract: Contract) -> list[User]:
    """Everybody who holds a curator's place, also while their account is switched off: it takes them or a successor to agree."""
    places = Membership.objects.filter(contract=contract, role=Role.CURATOR, active=True)
    return [place.user for place in places.select_related("user").order_by("user__username")]


def decimal_text(value: Decimal) -> str:
    """A setting as text in an event: no exponent, no trailing zeros, whatever the column's scale."""
    return f"{value.normalize():f}"
