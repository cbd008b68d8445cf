"""One charge to the est account: its price, the share of the analyst who caused it, its releases and its ledger entry."""

from typing import Any

from curator.mechanism import controller, qif
from curator.mechanism.qif import Diagnostic
from curator.models import Diagnostic as DiagnosticRow
from curator.models import Query, Release
from curator.services.verification.case import Case
from curator.services.verification.difference import present, require, same
from curator.services.verification.rows import place_of


def diagnose(case: Case) -> None:
    """Check diagnostics and what was written with them, then move the state forward by them."""
    data, state = case.entry.data, case.state
    require(case.asked.state == Query.State.WAITING, case.entry.place, "the question had ended before")
    _check_price(case)
    _check_wanted(case)
    for disjoint in (data["bins"], [data["population"]] if data["population"] else []):
        case.books.one_group(case.entry.place, [_check_line(case, line) for line in disjoint])
    case.check_ledger(account=Release.Account.EST, load=data["charge"], before=state.est_spent)
    state.est_spent += data["charge"]
    state.purse(case.asked.analyst).est_spent += data["charge"]


def _check_price(case: Case) -> None:
    data, contract, spent = case.entry.data, case.state.contract, case.state.est_spent
    charge = controller.cost([contract.rho_d] * len(data["bins"]), contract.k) + (contract.rho_d if data["population"] else 0)
    expected = {
        "analyst": case.asked.analyst, "rho_d": contract.rho_d, "k": contract.k, "charge": charge, "est_before": spent,
        "est_after": spent + charge,
    }  # fmt: skip
    for name, value in expected.items():
        same(case.entry.place, name, data[name], value)
    _check_affordable(case, spent + charge, case.state.purse(case.asked.analyst).est_spent + charge)


def _check_affordable(case: Case, spent: int, own: int) -> None:
    state, place = case.state, case.entry.place
    share = qif.est_share(state.contract.rho_est, state.allotments(), case.asked.analyst)
    require(own <= share, place, "it exceeds the analyst's share of the est account")
    require(spent <= state.contract.rho_est, place, "it exceeds the est account")
    require(True in state.openness(case.entry.at), place, "the contract was not open")


def _check_wanted(case: Case) -> None:
    """Only bins of the question, and the population of its own version."""
    data, place = case.entry.data, case.entry.place
    stray = [line["descriptor"] for line in data["bins"] if line["descriptor"] not in case.asked.bins]
    same(place, "descriptors that the question does not name", stray, [])
    if data["population"]:
        same(place, "the population's descriptor", data["population"]["descriptor"], case.version.everybody_digest)


def _check_line(case: Case, line: dict[str, Any]) -> Release:
    digest, rho_d = line["descriptor"], case.state.contract.rho_d
    require(digest not in case.state.diagnostics, case.entry.place, f"descriptor {digest} had a diagnostic already")
    release = case.check_release(case.entry.place, line, account=Release.Account.EST, rho=rho_d, digest=digest)
    found = DiagnosticRow.objects.filter(contract=case.books.contract, descriptor_id=digest)
    kept = present(found.first(), place_of(release), "no diagnostic row keeps it")
    same(place_of(kept), "release_id", kept.release_id, release.pk)
    case.books.account_for(kept)
    case.state.diagnostics[digest] = Diagnostic(line["value"], rho_d)
    return release
