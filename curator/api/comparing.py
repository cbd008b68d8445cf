"""The same questions under other rules, over JSON: totals of everybody one may look at, or one selection with its curves."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from curator.api.base import Api, caller, param
from curator.mechanism import rho
from curator.mechanism.comparators.series import Curve
from curator.models import Contract
from curator.selectors import comparison

WHOSE = OpenApiParameter(
    "whose", str, description="mine, all, or an analyst (for curators and auditors): that selection alone, with curves"
)


class Comparison(Api):
    """`contracts/{id}/comparison/`"""

    @extend_schema(responses=dict[str, Any], parameters=[WHOSE])
    def get(self, request: Request, uid: UUID) -> Response:
        """Spend and thresholds met per allocator: `mine`, the `contract`, and `by_analyst` for its curators and auditors."""
        found = access.contract_for(caller(request), uid)
        whose = param(request, "whose")
        return Response(_everybody(request, found) if not whose else _selected(request, found, whose))


def _everybody(request: Request, contract: Contract) -> dict[str, Any]:
    visitor = caller(request)
    whole = comparison.comparison(contract)
    answer = {"mine": _totals(comparison.comparison(contract, visitor.get_username())), "contract": _totals(whole)}
    if whole is not None and access.has_place(visitor, contract, *access.READERS):
        answer["by_analyst"] = {line.analyst: _totals(comparison.comparison(contract, line.analyst)) for line in whole.by_analyst}
    return answer


def _selected(request: Request, contract: Contract, whose: str) -> dict[str, Any]:
    """Somebody else's questions are for those who oversee the contract."""
    visitor = caller(request)
    name = {"mine": visitor.get_username(), "all": ""}.get(whose, whose)
    if name not in ("", visitor.get_username()):
        access.require(visitor, contract, *access.READERS)
    found = comparison.comparison(contract, name)
    curves = {} if found is None else {rule: _curve(curve) for rule, curve in found.curves.items()}
    return {"analyst": name, **(_totals(found) or {"asked": 0, "allocators": {}}), "curves": curves}


def _totals(found: comparison.Comparison | None) -> dict[str, Any] | None:
    """None before the contract was opened: nothing can have been asked."""
    if found is None:
        return None
    rules = {rule.name: _rule(rule) for rule in found.rules}
    told = {"asked": found.asked, "allocators": rules, "saved_against_partition": rho.text(found.saved)}
    return told | ({"optimum_reason": found.optimum_reason} if found.optimum_reason else {})


def _rule(rule: comparison.Rule) -> dict[str, Any]:
    spent = None if rule.spent is None else rho.text(rule.spent)
    return {"spent": spent, "met": rule.met, "partial": rule.partial, "declined": rule.declined}


def _curve(curve: Curve) -> dict[str, Any]:
    """After which question (from 1, in the order of decisions) how much was spent, and how many were met; thinned for charts."""
    return {
        "question": [position + 1 for position in curve.positions],
        "spent": [rho.text(spent) for spent in curve.spent],
        "met": list(curve.met),
    }
