"""Descriptors (what a count means), releases (one noisy output each) and what a contract holds of each descriptor.

`Release`, `Descriptor` and `Diagnostic` are insert-only. A release keeps the whole region, not only its digest, so that credit
between different regions can be computed from the record alone. What is held counts within one contract: two contracts over
the same version share descriptors but never credit each other, or what one's analysts see would exceed its `rho_total`.
"""

import uuid

from django.db import models
from django.db.models import Q

from curator import ticks


class Descriptor(models.Model):
    """(dataset version, aggregate, region in canonical form); equal digest means equal meaning."""

    digest = models.CharField(max_length=64, primary_key=True)
    version = models.ForeignKey("curator.DatasetVersion", on_delete=models.PROTECT, related_name="descriptors")
    aggregate = models.CharField(max_length=10, default="count")
    region = models.BinaryField()  # mechanism.region canonical bytes
    text = models.TextField()  # one readable SQL condition for this region


class Support(models.Model):
    """Fusion state in O(1): rho_hist = sum rho_j, weighted_sum = sum rho_j * y_j over `ans` releases, per contract."""

    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="supports")
    descriptor = models.ForeignKey(Descriptor, on_delete=models.PROTECT, related_name="supports")
    rho_hist = models.BigIntegerField(default=0)
    weighted_sum = models.DecimalField(max_digits=60, decimal_places=0, default=0)
    releases = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contract", "descriptor"], name="support_once_per_contract"),
            models.CheckConstraint(condition=Q(rho_hist__gte=0), name="support_not_negative"),
        ]


class Release(models.Model):
    """One noisy output: a whole number drawn once at `scale`, which cost at most `rho` units."""

    class Account(models.TextChoices):
        ANS = "ans"
        EST = "est"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="releases")
    version = models.ForeignKey("curator.DatasetVersion", on_delete=models.PROTECT, related_name="+")
    descriptor = models.ForeignKey(Descriptor, on_delete=models.PROTECT, related_name="releases")
    region = models.BinaryField()
    value = models.BigIntegerField()
    rho = models.BigIntegerField()
    scale = models.CharField(max_length=40)  # repr of the float given to OpenDP
    account = models.CharField(max_length=3, choices=Account.choices)
    group = models.UUIDField()  # the set of disjoint bins it was drawn with
    query = models.ForeignKey("curator.Query", on_delete=models.PROTECT, null=True, related_name="releases")
    created_at = models.DateTimeField(default=ticks.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rho__gte=1), name="release_costs_something"),
            models.CheckConstraint(condition=Q(account__in=["ans", "est"]), name="release_account_known"),
        ]
        indexes = [models.Index(fields=["contract", "id"], name="release_transcript")]


class Diagnostic(models.Model):
    """The one diagnostic of a descriptor in a contract: kept and reused, never redrawn, never fused into an answer."""

    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="diagnostics")
    descriptor = models.ForeignKey(Descriptor, on_delete=models.PROTECT, related_name="diagnostics")
    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="diagnostic")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contract", "descriptor"], name="diagnostic_once_per_contract")]
