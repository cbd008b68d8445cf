"""Contracts over JSON: what I may use, its transcript, its comparison; and for curators its life."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.models import Role
from accounts.services import person
from curator.api.base import Api, body_of, caller, mark_of, only, page_of, paged, text_of
from curator.api.fields import Fields
from curator.api.shapes import ContractDetail, ContractLine, ReleaseShape
from curator.mechanism import rho
from curator.mechanism.errors import BadInput
from curator.selectors import comparison, records, workspace
from curator.selectors.openness import held
from curator.services import contracts, memberships, raises

AMOUNTS = ("rho_total", "rho_d", "query_cap")
DECIMALS = ("xi", "kappa", "alpha", "beta", "delta")
NULLABLE = ("rho_d", "query_cap", "ends_on")

_SETTINGS: Fields = {name: serializers.CharField() for name in ("version", "name", "rho_total")}
_SETTINGS |= {name: serializers.CharField(required=False) for name in (*AMOUNTS[1:], *DECIMALS, "ends_on")}
SETTINGS = inline_serializer("ContractSettings", _SETTINGS)

_MEMBER: Fields = {name: serializers.CharField() for name in ("username", "role")}
_MEMBER |= {"allotment": serializers.CharField(required=False, allow_null=True), "reason": serializers.CharField(required=False)}
MEMBER = inline_serializer("ContractMember", _MEMBER)


class Contracts(Api):
    """`contracts/`"""

    @extend_schema(responses=ContractLine(many=True))
    def get(self, request: Request) -> Response:
        """The contracts I have a place in."""
        rows = access.contracts_of(caller(request)).select_related("dataset").order_by("-id")
        return Response(ContractLine(rows, many=True).data)

    @extend_schema(request=SETTINGS, responses={201: ContractLine})
    def post(self, request: Request) -> Response:
        """Open a contract about a frozen version of a dataset (curators)."""
        curator = access.require_site_role(caller(request), Role.CURATOR)
        body = only(body_of(request), "version", "name", *AMOUNTS, *DECIMALS, "ends_on")
        version = access.version_for(curator, text_of(body, "version"))
        opened = contracts.open_contract(curator=curator, version=version, name=text_of(body, "name"), **chosen(body))
        return Response(ContractLine(opened).data, status=201)


def chosen(body: Mapping[str, Any]) -> Any:
    """The settings in a body as the service takes them; what is left out keeps its default."""
    if "rho_total" not in body:
        raise BadInput("bad_number", "rho_total: expected an amount of rho", field="rho_total")
    given = {name: body[name] for name in (*AMOUNTS, *DECIMALS, "ends_on") if name in body}
    return {name: None if value is None and name in NULLABLE else _setting(name, value) for name, value in given.items()}


def _setting(name: str, value: Any) -> int | Decimal | datetime.date:
    if name in AMOUNTS:
        return rho.parse(value, field=name)
    return day_of(value, name) if name == "ends_on" else rho.number(value, field=name)


def day_of(value: object, field: str) -> datetime.date:
    """A day as YYYY-MM-DD, or BadInput."""
    try:
        return datetime.date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise BadInput("bad_date", f"{field}: expected a day as YYYY-MM-DD", field=field) from None


class Contract(Api):
    """`contracts/{id}/`"""

    @extend_schema(responses=ContractDetail)
    def get(self, request: Request, uid: UUID) -> Response:
        """Public schema, settings and budget of one contract."""
        found = access.contract_for(caller(request), uid)
        budget = workspace.meter(found, caller(request))
        return Response(ContractDetail({"contract": found, "budget": budget, "held": held(found)}).data)


class Releases(Api):
    """`contracts/{id}/releases/`"""

    @extend_schema(responses=page_of(ReleaseShape))
    def get(self, request: Request, uid: UUID) -> Response:
        """The public transcript in order; `?after=` takes the mark in `next`."""
        found = access.contract_for(caller(request), uid)
        return Response(paged(records.transcript(found, after=mark_of(request)), ReleaseShape))


class Comparison(Api):
    """`contracts/{id}/comparison/`"""

    @extend_schema(responses=dict[str, Any])
    def get(self, request: Request, uid: UUID) -> Response:
        """Spend and thresholds met per allocator: `mine`, the `contract`, and `by_analyst` for its curators and auditors."""
        visitor = caller(request)
        found = access.contract_for(visitor, uid)
        mine = comparison.comparison(found, visitor.get_username())
        whole = comparison.comparison(found)
        answer = {"mine": _allocators(mine), "contract": _allocators(whole)}
        if whole is not None and access.has_place(visitor, found, *access.READERS):
            answer["by_analyst"] = {
                line.analyst: _allocators(comparison.comparison(found, line.analyst)) for line in whole.by_analyst
            }
        return Response(answer)


def _allocators(found: comparison.Comparison | None) -> dict[str, Any] | None:
    """None before the contract was opened: nothing can have been asked."""
    if found is None:
        return None
    rules = {rule.name: _rule(rule) for rule in found.rules}
    return {"asked": found.asked, "allocators": rules, "saved_against_partition": rho.text(found.saved)}


def _rule(rule: comparison.Rule) -> dict[str, Any]:
    spent = None if rule.spent is None else rho.text(rule.spent)
    return {"spent": spent, "met": rule.met, "partial": rule.partial, "declined": rule.declined}


class State(Api):
    """`contracts/{id}/state/`"""

    @extend_schema(
        request=inline_serializer("ContractState", {"state": serializers.CharField(), "reason": serializers.CharField()}),
        responses=ContractLine,
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Freeze, reopen or close a contract, with a reason (curators)."""
        curator = caller(request)
        found = access.contract_for(curator, uid, role=Role.CURATOR)
        body = only(body_of(request), "state", "reason")
        moves = {"frozen": contracts.freeze, "open": contracts.reopen, "closed": contracts.close}
        move = moves.get(text_of(body, "state"))
        if move is None:
            raise BadInput("bad_state", f"state: expected one of {', '.join(moves)}", field="state")
        return Response(ContractLine(move(curator=curator, contract=found, reason=text_of(body, "reason"))).data)


class Raise(Api):
    """`contracts/{id}/raise/`"""

    @extend_schema(
        request=inline_serializer("ContractRaise", {"rho_total": serializers.CharField(), "reason": serializers.CharField()}),
        responses=inline_serializer("ContractRaised", {"id": serializers.CharField(), "state": serializers.CharField()}),
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Raise the total, with a reason; a second curator, where there is one, decides it (curators)."""
        curator = caller(request)
        found = access.contract_for(curator, uid, role=Role.CURATOR)
        body = only(body_of(request), "rho_total", "reason")
        total = rho.parse(body.get("rho_total", ""), field="rho_total")
        raised = raises.raise_total(curator=curator, contract=found, rho_total=total, reason=text_of(body, "reason"))
        return Response({"id": str(raised.uid), "state": raised.state})


class Members(Api):
    """`contracts/{id}/members/`"""

    @extend_schema(
        request=MEMBER,
        responses={
            201: inline_serializer("ContractMemberAdded", {"username": serializers.CharField(), "role": serializers.CharField()})
        },
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Give a person a place: for an analyst with an `allotment` (null: no limit of their own) (curators)."""
        curator = caller(request)
        found = access.contract_for(curator, uid, role=Role.CURATOR)
        body = only(body_of(request), "username", "role", "allotment", "reason")
        user, role = person(text_of(body, "username")), text_of(body, "role")
        if role == Role.ANALYST and "allotment" not in body:
            raise BadInput("bad_number", "allotment: expected an amount of rho, or null for no limit", field="allotment")
        allotment = None if body.get("allotment") is None else rho.parse(body["allotment"], field="allotment")
        memberships.add_member(
            curator=curator, contract=found, user=user, role=role, allotment=allotment, reason=text_of(body, "reason", "")
        )
        return Response({"username": user.username, "role": role}, status=201)


class Allotment(Api):
    """`contracts/{id}/allotments/`"""

    @extend_schema(
        request=inline_serializer(
            "AllotmentChange",
            {
                "username": serializers.CharField(),
                "rho": serializers.CharField(allow_null=True),
                "reason": serializers.CharField(),
            },
        ),
        responses=inline_serializer(
            "AllotmentSet", {"username": serializers.CharField(), "rho": serializers.CharField(allow_null=True)}
        ),
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Set what an analyst may spend in all; null is the explicit "no limit of their own" (curators)."""
        curator = caller(request)
        found = access.contract_for(curator, uid, role=Role.CURATOR)
        body = only(body_of(request), "username", "rho", "reason")
        if "rho" not in body:
            raise BadInput("bad_number", "rho: expected an amount of rho, or null for no limit", field="rho")
        amount = None if body["rho"] is None else rho.parse(body["rho"], field="rho")
        analyst = person(text_of(body, "username"))
        memberships.set_allotment(curator=curator, contract=found, analyst=analyst, rho=amount, reason=text_of(body, "reason"))
        return Response({"username": analyst.username, "rho": None if amount is None else rho.text(amount)})
