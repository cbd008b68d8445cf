"""The JSON shapes of questions: their price, their decision with its arithmetic, their answers with where they come from."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from curator.api.fields import RhoField, TextField
from curator.api.shapes import Shape
from curator.mechanism import rho
from curator.mechanism.controller import UnderScarcity
from curator.models import Query
from curator.selectors.answers import QueryPage
from curator.selectors.traces import BinAnswer


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


class QuotedShape(QuoteShape):
    """A quote with its question in the other ways of writing it."""

    sql = serializers.CharField()
    question = serializers.JSONField(help_text="as conditions: where, group_by")


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


class StepShape(Shape):
    """One line of the arithmetic behind a decision."""

    name = serializers.CharField()
    rho = RhoField(source="units", allow_null=True)
    figure = serializers.CharField(help_text="where it is no amount")
    why = serializers.CharField()


class CreditShape(Shape):
    """A release in an answer."""

    release = serializers.CharField()
    rho = RhoField()


class DrawnShape(Shape):
    """A release in the answer of a count, with its value."""

    release = serializers.CharField(source="uid")
    value = serializers.IntegerField()
    rho = RhoField()
    percent = TextField(help_text="its share of the answer")
    drawn_here = serializers.BooleanField(help_text="for this very question")
    at = serializers.DateTimeField()


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
    certificate = serializers.SerializerMethodField(help_text="which: they weigh as their rho in rho_eff")

    @extend_schema_field(CreditShape(many=True))
    def get_certificate(self, answer: BinAnswer) -> list[dict[str, str]]:
        """The releases in the answer, none by name of who asked."""
        return [{"release": uid, "rho": rho.text(part)} for uid, part in answer.certificate]


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
    analyst = serializers.CharField()
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
    missed_because = serializers.SerializerMethodField(help_text="in words, where the target was missed")
    steps = serializers.SerializerMethodField(help_text="the arithmetic of the decision, to be done again by hand")
    answers = AnswerShape(many=True, source="bins")
    drawn = DrawnShape(many=True, source="parts", help_text="of a count: the newest releases in its answer")
    baseline = BesideShape(source="beside", allow_null=True)

    @extend_schema_field(DecisionShape(allow_null=True))
    def get_decision(self, page: Any) -> Any:
        """The row that the view read beside the page."""
        row = self.context["decision"]
        return DecisionShape(row).data if row else None

    def get_missed_because(self, page: QueryPage) -> str:
        """Empty where there is nothing to explain."""
        return page.trace.missed_because if page.trace else ""

    @extend_schema_field(StepShape(many=True))
    def get_steps(self, page: QueryPage) -> Any:
        """As the page shows them; none before the decision."""
        return StepShape(page.trace.steps if page.trace else (), many=True).data


class SubmittedShape(Shape):
    """What submitting gives: one id per question, in order."""

    id = TextField(source="uid")
    state = serializers.CharField()
