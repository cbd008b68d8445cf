"""Questions that somebody keeps under a name to ask them again: their own, and no part of the record."""

import uuid

from django.conf import settings
from django.db import models


class SavedQuestion(models.Model):
    """One question with the accuracy wanted of it, under a name that is its owner's own within the contract."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    contract = models.ForeignKey("curator.Contract", on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    question = models.JSONField()  # language.Question.to_json()
    sql = models.TextField()  # the same question as SQL, made by us
    accuracy = models.JSONField()  # the accuracy object, numbers as strings
    under_scarcity = models.CharField(max_length=14)
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contract", "owner", "name"], name="saved_name_once")]
