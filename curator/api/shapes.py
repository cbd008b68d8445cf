"""The JSON shapes of the API: each renders a selector's value or a row, and documents itself in the OpenAPI schema.

Amounts are decimal strings of rho; identifiers are random uids.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from curator.api.fields import RhoField, TextField, epsilon
from curator.mechanism.controller import UnderScarcity
from curator.models import BudgetRequest, Query
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


class ContractShape(ContractLine):
    """A contract with its public schema and settings; amounts are in `budget`."""

    version = serializers.IntegerField(source="version.number")
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


class PartShape(Shape):
    """One bin of a quote."""

    label = serializers.ListField(child=serializers.CharField())  # type: ignore[assignment]  # a member named label; a serializer's own label is not used
    rho_min = RhoField(allow_null=True)
    rho_hist = RhoField()
    residual = RhoField(allow_null=True)


class QuoteShape(Shape):
    """The price of a question now; nothing was spent, read or written for it."""

    bins = serializers.IntegerField()
    rho_min = RhoField(allow_null=True, help_text="needed from scratch; null while a relative target has no diagnostic")
    rho_hist = RhoField(source="credited", help_text="credited from history")
    rho_new = RhoField(allow_null=True, help_text="left to pay to reach the target")
    charge = RhoField(help_text="what would be charged now")
    charge_range = serializers.ListField(child=RhoField(), help_text="lowest and highest, where the charge hangs on a diagnostic")
    available = RhoField()
    limit = serializers.CharField()
    regime = serializers.CharField()
    decision = serializers.CharField(source="kind")
    reason = serializers.CharField()
    remaining_after = RhoField()
    baseline = RhoField(allow_null=True, help_text="what budget partitioning would charge")
    baseline_outcome = serializers.CharField(source="baseline_kind")
    reached = serializers.IntegerField(allow_null=True, help_text="bound in people after this decision")
    free_within = serializers.IntegerField(allow_null=True, help_text="bound in people that history gives for nothing")
    bound = serializers.CharField(help_text="the bound in words")
    warnings = serializers.ListField(child=serializers.CharField())
    parts = PartShape(many=True)


class DecisionShape(Shape):
    """What was decided, with its operands and its receipt."""

    kind = serializers.CharField()
    regime = serializers.CharField()
    reason = serializers.CharField()
    available = RhoField()
    limit = serializers.CharField()
    charge = RhoField(source="load")
    quota = RhoField()
    mu = serializers.CharField(help_text="price of scarcity in units of 1e-12 rho, as a fraction")
    k = serializers.IntegerField()
    spent_before = RhoField()
    spent_after = RhoField()
    seq = serializers.IntegerField(source="event_seq")
    head = serializers.CharField()
    decided_at = serializers.DateTimeField()


class AnswerShape(Shape):
    """The fused value of one bin."""

    label = serializers.ListField(child=serializers.CharField())  # type: ignore[assignment]  # a member named label; a serializer's own label is not used
    value = serializers.IntegerField(allow_null=True, help_text="nearest whole number; may be negative; null: nothing is known")
    bound = serializers.IntegerField(allow_null=True, help_text="accuracy reached, +- people")
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)
    met = serializers.BooleanField()
    rho_min = RhoField(allow_null=True)
    rho_hist = RhoField()
    rho_new = RhoField()
    rho_eff = RhoField()
    shortfall = RhoField()
    weight = TextField()
    releases = serializers.IntegerField()


class QueryLine(Shape):
    """A question in a list."""

    id = TextField(source="uid")
    title = serializers.CharField()
    analyst = serializers.CharField()
    state = serializers.ChoiceField(choices=Query.State.choices)
    asked = serializers.CharField()
    charge = RhoField(allow_null=True)
    value = serializers.IntegerField(allow_null=True)
    bound = serializers.IntegerField(allow_null=True)
    arrived_at = serializers.DateTimeField()


class BesideShape(Shape):
    """The same question, and its asker so far, under budget partitioning."""

    charge = RhoField(source="partition_charge")
    outcome = serializers.CharField(source="partition_kind")
    spent = RhoField(source="partition_spent", help_text="by this analyst so far")
    met = serializers.IntegerField(source="partition_met")


class QueryShape(Shape):
    """A question with its decision and answers."""

    id = TextField(source="uid")
    contract = TextField(source="contract_uid")
    label = serializers.CharField()  # type: ignore[assignment]  # a member named label; a serializer's own label is not used
    words = serializers.CharField()
    sql = serializers.CharField()
    state = serializers.ChoiceField(choices=Query.State.choices)
    failure = serializers.CharField()
    asked = serializers.CharField()
    confidence = TextField()
    under_scarcity = serializers.ChoiceField(choices=[choice.value for choice in UnderScarcity])
    version = serializers.IntegerField()
    place = serializers.IntegerField(allow_null=True, help_text="place in the queue")
    arrived_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    decision = serializers.SerializerMethodField()
    answers = AnswerShape(many=True, source="bins")
    baseline = BesideShape(source="beside", allow_null=True)

    @extend_schema_field(DecisionShape(allow_null=True))
    def get_decision(self, page: Any) -> Any:
        """The row that the view read beside the page."""
        row = self.context["decision"]
        return DecisionShape(row).data if row else None


class SubmittedShape(Shape):
    """What submitting gives: one id per question, in order."""

    id = TextField(source="uid")
    state = serializers.CharField()


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
    created_at = serializers.DateTimeField()


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
