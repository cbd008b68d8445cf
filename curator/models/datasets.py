"""Datasets, their frozen versions, and uploads on the way to one.

Nothing here is a function of the records: no row count, no content hash, no observed value.
"""

import uuid

from django.conf import settings
from django.db import models

from curator import ticks


class Dataset(models.Model):
    """One population of records that a curator looks after."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    source = models.TextField(blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="datasets")
    created_at = models.DateTimeField(default=ticks.now, editable=False)


class DatasetVersion(models.Model):
    """Frozen integer codes of a public domain; the file is `<versions folder>/<uid>.parquet`, on the worker's side only."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    table = models.CharField(max_length=63, default="people")  # the name a question's FROM uses
    schema = models.JSONField()  # mechanism.schema.Schema.to_json(): public
    person_column = models.CharField(max_length=200, blank=True)  # empty: one record is one person
    k = models.PositiveIntegerField(default=1)  # most records one person may have
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    frozen_at = models.DateTimeField(default=ticks.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="version_number_once"),
            models.CheckConstraint(condition=models.Q(k__gte=1), name="version_k_positive"),
        ]


class Upload(models.Model):
    """A curator's file on the way to a frozen version; the bytes are `<uploads folder>/<uid>`.

    `draft` is what its curator has said so far, in words of their own: `columns` (name → a column as in a schema), `reading` (how
    text is read) and `suggest` (columns whose domain they asked to have suggested). What the worker found is never here.
    """

    class State(models.TextChoices):
        PARSING = "parsing"  # the worker is to describe it
        DESCRIBED = "described"  # the curator is to declare its columns
        WAITING = "waiting"  # the worker is to freeze it
        FROZEN = "frozen"
        REFUSED = "refused"
        DISCARDED = "discarded"

    BUSY = (State.PARSING, State.WAITING)  # something for the worker to do

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="uploads")
    filename = models.CharField(max_length=255)
    table = models.CharField(max_length=63, default="people")
    draft = models.JSONField(default=dict, db_default={})
    schema = models.JSONField(default=dict)  # empty until it is declared as a whole
    person_column = models.CharField(max_length=200, blank=True)
    k = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    code = models.CharField(max_length=60, blank=True)  # why it was refused: a stable code and a fixed sentence
    detail = models.TextField(blank=True)
    version = models.OneToOneField(DatasetVersion, on_delete=models.PROTECT, null=True, related_name="upload")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=ticks.now, editable=False)
