"""Datasets as their curator sees them: versions with their public schema, uploads on the way, contracts about them.

Nothing here says how many records a file had or what was in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet

from curator.mechanism.schema import Schema
from curator.models import Contract, Dataset, DatasetVersion, Upload
from curator.selectors.workspace import ColumnLine, column_line, privacy_unit


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One dataset in a list."""

    uid: UUID
    name: str
    description: str
    versions: int
    contracts: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One frozen version."""

    uid: UUID
    number: int
    table: str
    privacy_unit: str
    columns: tuple[ColumnLine, ...]
    schema: Mapping[str, Any]
    frozen_by: str
    frozen_at: datetime


@dataclass(frozen=True, slots=True)
class UploadLine:
    """One uploaded file and what became of it."""

    uid: UUID
    filename: str
    state: str
    code: str
    detail: str
    version: int | None
    version_uid: UUID | None
    created_at: datetime

    @property
    def likely(self) -> bool:
        """Whether its records were likely frozen before."""
        return self.code == "likely_reupload"


@dataclass(frozen=True, slots=True)
class DatasetPage:
    """One dataset."""

    dataset: Dataset
    versions: tuple[VersionLine, ...]
    uploads: tuple[UploadLine, ...]
    contracts: tuple[Contract, ...]
    said: frozenset[UUID]  # versions of which the curator said what they share with another
    several: bool  # whether the curator looks after other datasets too

    @property
    def waiting(self) -> bool:
        """Whether a file is still on its way."""
        return any(upload.state in Upload.BUSY for upload in self.uploads)


def dataset_lines(datasets: QuerySet[Dataset]) -> tuple[DatasetLine, ...]:
    """A curator's datasets, newest first."""
    rows = datasets.annotate(n_versions=Count("versions", distinct=True), n_contracts=Count("contracts", distinct=True)).order_by(
        "-id"
    )
    return tuple(DatasetLine(r.uid, r.name, r.description, r.n_versions, r.n_contracts, r.created_at) for r in rows)


def dataset_page(dataset: Dataset, said: frozenset[UUID] = frozenset()) -> DatasetPage:
    """One dataset with its versions, its latest uploads and its contracts; `said`: versions whose overlap was declared."""
    versions = DatasetVersion.objects.filter(dataset=dataset).select_related("frozen_by").order_by("-number")
    uploads = Upload.objects.filter(dataset=dataset).select_related("version").order_by("-id")[:20]
    return DatasetPage(
        dataset,
        tuple(version_line(row) for row in versions),
        tuple(_upload(row) for row in uploads),
        tuple(Contract.objects.filter(dataset=dataset).select_related("version", "dataset").order_by("-id")),
        said,
        Dataset.objects.filter(owner_id=dataset.owner_id).exclude(pk=dataset.pk).exists(),
    )


def version_line(row: DatasetVersion) -> VersionLine:
    """One frozen version in words."""
    columns = tuple(column_line(column) for column in Schema.from_json(row.schema).columns)
    return VersionLine(
        row.uid, row.number, row.table, privacy_unit(row.person_column, row.k), columns, row.schema,
        row.frozen_by.get_username(), row.frozen_at,
    )  # fmt: skip


def _upload(row: Upload) -> UploadLine:
    number, uid = (row.version.number, row.version.uid) if row.version else (None, None)
    return UploadLine(row.uid, row.filename, row.state, row.code, row.detail, number, uid, row.created_at)
