"""People, their roles, who belongs to which contract, and who was invited to one.

A user is never deleted, only deactivated: what a person has spent stays on the record for ever.
"""

import uuid

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower


class Role(models.TextChoices):
    """What a person may do; one person may hold several roles."""

    ANALYST = "analyst", "Analyst"
    CURATOR = "curator", "Curator"
    AUDITOR = "auditor", "Auditor"


class User(AbstractUser):
    """One person who signs in."""

    roles = ArrayField(models.CharField(max_length=8, choices=Role.choices), default=list, blank=True)
    mail_notices = models.BooleanField(default=True)  # whether notices come by e-mail too

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(Lower("username"), name="username_once_in_any_case"),
            models.CheckConstraint(condition=Q(roles__contained_by=["analyst", "curator", "auditor"]), name="roles_known"),
        ]

    def has_role(self, role: str) -> bool:
        """Say whether this person holds `role` anywhere on the site."""
        return role in self.roles


class Membership(models.Model):
    """A person's place in one contract, in one role; ended by `active = False`, never by deletion."""

    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices)
    active = models.BooleanField(default=True)
    added_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contract", "user", "role"], name="membership_once_per_role"),
            models.CheckConstraint(condition=Q(role__in=["analyst", "curator", "auditor"]), name="membership_role_known"),
        ]


class ApiToken(models.Model):
    """A person's key for programs: shown once, stored as a digest; `read` may look, `ask` may do all that its person may."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        ASK = "ask", "Read, ask and whatever else its person may do"

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of a token of 256 random bits: no salt is needed
    scope = models.CharField(max_length=4, choices=Scope.choices)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)


class Invitation(models.Model):
    """Somebody may take a place in a contract by opening a link; once, for a while, unless it is taken back.

    The link's secret is kept as a digest only. Good while its three last columns are empty and `expires_at` has not come.
    """

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField(blank=True)  # where the link was sent, if it was
    role = models.CharField(max_length=8, choices=Role.choices)
    allotment = models.BigIntegerField(null=True)  # units of rho; None: no limit of their own (or no analyst)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of a secret of 256 random bits
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(role__in=["analyst", "curator", "auditor"]), name="invitation_role_known"),
            models.CheckConstraint(condition=Q(allotment__isnull=True) | Q(allotment__gte=0), name="invitation_not_negative"),
            models.CheckConstraint(
                condition=Q(accepted_by__isnull=True, accepted_at__isnull=True)
                | Q(accepted_by__isnull=False, accepted_at__isnull=False, revoked_at__isnull=True),
                name="invitation_ends_one_way",
            ),
        ]


class ResetRequest(models.Model):
    """Somebody asked for a link to a new password; the worker sends it, so that asking tells nothing about who has an account."""

    email = models.EmailField()
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)  # that the mail server refused
    again_at = models.DateTimeField(null=True)
    sent_to = models.JSONField(default=list, db_default=[])  # ids of those whose letter is out

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="reset_waiting", condition=Q(done_at__isnull=True))]


class Throttle(models.Model):
    """How far somebody has used up what they may do in a while; see `accounts.throttles`. Not logged: a crash forgets it."""

    key = models.CharField(max_length=120, primary_key=True)
    full_at = models.DateTimeField()
