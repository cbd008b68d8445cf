"""The contract, what each analyst may spend of it, and requests for more.

Every amount is a whole number of units (1e-12 rho). The totals repeated here are what CHECK constraints stand on;
`manage.py verify` recomputes them from the ledger.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Floor

from curator import ticks


class Contract(models.Model):
    """A finite zCDP budget over one population. Settings freeze at opening, save `rho_total` (upwards) and `ends_on`."""

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        FROZEN = "frozen"
        CLOSED = "closed"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey("curator.Dataset", on_delete=models.PROTECT, related_name="contracts")
    version = models.ForeignKey("curator.DatasetVersion", on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=6, choices=State.choices, default=State.DRAFT)
    rho_total = models.BigIntegerField()
    rho_est = models.BigIntegerField()
    rho_ans = models.BigIntegerField()
    xi = models.DecimalField(max_digits=7, decimal_places=6, default="0.05")
    kappa = models.DecimalField(max_digits=9, decimal_places=6, default="0.02")
    alpha = models.DecimalField(max_digits=7, decimal_places=4, default="1")
    beta = models.DecimalField(max_digits=9, decimal_places=4, default="1")
    rho_d = models.BigIntegerField()
    query_cap = models.BigIntegerField(null=True, blank=True)  # None: no cap on one question's charge
    delta = models.DecimalField(max_digits=20, decimal_places=19, default="0.000001")  # for the epsilon shown, nothing else
    ends_on = models.DateField(null=True, blank=True)  # through the end of that day, UTC
    k = models.PositiveIntegerField(default=1)
    spent_bound = models.BigIntegerField(default=0)  # what the `ans` account has spent, by `spent_method`; CHECK stands on it
    spent_method = models.CharField(max_length=20, default="sum")  # how the bound is computed: "sum" of the ledger's loads
    est_spent = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=ticks.now, editable=False)
    opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rho_total__gte=0), name="contract_total_not_negative"),
            models.CheckConstraint(condition=Q(rho_est__gte=0, rho_ans__gte=0), name="contract_parts_not_negative"),
            models.CheckConstraint(condition=Q(rho_total=F("rho_est") + F("rho_ans")), name="contract_parts_add_up"),
            models.CheckConstraint(condition=Q(rho_est=Floor(F("xi") * F("rho_total"))), name="contract_split_by_xi"),
            models.CheckConstraint(condition=Q(spent_bound__gte=0, spent_bound__lte=F("rho_ans")), name="contract_ans_within"),
            models.CheckConstraint(condition=Q(est_spent__gte=0, est_spent__lte=F("rho_est")), name="contract_est_within"),
            models.CheckConstraint(condition=Q(xi__gte=0, xi__lt=1), name="contract_xi_range"),
            models.CheckConstraint(condition=Q(kappa__gte=0, alpha__gte=0, beta__gte=0), name="contract_weights_not_negative"),
            models.CheckConstraint(condition=Q(query_cap__isnull=True) | Q(query_cap__gte=0), name="contract_cap_not_negative"),
            models.CheckConstraint(condition=Q(k__gte=1), name="contract_k_positive"),
            models.CheckConstraint(condition=Q(rho_d__gte=1), name="contract_diagnostic_costs_something"),
            models.CheckConstraint(condition=Q(delta__gt=0, delta__lt=1), name="contract_delta_range"),
            models.CheckConstraint(condition=Q(state__in=["draft", "open", "frozen", "closed"]), name="contract_state_known"),
        ]


class AnalystBudget(models.Model):
    """What one analyst may spend (allotment; None is the explicit "no limit of their own") and has spent, in one contract."""

    contract = models.ForeignKey(Contract, on_delete=models.PROTECT, related_name="budgets")
    analyst = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="budgets")
    allotment = models.BigIntegerField(null=True, blank=True)
    spent = models.BigIntegerField(default=0)
    est_spent = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contract", "analyst"], name="budget_once_per_analyst"),
            models.CheckConstraint(condition=Q(allotment__isnull=True) | Q(allotment__gte=0), name="allotment_not_negative"),
            models.CheckConstraint(condition=Q(spent__gte=0, est_spent__gte=0), name="budget_spent_not_negative"),
            models.CheckConstraint(
                condition=Q(allotment__isnull=True) | Q(spent__lte=F("allotment")), name="budget_within_allotment"
            ),
        ]


class Allotment(models.Model):
    """Insert-only: an analyst's total was set to `rho` (None: no limit) from this event on."""

    contract = models.ForeignKey(Contract, on_delete=models.PROTECT, related_name="allotments")
    analyst = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    rho = models.BigIntegerField(null=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    request = models.OneToOneField("curator.BudgetRequest", on_delete=models.PROTECT, null=True, related_name="allotment")
    event_seq = models.BigIntegerField()  # its place in the contract's audit chain
    created_at = models.DateTimeField(default=ticks.now, editable=False)


class BudgetRequest(models.Model):
    """An analyst asks for `amount` more; decided once, by somebody else."""

    class State(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        REJECTED = "rejected"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey(Contract, on_delete=models.PROTECT, related_name="budget_requests")
    analyst = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="budget_requests")
    amount = models.BigIntegerField()
    reason = models.TextField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    granted = models.BigIntegerField(null=True, blank=True)
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=ticks.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="request_amount_positive"),
            models.CheckConstraint(
                condition=Q(granted__isnull=True) | Q(granted__gt=0, granted__lte=F("amount")), name="request_granted_within"
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_by__isnull=True, decided_at__isnull=True, granted__isnull=True)
                | Q(state="approved", decided_by__isnull=False, decided_at__isnull=False, granted__isnull=False)
                | (Q(state="rejected", decided_by__isnull=False, decided_at__isnull=False, granted__isnull=True) & ~Q(note="")),
                name="request_state_and_decision_agree",
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("analyst")), name="request_not_decided_by_asker"
            ),
        ]


class TotalRaise(models.Model):
    """A curator wants the contract's total at `rho_total`; with two curators the other one decides, once."""

    class State(models.TextChoices):
        OPEN = "open"
        APPLIED = "applied"
        REJECTED = "rejected"

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey(Contract, on_delete=models.PROTECT, related_name="raises")
    before = models.BigIntegerField()  # the total it was proposed from: applied only while that still stands
    rho_total = models.BigIntegerField()
    reason = models.TextField()
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(default=ticks.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rho_total__gt=F("before")), name="raise_goes_up"),
            models.UniqueConstraint(fields=["contract"], condition=Q(state="open"), name="one_open_raise_per_contract"),
            models.CheckConstraint(
                condition=Q(state="open", decided_by__isnull=True, decided_at__isnull=True)
                | Q(state__in=["applied", "rejected"], decided_by__isnull=False, decided_at__isnull=False),
                name="raise_state_and_decision_agree",
            ),
        ]
