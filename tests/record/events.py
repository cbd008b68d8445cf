"""Reading a contract's chain in tests."""

import json
from typing import Any

from curator.models import AuditEvent, Contract
from curator.services.audit import chain_of


def kinds_of(contract: Contract) -> list[str]:
    """The kinds of a contract's events, in order."""
    return list(AuditEvent.objects.filter(chain=chain_of(contract)).order_by("seq").values_list("kind", flat=True))


def bodies_of(contract: Contract, kind: str) -> list[dict[str, Any]]:
    """The bodies of a contract's events of one kind, oldest first."""
    events = AuditEvent.objects.filter(chain=chain_of(contract), kind=kind).order_by("seq")
    return [json.loads(bytes(event.body)) for event in events]


def data_of(contract: Contract, kind: str) -> dict[str, Any]:
    """The operands of a contract's newest event of one kind."""
    data: dict[str, Any] = bodies_of(contract, kind)[-1]["data"]
    return data
