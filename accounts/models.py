"""People, their roles, and who belongs to which contract.

A user is never deleted, only deactivated: what a person has spent stays on the record for ever.
"""

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
