"""The ledger and the audit chains: insert-only, guarded by triggers and by the application role's rights.

There is one chain per contract (its uid as text) and one for the site (`site`).
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from curator import ticks


class LedgerEntry(models.Model):
    """One charge. `load` is the privacy spent, `quota` what it takes of the analyst's allotment; equal for a question.

    A charge without question and analyst is one that a receipt knew of and a restored record did not: its `quota` is 0.
    """

    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="ledger")
    analyst = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    query = models.ForeignKey("curator.Query", on_delete=models.PROTECT, null=True, related_name="ledger")
    account = models.CharField(max_length=3)  # ans | est
    load = models.BigIntegerField()
    quota = models.BigIntegerField()
    balance_before = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    event_seq = models.BigIntegerField()
    created_at = models.DateTimeField(default=ticks.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(account__in=["ans", "est"]), name="entry_account_known"),
            models.CheckConstraint(condition=Q(load__gt=0, quota__gte=0, balance_before__gte=0), name="entry_not_negative"),
            models.CheckConstraint(condition=Q(balance_after=F("balance_before") + F("load")), name="entry_adds_up"),
            models.CheckConstraint(
                condition=Q(query__isnull=False, analyst__isnull=False) | Q(query__isnull=True, analyst__isnull=True, quota=0),
                name="entry_of_a_question_or_of_nobody",
            ),
            models.UniqueConstraint(fields=["query"], condition=Q(account="ans"), name="one_charge_per_query"),
        ]


class AuditHead(models.Model):
    """The newest head of a chain; its row lock orders the writers of that chain."""

    chain = models.CharField(max_length=36, primary_key=True)
    seq = models.BigIntegerField(default=0)
    head = models.CharField(max_length=64)


class AuditEvent(models.Model):
    """One event. `body` is the canonical JSON that was hashed; the other columns repeat parts of it for filters."""

    chain = models.CharField(max_length=36)
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=150, blank=True)
    query = models.UUIDField(null=True)
    at = models.DateTimeField()
    body = models.BinaryField()
    previous = models.CharField(max_length=64)
    head = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "seq"], name="event_seq_once")]
        indexes = [
            models.Index(fields=["chain", "kind", "seq"], name="event_by_kind"),
            models.Index(fields=["chain", "actor", "seq"], name="event_by_actor"),
        ]


class Denial(models.Model):
    """How often one person (a user name; "" where nobody is known) was denied something of one kind, ever and as told by events.

    Denials are counted here and told by one event a minute, so that a flood of them neither locks nor fills the site's chain.
    """

    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=150, blank=True)
    count = models.BigIntegerField()
    told = models.BigIntegerField(default=0)
    since = models.DateTimeField()  # of the first that is not told yet
    last = models.DateTimeField()
    what = models.CharField(max_length=2000, blank=True)  # of the first that is not told yet

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "actor"], name="denial_counted_once"),
            models.CheckConstraint(condition=Q(told__gte=0, told__lte=F("count")), name="denial_told_not_invented"),
        ]
