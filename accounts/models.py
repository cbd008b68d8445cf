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
