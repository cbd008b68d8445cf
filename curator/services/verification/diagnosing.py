"""One charge to the est account: its price, the share of the analyst who caused it, its releases and its ledger entry."""

from typing import Any

from curator.mechanism import controller, qif
from curator.mechanism.qif import Diagnostic
from curator.models import Diagnostic as DiagnosticRow
from curator.models import Release
from curator.services.verification.asking import Asked
from curator.services.verification.chain import Entry
from curator.services.verification.deciding import check_ledger, check_release
from curator.services.verification.difference import present, require, same
from curator.services.verification.rows import Books, Rows, place_of
from curator.services.verification.state import State


def diagnose(entry: Entry, asked: Asked, state: State, rows: Rows, books: Books) -> None:
    """Check diagnostics and what was written with them, then move the state forward by them."""
    data = entry.data
    _check_price(entry, asked, state)
    _check_wanted(entry, asked, books)
    for disjoint in (data["bins"], [data["population"]] if data["population"] else []):
        books.one_group(entry.place, [_check_line(entry, line, state, rows, books) for line in disjoint])
    check_ledger(
        entry, rows, books, account=Release.Account.EST, analyst=asked.analyst, load=data["charge"], before=state.est_spent
    )
    state.est_spent += data["charge"]
    state.purse(asked.analyst).est_spent += data["charge"]


def _check_price(entry: Entry, asked: Asked, state: State) -> None:
    data, contract, rho_d = entry.data, state.contract, state.contract.rho_d
    charge = controller.cost([rho_d] * len(data["bins"]), contract.k) + (rho_d if data["population"] else 0)
    expected = {
        "analyst": asked.analyst, "rho_d": rho_d, "k": contract.k, "charge": charge, "est_before": state.est_spent,
        "est_after": state.est_spent + charge,
    }  # fmt: skip
    for name, value in expected.items():
        same(entry.place, name, data[name], value)
    share = qif.est_share(contract.rho_est, state.allotments(), asked.analyst)
    require(
        state.purse(asked.analyst).est_spent + charge <= share, entry.place, "it exceeds the analyst's share of the est account"
    )
    require(state.est_spent + charge <= contract.rho_est, entry.place, "it exceeds the est account")
    require(True in state.openness(entry.at), entry.place, "the contract was not open")


def _check_wanted(entry: Entry, asked: Asked, books: Books) -> None:
    """Only bins of the question, and the population of its own version."""
    stray = [line["descriptor"] for line in entry.data["bins"] if line["descriptor"] not in asked.bins]
    same(entry.place, "descriptors that the question does not name", stray, [])
    version, population = books.version_of(asked.version, entry.place), entry.data["population"]
    if population:
        same(entry.place, "the population's descriptor", population["descriptor"], version.everybody_digest)


def _check_line(entry: Entry, line: dict[str, Any], state: State, rows: Rows, books: Books) -> Release:
    digest, rho_d = line["descriptor"], state.contract.rho_d
    require(digest not in state.diagnostics, entry.place, f"descriptor {digest} had a diagnostic already")
    release = check_release(entry.place, line, rows, books, account=Release.Account.EST, rho=rho_d, digest=digest)
    rows_kept = DiagnosticRow.objects.filter(contract=books.contract, descriptor_id=digest)
    kept = present(rows_kept.first(), place_of(release), "no diagnostic row keeps it")
    same(place_of(kept), "release_id", kept.release_id, release.pk)
    books.account_for(kept)
    state.diagnostics[digest] = Diagnostic(line["value"], rho_d)
    return release
