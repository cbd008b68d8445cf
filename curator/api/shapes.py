"""The JSON shapes of the API: each renders a selector's value or a row, and documents itself in the OpenAPI schema.

Amounts are decimal strings of rho; identifiers are random uids.
"""

from typing import Any

from rest_framework import serializers

from curator.api.fields import RhoField, TextField, epsilon
from curator.models import BudgetRequest
from curator.selectors.workspace import Meter

Shape = serializers.Serializer[Any]


class ErrorShape(Shape):
    """Every error."""

    code = serializers.CharField(help_text="stable, for programs")
    detail = serializers.CharField(help_text="what was wrong and what was expected")
    field = serializers.CharField(allow_null=True, help_text="the place in the request")


class MeterShape(Shape):
    """A contract's budget as the caller sees it."""

    total = RhoField(source="rho_total")
    answers = RhoField(source="rho_ans", help_text="the part of the total that answers may spend")
    spent = RhoField(help_text="by everybody")
    left = RhoField()
    allotment = RhoField(allow_null=True, help_text="null: no limit of one's own")
    mine = RhoField(source="my_spent")
    my_left = RhoField()
    available = RhoField(help_text="the most that one question may be charged now")
    limit = serializers.CharField(help_text="whose limit that is: contract, allotment or cap")
    epsilon = serializers.SerializerMethodField(help_text="of the total, at delta, rounded up")
    epsilon_spent = serializers.SerializerMethodField(help_text="of all that answers have spent")
    delta = TextField()

    def get_epsilon(self, meter: Meter) -> str:
        """Of the whole contract."""
        return epsilon(meter.rho_total, meter.delta)

    def get_epsilon_spent(self, meter: Meter) -> str:
        """Of what is spent."""
        return epsilon(meter.spent, meter.delta)


class ContractLine(Shape):
    """A contract in a list."""

    id = TextField(source="uid")
    name = serializers.CharField()
    state = serializers.CharField()
    dataset = serializers.CharField(source="dataset.name")
    ends_on = TextField(allow_null=True)


class ContractCardShape(ContractLine):
    """A contract in my list, with what it means for me."""

    dataset = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField(), help_text="my roles in it")
    available = RhoField(source="meter.available", allow_null=True, default=None, help_text="to me, an analyst, for one question")
    requests = serializers.IntegerField(help_text="budget requests that wait for me, a curator")


class ContractShape(ContractLine):
    """A contract with its public schema and settings; amounts are in `budget`."""

    version = serializers.IntegerField(source="version.number")
    version_id = TextField(source="version.uid")
    dataset_id = TextField(source="dataset.uid")
    table = serializers.CharField(source="version.table")
    schema = serializers.JSONField(source="version.schema")
    person_column = serializers.CharField(source="version.person_column")
    k = serializers.IntegerField()
    xi = TextField()
    kappa = TextField()
    alpha = TextField()
    beta = TextField()
    rho_d = RhoField()
    query_cap = RhoField(allow_null=True)


class ContractDetail(Shape):
    """What `GET contracts/{id}/` gives."""

    contract = ContractShape()
    budget = MeterShape()
    held = serializers.CharField(help_text="why nothing is released although it is open; empty: answers come as usual")


class ReleaseShape(Shape):
    """One noisy output of the public transcript."""

    id = TextField(source="uid")
    descriptor = serializers.CharField(source="descriptor_id")
    condition = serializers.CharField(source="descriptor.text")
    value = serializers.IntegerField()
    rho = RhoField()
    scale = serializers.CharField()
    account = serializers.CharField()
    group = TextField()
    at = serializers.DateTimeField(source="created_at")


class RequestShape(Shape):
    """A budget request."""

    id = TextField(source="uid")
    analyst = serializers.CharField()
    amount = RhoField()
    reason = serializers.CharField()
    state = serializers.ChoiceField(choices=BudgetRequest.State.choices)
    granted = RhoField(allow_null=True)
    note = serializers.CharField()
    decided_by = serializers.CharField(help_text="empty while it waits")
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)


class EventShape(Shape):
    """One event of the audit log; `body` is exactly what was hashed."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    kind = serializers.CharField()
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    previous = serializers.CharField()
    head = serializers.CharField()
    body = serializers.SerializerMethodField()

    def get_body(self, event: Any) -> str:
        """The canonical JSON text."""
        return bytes(event.body).decode()


class HeadShape(Shape):
    """The newest head of a chain."""

    chain = serializers.CharField()
    title = serializers.CharField()
    seq = serializers.IntegerField()
    head = serializers.CharField()
