"""Why the worker releases nothing for a contract although it is open: its record and the receipts outside do not agree."""

from django.db import models


class Hold(models.Model):
    """At most one per contract, kept by whoever compares the record with the receipts; no part of the record."""

    contract = models.OneToOneField("curator.Contract", on_delete=models.PROTECT, primary_key=True, related_name="hold")
    code = models.CharField(max_length=40, blank=True)  # empty: it was held once, and is no longer
    detail = models.TextField(blank=True)
    since = models.DateTimeField()
