"""A question, its bins, the decision on it and its answers.

`QueryBin`, `Decision` and `Answer` are insert-only; of `Query` only `state`, `attempts`, `outages`, `claimed_at`,
`finished_at` and `failure` ever change. The queue of work is this table: waiting rows, in the order of `id`.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from curator import ticks


class Query(models.Model):
    """One question by one analyst under one contract."""

    class State(models.TextChoices):
        WAITING = "waiting"
        ANSWERED = "answered"
        PARTIAL = "partial"
        DECLINED = "declined"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Aggregate(models.TextChoices):
        COUNT = "count"
        HISTOGRAM = "histogram"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="queries")
    version = models.ForeignKey("curator.DatasetVersion", on_delete=models.PROTECT, related_name="+")
    analyst = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="queries")
    key = models.CharField(max_length=100)  # form key or Idempotency-Key
    position = models.PositiveIntegerField(default=0)  # place in a list submitted under one key
    body_digest = models.CharField(max_length=64)  # of the whole body sent under `key`
    aggregate = models.CharField(max_length=10, choices=Aggregate.choices)
    question = models.JSONField()  # language.Question.to_json()
    sql = models.TextField()  # the same question as SQL, made by us
    accuracy = models.JSONField()  # the accuracy object as asked, numbers as strings
    under_scarcity = models.CharField(max_length=14)
    label = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    outages = models.PositiveSmallIntegerField(
        default=0, db_default=0
    )  # attempts that ended because the database was lost on the way
    failure = models.CharField(max_length=60, blank=True)  # a stable code
    arrived_at = models.DateTimeField(default=ticks.now, editable=False)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contract", "analyst", "key", "position"], name="query_once_per_key"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "answered", "partial", "declined", "failed", "cancelled"]),
                name="query_state_known",
            ),
        ]
        indexes = [
            models.Index(fields=["contract", "id"], name="query_waiting", condition=Q(state="waiting")),
            models.Index(fields=["contract", "analyst", "-id"], name="query_of_analyst"),
        ]


class QueryBin(models.Model):
    """One cell set of a question; a count has exactly one."""

    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="bins")
    position = models.PositiveIntegerField()
    descriptor = models.ForeignKey(
        "curator.Descriptor", on_delete=models.PROTECT, null=True, related_name="+"
    )  # None: empty region
    label = models.JSONField(default=list)  # one text per grouped column
    rho_min = models.BigIntegerField(null=True)  # None: known only at the decision (relative targets)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "position"], name="bin_position_once")]


class Decision(models.Model):
    """What the controller decided, with every operand; public."""

    class Kind(models.TextChoices):
        REUSE = "reuse"
        MEASURE = "measure"
        PARTIAL = "partial"
        DECLINE = "decline"

    query = models.OneToOneField(Query, on_delete=models.PROTECT, primary_key=True, related_name="decision")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    regime = models.CharField(max_length=8)  # history | feasible | scarce
    reason = models.CharField(max_length=40, blank=True)  # stable code of a decline or shortfall
    available = models.BigIntegerField()
    limit = models.CharField(max_length=12)  # contract | allotment | cap
    mu = models.CharField(max_length=80)  # price of scarcity in units, as an exact fraction "n/d"
    k = models.PositiveIntegerField()
    load = models.BigIntegerField()  # charged to the contract
    quota = models.BigIntegerField()  # charged to the analyst's allotment
    spent_before = models.BigIntegerField()
    spent_after = models.BigIntegerField()
    event_seq = models.BigIntegerField()  # its place in the contract's audit chain
    head = models.CharField(max_length=64)  # receipt: the chain's head after that event
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(load__gte=0, quota__gte=0, available__gte=0), name="decision_not_negative"),
            models.CheckConstraint(condition=Q(spent_after=F("spent_before") + F("load")), name="decision_adds_up"),
        ]


class Answer(models.Model):
    """The fused value of one bin, or what is known of it; numbers as asked, held, drawn and reached."""

    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="answers")
    position = models.PositiveIntegerField()
    rho_min = models.BigIntegerField(null=True)
    rho_hist = models.BigIntegerField()
    weight = models.DecimalField(max_digits=10, decimal_places=6, default=1)
    rho_new = models.BigIntegerField()
    rho_eff = models.BigIntegerField()
    release = models.OneToOneField("curator.Release", on_delete=models.PROTECT, null=True, related_name="answer")
    weighted_sum = models.DecimalField(max_digits=60, decimal_places=0)  # estimate = weighted_sum / rho_eff, unrounded
    value = models.BigIntegerField(null=True)  # shown: nearest whole number; None: nothing is known
    bound = models.BigIntegerField(null=True)  # accuracy reached at the asked confidence, +- people
    met = models.BooleanField()
    certificate = models.JSONField(default=list)  # [[release uid, rho units], …]: weights are rho / rho_eff

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "position"], name="answer_position_once"),
            models.CheckConstraint(condition=Q(rho_hist__gte=0, rho_new__gte=0), name="answer_not_negative"),
            models.CheckConstraint(condition=Q(rho_eff=F("rho_hist") + F("rho_new")), name="answer_adds_up"),
        ]
