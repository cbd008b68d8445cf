"""Experiments: replays of a stream under other settings. They read no data and spend nothing: no part of the record."""

import uuid

from django.conf import settings
from django.db import models

from curator import ticks


class Experiment(models.Model):
    """One replay asked for by `owner`: of the contract's own transcript, or of a workload file (`workload` not empty)."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        REFUSED = "refused"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="experiments")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=255)
    workload = models.TextField(blank=True)  # JSON lines; empty: the contract's transcript
    scenario = models.JSONField()  # rho_total, xi, kappa, alpha, beta as text, k, split
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)  # questions replayed so far
    total = models.PositiveIntegerField(default=0)
    detail = models.TextField(blank=True)  # why it was refused
    result = models.JSONField(null=True, blank=True)  # {"report": the laboratory's document, "charts": its charts}
    created_at = models.DateTimeField(default=ticks.now, editable=False)
