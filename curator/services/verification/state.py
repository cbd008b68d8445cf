"""What a contract's chain says the contract stands at, event by event; nothing here is read from the rows it is compared with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from curator.mechanism import accounting
from curator.mechanism.qif import Diagnostic
from curator.mechanism.rho import Units
from curator.models import Contract
from curator.services.standing import Credit, Purse, Standing, purse_of
from curator.services.verification.chain import Entry
from curator.services.verification.difference import require, same

#: A decision looks at the clock a moment before its event is stamped: so long after midnight both days are believed.
CLOCK = timedelta(minutes=1)
DECIMALS = ("xi", "kappa", "alpha", "beta", "delta")
AMOUNTS = ("rho_total", "rho_est", "rho_ans", "rho_d", "query_cap", "k")


@dataclass(slots=True)
class Request:
    """A budget request, or a raise, as the chain tells of it."""

    data: dict[str, Any]
    actor: str
    state: str = "open"
    decided_by: str | None = None
    granted: Units | None = None
    note: str = ""


@dataclass(slots=True)
class State:
    """The public state of one contract."""

    contract: Contract = field(default_factory=Contract)  # never saved: only the settings are used
    state: str = ""
    version: str = ""
    versions: dict[str, dict[str, Any]] = field(default_factory=dict)  # by uid: schema digest, table, person column, k
    dataset: str = ""
    spent: Units = 0
    est_spent: Units = 0
    purses: dict[str, Purse] = field(default_factory=dict)
    places: dict[tuple[str, str], bool] = field(default_factory=dict)  # (user name, role) → active
    credits: dict[str, Credit] = field(default_factory=dict)
    diagnostics: dict[str, Diagnostic] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)
    raises: dict[str, Request] = field(default_factory=dict)

    def purse(self, analyst: str) -> Purse:
        """One analyst's allotment and spending."""
        return self.purses.setdefault(analyst, Purse())

    def allotments(self) -> dict[str, Units | None]:
        """The allotments of the analysts who have a place now: by these the est account is shared."""
        return {name: purse.allotment for name, purse in self.purses.items() if self.places.get((name, "analyst"))}

    def openness(self, at: datetime) -> tuple[bool, ...]:
        """Whether questions could be charged at that moment; both answers just after the last midnight."""
        if self.state != Contract.State.OPEN:
            return (False,)
        ends = self.contract.ends_on
        if ends is None or at.astimezone(UTC).date() <= ends:
            return (True,)
        return (True, False) if (at - CLOCK).astimezone(UTC).date() <= ends else (False,)

    def standing(self, analyst: str, number: int, *, is_open: bool) -> Standing:
        """The state as the decision function takes it, with one analyst under a number of its own."""
        purse, present = self.purse(analyst), self.places.get((analyst, "analyst"), False)
        return Standing(
            contract=self.contract, is_open=is_open, spent=self.spent,
            purses={number: purse_of(purse.allotment, purse.spent, purse.est_spent, present=present)},
            credits=self.credits, diagnostics=self.diagnostics,
        )  # fmt: skip

    def apply(self, entry: Entry) -> bool:
        """Take over an event about settings, people or budgets; False for a kind that is none of these."""
        change = CHANGES.get(entry.kind)
        if change is not None:
            change(self, entry)
        return change is not None


def _settings(state: State, entry: Entry) -> None:
    given = entry.data["settings"]
    for name in AMOUNTS:
        setattr(state.contract, name, given[name])
    for name in DECIMALS:
        setattr(state.contract, name, Decimal(given[name]))
    state.contract.name, state.contract.ends_on = given["name"], _day(given["ends_on"])
    state.dataset = given["dataset"]
    _use(state, given)
    _check_split(state, entry)
    state.state = Contract.State.OPEN if entry.kind == "contract.opened" else Contract.State.DRAFT


def _check_split(state: State, entry: Entry) -> None:
    contract = state.contract
    parts = accounting.split(contract.rho_total, contract.xi)
    same(entry.place, "the split of rho_total", (contract.rho_est, contract.rho_ans), parts)


def _raised(state: State, entry: Entry) -> None:
    contract, data = state.contract, entry.data
    same(entry.place, "before", data["before"], contract.rho_total)
    require(data["after"] > data["before"], entry.place, "a raise goes upwards")
    contract.rho_total, contract.rho_est, contract.rho_ans = data["after"], data["rho_est"], data["rho_ans"]
    _check_split(state, entry)
    known = state.raises.setdefault(data["raise"], Request(data, data["proposed_by"]))
    known.state, known.decided_by = "applied", entry.actor


def _raise_proposed(state: State, entry: Entry) -> None:
    state.raises[entry.data["raise"]] = Request(entry.data, entry.actor)


def _raise_rejected(state: State, entry: Entry) -> None:
    known = state.raises[entry.data["raise"]]
    known.state, known.decided_by, known.note = "rejected", entry.actor, entry.data["note"]


def _moved(state: State, entry: Entry) -> None:
    same(entry.place, "before", entry.data["before"], state.state)
    state.state = entry.data["after"]


def _version(state: State, entry: Entry) -> None:
    same(entry.place, "before", entry.data["before"], state.version)
    _use(state, entry.data)


def _use(state: State, told: dict[str, Any]) -> None:
    state.version = told["version"]
    state.versions[state.version] = {name: told[name] for name in ("schema", "table", "person_column", "records")}


def _end_date(state: State, entry: Entry) -> None:
    same(entry.place, "before", _day(entry.data["before"]), state.contract.ends_on)
    state.contract.ends_on = _day(entry.data["after"])


def _reconciled(state: State, entry: Entry) -> None:
    """Charges that only a receipt knows of: the record they were in is gone."""
    data, contract = entry.data, state.contract
    same(entry.place, "spent_before", (data["spent_before"], data["est_before"]), (state.spent, state.est_spent))
    require(min(data["ans"], data["est"]) >= 0, entry.place, "nothing is ever given back")
    state.spent, state.est_spent = state.spent + data["ans"], state.est_spent + data["est"]
    require(state.spent <= contract.rho_ans and state.est_spent <= contract.rho_est, entry.place, "it exceeds the total")
    receipt = data["receipt"]
    require(
        not (data["ans"] or data["est"]) or (receipt is not None and state.spent + state.est_spent == receipt["spent"]),
        entry.place, "what is charged as lost leads to the receipt's total",
    )  # fmt: skip


def _allotment(state: State, entry: Entry) -> None:
    purse = state.purse(entry.data["analyst"])
    same(entry.place, "before", entry.data["before"], purse.allotment)
    after = entry.data["after"]
    require(after is None or after >= purse.spent, entry.place, "an allotment is never below what is spent")
    purse.allotment = after


def _added(state: State, entry: Entry) -> None:
    state.places[entry.data["user"], entry.data["role"]] = True


def _removed(state: State, entry: Entry) -> None:
    state.places[entry.data["user"], entry.data["role"]] = False


def _requested(state: State, entry: Entry) -> None:
    state.requests[entry.data["request"]] = Request(entry.data, entry.actor)


def _decided(state: State, entry: Entry) -> None:
    asked = state.requests[entry.data["request"]]
    same(entry.place, "amount", entry.data["amount"], asked.data["amount"])
    require(entry.actor != asked.actor, entry.place, "somebody decided their own request")
    require(asked.state == "open", entry.place, "the request had been decided before")
    asked.state = "approved" if entry.kind == "budget.approved" else "rejected"
    asked.decided_by, asked.granted, asked.note = entry.actor, entry.data.get("granted"), entry.data["note"]


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


CHANGES: dict[str, Callable[[State, Entry], None]] = {
    "contract.drafted": _settings,
    "contract.opened": _settings,
    "contract.raised": _raised,
    "contract.raise_proposed": _raise_proposed,
    "contract.raise_rejected": _raise_rejected,
    "contract.state": _moved,
    "contract.version": _version,
    "contract.end_date": _end_date,
    "contract.reconciled": _reconciled,
    "allotment.set": _allotment,
    "member.added": _added,
    "member.removed": _removed,
    "budget.requested": _requested,
    "budget.approved": _decided,
    "budget.rejected": _decided,
}
