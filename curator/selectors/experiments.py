"""A person's experiments with a contract, and one of them with its result as tables and charts take it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounts.models import User
from curator.mechanism.rho import UNITS_PER_RHO, Units
from curator.models import Contract, Experiment
from curator.selectors.comparison import RULES, Rule
from curator.selectors.paging import Page, cut

SHOWN = 12


@dataclass(frozen=True, slots=True)
class Line:
    """One experiment in a list."""

    uid: UUID
    title: str
    state: str
    created_at: datetime
    spent: Units | None
    saved: Units | None


@dataclass(frozen=True, slots=True)
class AnalystLine:
    """One analyst here and under partition."""

    analyst: str
    spent: Units
    met: int
    partition: Units
    partition_met: int


@dataclass(frozen=True, slots=True)
class ExperimentPage:
    """One experiment."""

    uid: UUID
    title: str
    live: bool
    state: str
    detail: str
    done: int
    total: int
    scenario: Mapping[str, Any]
    rules: tuple[Rule, ...]
    analysts: tuple[AnalystLine, ...]
    report: Mapping[str, Any]
    charts: Mapping[str, Any]
    optimum_reason: str

    @property
    def waiting(self) -> bool:
        """Whether the worker is not done with it."""
        return self.state == Experiment.State.WAITING


def own(contract: Contract, owner: User, *, before: int = 0) -> Page[Line]:
    """A person's experiments with a contract, newest first; `before` is the mark of an earlier page."""
    rows = Experiment.objects.filter(contract=contract, owner=owner).defer("workload").order_by("-id")
    found, more = cut(list((rows.filter(pk__lt=before) if before else rows)[: SHOWN + 1]), SHOWN)
    return Page(tuple(map(_line, found)), more=str(found[-1].pk) if more else "", first=not before)


def document(page: ExperimentPage) -> dict[str, Any]:
    """The result as a file: what `manage.py laboratory --json` prints, with the settings it was made under."""
    return {"title": page.title, "settings": page.scenario, **page.report}


def _line(row: Experiment) -> Line:
    report = (row.result or {}).get("report", {})
    spent = report.get("allocators", {}).get("residual", {}).get("spent")
    return Line(row.uid, row.title, row.state, row.created_at, units(spent), units(report.get("saved_against_partition")))


def units(text: str | None) -> Units | None:
    """Units of an exact text of rho in a result, which may be below zero (a saving that is none)."""
    return None if text is None else int(Decimal(text) * UNITS_PER_RHO)


def experiment_page(row: Experiment) -> ExperimentPage:
    """Everything about one experiment."""
    result = row.result or {"report": {"allocators": {}}, "charts": {}}
    allocators = result["report"]["allocators"]
    return ExperimentPage(
        uid=row.uid,
        title=row.title,
        live=not row.workload,
        state=row.state,
        detail=row.detail,
        done=row.done,
        total=row.total,
        scenario=row.scenario,
        rules=tuple(_rule(name, allocators[name]) for name in RULES if name in allocators),
        analysts=_analysts(allocators),
        report=result["report"],
        charts=result["charts"],
        optimum_reason=allocators.get("offline_optimum", {}).get("reason") or "",
    )


def _rule(name: str, found: Mapping[str, Any]) -> Rule:
    title, does = RULES[name]
    return Rule(name, title, does, units(found["spent"]), found["met"], found["partial"], found["declined"])


def _analysts(allocators: Mapping[str, Any]) -> tuple[AnalystLine, ...]:
    if "residual" not in allocators:
        return ()
    ours, theirs = allocators["residual"]["by_analyst"], allocators["budget_partition"]["by_analyst"]
    return tuple(
        AnalystLine(
            name, units(ours[name]["spent"]) or 0, ours[name]["met"], units(theirs[name]["spent"]) or 0, theirs[name]["met"]
        )
        for name in ours
    )
