"""Files handed in by a curator and frozen in the test's own process."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from curator.engine import counts
from curator.engine.counts import VersionFile
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from curator.models import Dataset, DatasetVersion, Upload
from curator.services import datasets, ingestion
from curator.services.datasets import PrivacyUnit
from tests.cast import SCHEMA

HEADER = "age,sex,city,member\n"
FILE = HEADER + "34,F,Rome,true\n61,M,Oslo,false\n17,F,,true\n"
RECORD = PrivacyUnit()


def hand_in(dataset: Dataset, content: str | bytes = FILE, *, unit: PrivacyUnit = RECORD, **changes: Any) -> Upload:
    raw = content.encode() if isinstance(content, str) else content
    return datasets.register_upload(
        curator=dataset.owner, dataset=dataset, file=SimpleUploadedFile("p.csv", raw or b" "), filename="p.csv",
        schema_text=json.dumps(changes.pop("schema", SCHEMA)), unit=unit, ring=False, **changes,
    )  # fmt: skip


def freeze(upload: Upload) -> Upload:
    ingestion.freeze_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def everybody(version: DatasetVersion) -> int:
    schema = Schema.from_json(version.schema)
    file = VersionFile(str(version.uid), schema, bool(version.person_column), version.k)
    return counts.count(file, [Region.full(schema)])[0]._reveal()
