"""Contracts over JSON: what I may use, its transcript, its comparison; for curators a new one and drafts."""

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
from curator.api.base import Api, body_of, caller, curated, mark_of, only, page_of, paged, text_of, truth_of
from curator.api.fields import Fields, epsilon
from curator.api.shapes import ContractCardShape, ContractDetail, ContractLine, ReleaseShape
from curator.mechanism import accounting, rho
from curator.mechanism.errors import BadInput
from curator.selectors import purchases, records, workspace
from curator.selectors.home import contract_cards
from curator.selectors.openness import held
from curator.selectors.settings_words import Weighing, meaning, strictness, warnings
from curator.services import contract_settings, contracts

AMOUNTS = ("rho_total", "rho_d", "query_cap")
DECIMALS = ("xi", "kappa", "alpha", "beta", "delta")
NULLABLE = ("rho_d", "query_cap", "ends_on")
MEMBERS = ("version", "name", "epsilon", *AMOUNTS, *DECIMALS, "ends_on")

_SETTINGS: Fields = {name: serializers.CharField() for name in ("version", "name")}
_SETTINGS |= {
    name: serializers.CharField(required=False) for name in ("rho_total", "epsilon", *AMOUNTS[1:], *DECIMALS, "ends_on")
}
_SETTINGS |= {"draft": serializers.BooleanField(required=False, help_text="keep it as a draft")}
STANDS = "to open it: true, that you know that its settings stand from then on"
_SETTINGS |= {"stands": serializers.BooleanField(required=False, help_text=STANDS)}
SETTINGS = inline_serializer("ContractSettings", _SETTINGS)


class Contracts(Api):
    """`contracts/`"""

    @extend_schema(responses=ContractCardShape(many=True))
    def get(self, request: Request) -> Response:
        """The contracts I have a place in, newest first."""
        cards = contract_cards(caller(request), access.contracts_of(caller(request)))
        return Response(ContractCardShape(cards, many=True).data)

    @extend_schema(request=SETTINGS, responses={201: ContractLine})
    def post(self, request: Request) -> Response:
        """Open a contract about a frozen version of a dataset, or with `draft` keep one (curators).

        Who opens it says with `stands` that they know that its settings stand. The total is `rho_total`, or `epsilon` at `delta`.
        """
        curator = access.require_site_role(caller(request), Role.CURATOR)
        body = only(body_of(request), *MEMBERS, "draft", "stands")
        version = access.version_for(curator, text_of(body, "version"))
        name, settings = text_of(body, "name"), chosen(body)
        if body.get("draft") is True:
            made = contracts.draft(curator=curator, version=version, name=name, **settings)
        else:
            stands = truth_of(body, "stands", False)
            made = contracts.open_contract(curator=curator, version=version, name=name, stands=stands, **settings)
        return Response(ContractLine(made).data, status=201)


def chosen(body: Mapping[str, Any]) -> Any:
    """The settings in a body as the service takes them; what is left out keeps its default."""
    if ("rho_total" in body) is ("epsilon" in body):
        raise BadInput("bad_number", "rho_total: expected an amount of rho, or epsilon instead of it", field="rho_total")
    given = {name: body[name] for name in (*AMOUNTS, *DECIMALS, "ends_on") if name in body}
    found = {name: None if value is None and name in NULLABLE else _setting(name, value) for name, value in given.items()}
    if "epsilon" in body:
        delta = rho.number(body.get("delta", f"{contract_settings.DELTA:f}"), field="delta")
        found["rho_total"] = accounting.rho_for(rho.number(body["epsilon"], field="epsilon"), delta)
    return found


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

    @extend_schema(request=SETTINGS, responses=ContractLine)
    def put(self, request: Request, uid: UUID) -> Response:
        """Other settings, all of them, for a contract that is still a draft (curators)."""
        curator, found = curated(request, uid)
        body = only(body_of(request), *MEMBERS)
        version = access.version_for(curator, text_of(body, "version"))
        name = text_of(body, "name")
        return Response(
            ContractLine(contracts.change_draft(curator=curator, contract=found, version=version, name=name, **chosen(body))).data
        )


class Preview(Api):
    """`contracts/preview/`"""

    reads_by_post = True

    @extend_schema(request=SETTINGS, responses=dict[str, Any])
    def post(self, request: Request) -> Response:
        """What a contract with these settings would buy, in words; nothing is made (curators)."""
        access.require_site_role(caller(request), Role.CURATOR)
        body = only(body_of(request), *MEMBERS)
        columns = contract_settings.Settings(**chosen(body)).columns()
        weighing = Weighing(
            columns["rho_ans"], columns["rho_est"], columns["rho_d"], columns["kappa"], columns["alpha"], columns["beta"]
        )
        return Response(
            {
                "rho_total": rho.text(columns["rho_total"]),
                "answers": rho.text(columns["rho_ans"]),
                "diagnostics": rho.text(columns["rho_est"]),
                "epsilon": epsilon(columns["rho_total"], columns["delta"]),
                "delta": f"{columns['delta']:f}",
                "buys": purchases.buys(columns["rho_ans"]),
                "counts": [purchases.buys(columns["rho_ans"], bound=bound) for bound in purchases.TOLD],
                "meaning": meaning(weighing),
                "strictness": strictness(accounting.epsilon(columns["rho_total"], columns["delta"])),
                "warnings": warnings(rho_ans=weighing.rho_ans, rho_est=weighing.rho_est, rho_d=weighing.rho_d),
            }
        )


class Releases(Api):
    """`contracts/{id}/releases/`"""

    @extend_schema(responses=page_of(ReleaseShape))
    def get(self, request: Request, uid: UUID) -> Response:
        """The public transcript in order; `?after=` takes the mark in `next`."""
        found = access.contract_for(caller(request), uid)
        return Response(paged(records.transcript(found, after=mark_of(request)), ReleaseShape))
