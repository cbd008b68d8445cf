"""What the chain amounts to, against the rows that repeat it: contract, budgets, supports, people, requests; no row too many."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet

from accounts.models import Membership, User
from curator.models import (
    Allotment,
    AnalystBudget,
    Answer,
    BudgetRequest,
    Contract,
    DatasetVersion,
    Decision,
    Diagnostic,
    LedgerEntry,
    Query,
    QueryBin,
    Release,
    Support,
    TotalRaise,
)
from curator.services.contracts import version_data
from curator.services.standing import Purse
from curator.services.verification.asking import Asked
from curator.services.verification.chain import CHUNK
from curator.services.verification.difference import present, require, same
from curator.services.verification.rows import Books, place_of
from curator.services.verification.state import AMOUNTS, DECIMALS, Request, State

UNTOLD = "nothing on the chain tells of it"


def finish(state: State, asked: dict[str, Asked], books: Books) -> None:
    """Compare the last state of a contract with its rows. Difference at the first that does not agree."""
    _check_contract(books.contract, state)
    _check_versions(state)
    _check_budgets(books.contract, state)
    _check_supports(books.contract, state, books)
    _check_people(books.contract, state)
    _check_requests(books.contract, state)
    _check_raises(books.contract, state)
    _check_waiting(asked, books)
    for rows in _accountable(books.contract):
        _check_all_seen(rows, books)


def _check_contract(row: Contract, state: State) -> None:
    place = place_of(row)
    names = (*AMOUNTS, *DECIMALS, "name", "ends_on")
    expected: dict[str, object] = {name: getattr(state.contract, name) for name in names}
    expected |= {"state": state.state, "spent_bound": state.spent, "spent_method": "sum", "est_spent": state.est_spent}
    for name, value in expected.items():
        same(place, name, getattr(row, name), value)
    same(place, "version", str(row.version.uid), state.version)
    same(place, "dataset", str(row.dataset.uid), state.dataset)
    require(state.spent <= row.rho_ans and state.est_spent <= row.rho_est, place, "more is spent than there is")


def _check_versions(state: State) -> None:
    """A version's row still means what it meant when the contract took it up."""
    for row in DatasetVersion.objects.filter(uid__in=list(state.versions)).order_by("id"):
        found = version_data(row)
        for name, value in state.versions[str(row.uid)].items():
            same(place_of(row), name, found[name], value)


def _check_budgets(contract: Contract, state: State) -> None:
    rows = AnalystBudget.objects.filter(contract=contract).select_related("analyst").order_by("id")
    for row in rows:
        purse = state.purses.get(row.analyst.username, Purse())
        for name in ("allotment", "spent", "est_spent"):
            same(place_of(row), name, getattr(row, name), getattr(purse, name))
    _check_each_once(contract, "analystbudget", state.purses, [row.analyst.username for row in rows])


def _check_supports(contract: Contract, state: State, books: Books) -> None:
    found = []
    for row in Support.objects.filter(contract=contract).order_by("id").iterator(chunk_size=CHUNK):
        credit = present(state.credits.get(row.descriptor_id), place_of(row), "no release supports it")
        same(place_of(row), "rho_hist", row.rho_hist, credit.held.rho_hist)
        same(place_of(row), "weighted_sum", int(row.weighted_sum), credit.held.weighted_sum)
        same(place_of(row), "releases", row.releases, len(credit.parts))
        books.account_for(row)
        found.append(row.descriptor_id)
    _check_each_once(contract, "support", (digest for digest, credit in state.credits.items() if credit.parts), found)


def _check_people(contract: Contract, state: State) -> None:
    rows = Membership.objects.filter(contract=contract).select_related("user").order_by("id")
    founder = (contract.created_by.username, "curator")
    places = {founder: True, **state.places}
    for row in rows:
        same(place_of(row), "active", row.active, places.get((row.user.username, row.role)))
    _check_each_once(contract, "membership", places, [(row.user.username, row.role) for row in rows])


def _check_requests(contract: Contract, state: State) -> None:
    rows = list(BudgetRequest.objects.filter(contract=contract).select_related("analyst", "decided_by").order_by("id"))
    for row in rows:
        told = state.requests.get(str(row.uid))
        _check_decided(row, told, row.analyst, {"amount": row.amount}, {"granted": row.granted})
    _check_each_once(contract, "budgetrequest", state.requests, [str(row.uid) for row in rows])


def _check_raises(contract: Contract, state: State) -> None:
    rows = list(TotalRaise.objects.filter(contract=contract).select_related("proposed_by", "decided_by").order_by("id"))
    for row in rows:
        told = state.raises.get(str(row.uid))
        _check_decided(row, told, row.proposed_by, {"before": row.before, "after": row.rho_total}, {})
    _check_each_once(contract, "totalraise", state.raises, [str(row.uid) for row in rows])


def _check_decided(
    row: BudgetRequest | TotalRaise, known: Request | None, asker: User, asked: dict[str, object], given: dict[str, object]
) -> None:
    place = place_of(row)
    told = present(known, place, UNTOLD)
    for name, value in {**asked, "reason": row.reason}.items():
        same(place, name, value, told.data.get(name))
    same(place, "asked by", asker.username, told.actor)
    by = row.decided_by.username if row.decided_by else None
    for name, value in {"state": row.state, "decided_by": by, "note": row.note, **given}.items():
        same(place, name, value, getattr(told, name))


def _check_waiting(asked: dict[str, Asked], books: Books) -> None:
    """A question without an end on the chain is waiting in its row too (the others were compared at their end)."""
    rows = Query.objects.filter(contract=books.contract).order_by("id").values_list("pk", "uid", "state")
    for pk, uid, state in rows.iterator(chunk_size=CHUNK):
        told = present(asked.get(str(uid)), f"query {pk}", UNTOLD)
        same(f"query {pk}", "state", state, told.state)
        require(pk in books.seen["query"], f"query {pk}", UNTOLD)


def _accountable(contract: Contract) -> Iterable[QuerySet[Any]]:
    """Every row of the contract that some event must have told of."""
    for whole in (LedgerEntry, Release, Diagnostic, Allotment, Support):
        yield whole._default_manager.filter(contract=contract)
    for part in (Decision, Answer, QueryBin):
        yield part._default_manager.filter(query__contract=contract)


def _check_all_seen(rows: QuerySet[Any], books: Books) -> None:
    name = str(rows.model._meta.model_name)
    for pk in rows.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=CHUNK):
        require(pk in books.seen[name], f"{name} {pk}", UNTOLD)


def _check_each_once(contract: Contract, table: str, told: Iterable[object], found: Sequence[object]) -> None:
    """One row for everything that the chain tells of in this table."""
    missing = sorted(map(str, set(told) - set(found)))
    require(not missing, table, f"no row in {place_of(contract)} for {missing[:1]}, of which the chain tells")
    double = sorted(str(one) for one, times in Counter(found).items() if times > 1)
    require(not double, table, f"two rows in {place_of(contract)} for {double[:1]}")
