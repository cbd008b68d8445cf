"""Notices: what a person should see on their next page, and by e-mail where they have an address.

A notice points at rows and carries no text of its own: names and values are read, with the reader's rights, when it is shown.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from curator import ticks


class Notice(models.Model):
    """One thing that happened which concerns `user`."""

    class Kind(models.TextChoices):
        ANSWER = "answer", "An answer is ready"
        REQUEST = "request", "A budget request waits for a decision"
        DECISION = "decision", "A budget request was decided"
        ALLOTTED = "allotted", "Your allotment was changed"
        RAISE = "raise", "A raise of a contract waits for a second curator"
        RAISED = "raised", "A raise of a contract was decided"
        MEMBER = "member", "You were added to a contract"
        JOINED = "joined", "Somebody accepted your invitation"
        LEFT = "left", "Your place in a contract ended"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="notices")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="+")
    query = models.ForeignKey("curator.Query", on_delete=models.PROTECT, null=True, related_name="+")
    request = models.ForeignKey("curator.BudgetRequest", on_delete=models.PROTECT, null=True, related_name="+")
    allotment = models.ForeignKey("curator.Allotment", on_delete=models.PROTECT, null=True, related_name="+")
    total_raise = models.ForeignKey("curator.TotalRaise", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=ticks.now, editable=False)
    seen_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)
    mail_tries = models.PositiveSmallIntegerField(default=0, db_default=0)  # that the mail server refused
    mail_after = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="notice_unseen", condition=Q(seen_at__isnull=True)),
            models.Index(fields=["user", "-id"], name="notice_of_user"),
            models.Index(
                fields=["created_at"], name="notice_unmailed", condition=Q(seen_at__isnull=True, mailed_at__isnull=True)
            ),
            models.Index(fields=["query"], name="notice_of_query", condition=Q(seen_at__isnull=True, query__isnull=False)),
        ]
