"""One decision, made again from the chain alone, against its event, its row, its charge, its releases and its answers."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from curator.mechanism import accuracy, controller
from curator.models import Answer, Decision, Release
from curator.services import deciding
from curator.services.deciding import Part, Verdict
from curator.services.pending import Cell, Pending
from curator.services.standing import Credit
from curator.services.verification.asking import end
from curator.services.verification.case import Case
from curator.services.verification.difference import Difference, present, require, same
from curator.services.verification.rows import place_of

ME = 0  # the number of the one analyst whose purse a decision looks at
STATES = {"reuse": "answered", "measure": "answered", "partial": "partial", "decline": "declined"}
REPEATED = ("kind", "regime", "reason", "available", "limit", "mu", "k", "load", "quota", "spent_before", "spent_after")


def decide(case: Case) -> None:
    """Check a decision and everything that was written with it, then move the state forward by it."""
    verdict = _again(case)
    _check_event(case, verdict)
    end(case.entry, case.asked, case.query, STATES[verdict.kind])
    _check_decision_row(case)
    case.check_ledger(account=Release.Account.ANS, load=verdict.load, before=case.state.spent)
    case.state.spent += verdict.load
    case.state.purse(case.asked.analyst).spent += verdict.quota
    _check_bins(case, verdict)


def _again(case: Case) -> Verdict:
    """The decision from public state; just after a contract's last day, whichever of the two that was made."""
    verdicts = [_consider(case, is_open=is_open) for is_open in case.state.openness(case.entry.at)]
    told = (case.entry.data["kind"], case.entry.data["available"])
    return next((each for each in verdicts if (each.kind, each.limit.units) == told), verdicts[0])


def _consider(case: Case, *, is_open: bool) -> Verdict:
    asked = case.asked
    bins = zip(asked.bins, asked.rho_min, strict=True)
    pending = Pending(
        id=0, uid=UUID(int=0), analyst_id=ME, analyst=asked.analyst, version_id=0, target=asked.target,
        under_scarcity=asked.under_scarcity,
        cells=tuple(Cell(position, digest, rho_min) for position, (digest, rho_min) in enumerate(bins)),
    )  # fmt: skip
    standing = case.state.standing(asked.analyst, ME, is_open=is_open)
    verdict = deciding.consider(pending, case.version, standing, insist=True)
    if not isinstance(verdict, Verdict):
        raise Difference(f"{case.entry.place}: it cannot be decided with what was known")
    return verdict


def _check_event(case: Case, verdict: Verdict) -> None:
    mu, spent = verdict.terms.mu, case.state.spent
    expected = {
        "analyst": verdict.pending.analyst, "kind": verdict.kind, "regime": verdict.regime, "reason": verdict.reason,
        "available": verdict.limit.units, "limit": verdict.limit.reason, "mu": f"{mu.numerator}/{mu.denominator}",
        "k": verdict.terms.k, "under_scarcity": verdict.pending.under_scarcity.value, "load": verdict.load,
        "quota": verdict.quota, "unweighed": list(verdict.unweighed), "spent_before": spent, "spent_after": spent + verdict.load,
    }  # fmt: skip
    for name, value in expected.items():
        same(case.entry.place, name, case.entry.data[name], value)
    amounts = [part.rho_new for part in verdict.parts]
    same(case.entry.place, "load", case.entry.data["load"], controller.cost(amounts, verdict.terms.k))


def _check_decision_row(case: Case) -> None:
    entry = case.entry
    found = case.rows.decisions.get(case.query.pk)
    row: Decision = present(found, entry.place, f"question {case.query.pk} has no decision row")
    place = place_of(row)
    for name in REPEATED:
        same(place, name, getattr(row, name), entry.data[name])
    same(place, "event_seq", row.event_seq, entry.seq)
    same(place, "head", row.head, entry.head)
    require(row.decided_at == entry.at, place, f"decided_at is {row.decided_at.isoformat()}, its event's {entry.at.isoformat()}")
    case.books.account_for(row)


def _check_bins(case: Case, verdict: Verdict) -> None:
    parts = {part.cell.position: part for part in verdict.parts}
    answers = case.rows.answers.get(case.query.pk, [])
    same(place_of(case.query), "number of answers", len(answers), len(case.asked.bins))
    cells, lines = verdict.pending.cells, case.entry.data["bins"]
    releases = [_check_bin(case, cell, parts.get(cell.position), line) for cell, line in zip(cells, lines, strict=True)]
    case.books.one_group(case.entry.place, filter(None, releases))
    for cell, release, answer in zip(cells, releases, answers, strict=True):
        _check_answer(case, answer, cell, parts.get(cell.position), release)


def _check_bin(case: Case, cell: Cell, part: Part | None, line: dict[str, Any]) -> Release | None:
    """One bin of the event against the decision and its release, which is credited."""
    place = f"{case.entry.place} bin {cell.position}"
    for name, value in {"descriptor": cell.digest, **_amounts(part)}.items():
        same(place, name, Decimal(line[name]) if name == "weight" else line[name], value)
    if part is None or not part.rho_new or cell.digest is None:
        same(place, "release", (line["release"], line["value"], line["scale"]), (None, None, None))
        return None
    release = case.check_release(place, line, account=Release.Account.ANS, rho=part.rho_new, digest=cell.digest)
    credit = case.state.credits.setdefault(cell.digest, Credit())
    credit.add(line["release"], rho=part.rho_new, value=line["value"])
    return release


def _amounts(part: Part | None) -> dict[str, object]:
    """What the event and the answer both say of a bin; an empty region needs nothing."""
    if part is None:
        return {"rho_min": 0, "rho_hist": 0, "weight": Decimal(1), "rho_new": 0, "met": True}
    return {
        "rho_min": part.rho_min, "rho_hist": part.rho_hist, "weight": part.weight, "rho_new": part.rho_new, "met": part.met,
    }  # fmt: skip


def _check_answer(case: Case, answer: Answer, cell: Cell, part: Part | None, release: Release | None) -> None:
    """An answer is the fusion of the releases its certificate names, with the bound that their support gives."""
    credit = case.state.credits.get(cell.digest, Credit()) if cell.digest else Credit()
    held = credit.held
    bound = accuracy.bound_reached(held.rho_hist, case.asked.target, len(case.asked.bins))
    expected: dict[str, object] = {
        **_amounts(part), "position": cell.position, "rho_eff": held.rho_hist, "weighted_sum": held.weighted_sum,
        "value": held.shown if part else 0, "bound": bound if part else 0,
        "certificate": [list(each) for each in credit.parts], "release_id": release.pk if release else None,
    }  # fmt: skip
    for name, value in expected.items():
        same(place_of(answer), name, getattr(answer, name), value)
    case.books.account_for(answer)
