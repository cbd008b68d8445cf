"""Descriptors (what a count means), releases (one noisy output each) and what is held of each descriptor.

`Release` and `Descriptor` are insert-only. A release keeps the whole region, not only its digest, so that credit between
different regions can be computed from the record alone.
"""

import uuid

from django.db import models
from django.db.models import Q


class Descriptor(models.Model):
    """(dataset version, aggregate, region in canonical form); equal digest means equal meaning."""

    digest = models.CharField(max_length=64, primary_key=True)
    version = models.ForeignKey("curator.DatasetVersion", on_delete=models.PROTECT, related_name="descriptors")
    aggregate = models.CharField(max_length=10, default="count")
    region = models.BinaryField()  # mechanism.region canonical bytes
    text = models.TextField()  # one readable SQL condition for this region


class Support(models.Model):
    """O(1) fusion state of a descriptor: rho_hist = sum rho_j, weighted_sum = sum rho_j * y_j over its `ans` releases."""

    descriptor = models.OneToOneField(Descriptor, on_delete=models.PROTECT, primary_key=True, related_name="support")
    rho_hist = models.BigIntegerField(default=0)
    weighted_sum = models.DecimalField(max_digits=60, decimal_places=0, default=0)
    releases = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(rho_hist__gte=0), name="support_not_negative")]


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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(rho__gte=1), name="release_costs_something")]
        indexes = [models.Index(fields=["contract", "id"], name="release_transcript")]


class Diagnostic(models.Model):
    """Insert-only: the one diagnostic of a descriptor, kept and reused, never redrawn, never fused into an answer."""

    descriptor = models.OneToOneField(Descriptor, on_delete=models.PROTECT, primary_key=True, related_name="diagnostic")
    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="diagnostic")
