"""Verifications that somebody asked for and the worker makes, with their progress: what came of them is also an event."""

import uuid

from django.conf import settings
from django.db import models


class Verification(models.Model):
    """One pass over the record of some chains, asked for by `owner`."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"  # it ended twice before it was done

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    chains = models.JSONField()  # names of chains
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)  # events looked at so far
    total = models.PositiveBigIntegerField(default=0)
    ok = models.BooleanField(null=True)
    checked = models.JSONField(default=dict)  # table → rows looked at
    first_difference = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
