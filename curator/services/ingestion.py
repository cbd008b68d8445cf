"""Uploads become frozen versions, on the worker's side.

The version takes the upload's random id, so that a run that died half-way is repeated over its own traces. The row stays locked
meanwhile: a second worker finds nothing to do. A refusal goes onto the curator's row as a stable code and a fixed sentence; it
is no audit event, because whether a file's records can be read is a function of the records.
"""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from django.core.files.base import File
from django.db import transaction
from django.db.models import Max

from accounts.models import User
from curator import ticks
from curator.engine import files
from curator.engine.freezing import freeze
from curator.engine.report import ParseReport
from curator.engine.sealing import EngineFailed
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from curator.models import Dataset, DatasetVersion, Upload
from curator.services import audit, datasets
from curator.services.datasets import LIKELY_REUPLOAD, PrivacyUnit

logger = logging.getLogger(__name__)

ATTEMPTS = 2
UNREADABLE = Refused(
    "could_not_be_read", "The file could not be processed; nothing of it was kept. The operator's log says where."
)


def freeze_upload(upload_id: int, *, wait: bool = False) -> None:
    """Freeze an upload that waits, or refuse it; of no effect where another worker has it (unless `wait`) or it is final."""
    with transaction.atomic():
        waiting = Upload.objects.select_for_update(no_key=True, skip_locked=not wait, of=("self",))
        upload = waiting.select_related("dataset__owner", "created_by").filter(pk=upload_id, state=Upload.State.WAITING).first()
        if upload is None:
            return
        try:
            with ticks.paced():
                report = _freeze(upload)
        except Refused as refusal:
            _refuse(upload, refusal)
        except EngineFailed as failure:
            logger.error("upload %s: %s", upload.uid, failure)
            _refuse(upload, UNREADABLE)
        else:
            _leave(upload, json.loads(report.to_json()))
            _settle(upload)
    _forget(upload)


def load(path: Path, *, curator: User, name: str, schema_text: str, unit: PrivacyUnit, table: str = "people") -> DatasetVersion:
    """Freeze a file at once as the next version of the curator's dataset of that name, which is made if there is none.

    Refused where the file, the schema or the unit is.
    """
    dataset = Dataset.objects.filter(owner=curator, name=name).first() or datasets.create_dataset(curator=curator, name=name)
    with path.open("rb") as file:
        upload = datasets.register_upload(
            curator=curator, dataset=dataset, file=File(file), filename=path.name, schema_text=schema_text, unit=unit,
            table=table, ring=False,
        )  # fmt: skip
    freeze_upload(upload.pk, wait=True)
    upload.refresh_from_db()
    if upload.version is None:
        raise Refused(upload.code, upload.detail)
    return upload.version


def _freeze(upload: Upload) -> ParseReport:
    if _attempt(upload) > ATTEMPTS:  # a file that takes the process down with it is not tried for ever
        raise UNREADABLE
    path = datasets.path_of(upload)
    if not path.exists():
        raise Refused("file_gone", "The file is no longer there: send it again.")
    schema = Schema.from_json(upload.schema)
    return freeze(path, schema=schema, person_column=upload.person_column, k=upload.k, uid=str(upload.uid))


def _settle(upload: Upload) -> None:
    """The version's row and its event, which says nothing of the records."""
    Dataset.objects.select_for_update(no_key=True).get(pk=upload.dataset_id)  # one number each
    newest = DatasetVersion.objects.filter(dataset=upload.dataset).aggregate(number=Max("number"))["number"] or 0
    version = DatasetVersion.objects.create(
        uid=upload.uid, dataset=upload.dataset, number=newest + 1, table=upload.table, schema=upload.schema,
        person_column=upload.person_column, k=upload.k, frozen_by=upload.created_by,
    )  # fmt: skip
    upload.version, upload.state = version, Upload.State.FROZEN
    upload.code, upload.detail = _likeness(version)
    upload.save(update_fields=["version", "state", "code", "detail"])
    audit.append(audit.SITE, [audit.Event("version.frozen", upload.created_by.username, {
        "dataset": str(upload.dataset.uid), "version": str(version.uid), "number": version.number,
        "schema": Schema.from_json(version.schema).digest, "person_column": version.person_column, "k": version.k,
    })])  # fmt: skip


def _likeness(version: DatasetVersion) -> tuple[str, str]:
    """The notice that these records were frozen before; looked for among the curator's own versions: it tells of records."""
    own = DatasetVersion.objects.filter(dataset__owner=version.dataset.owner).exclude(pk=version.pk).select_related("dataset")
    named = {str(other.uid): other for other in own.order_by("pk")}
    found = files.alike(str(version.uid), list(named))
    if not found:
        return "", ""
    other = named[found[0]]
    where = "of this dataset" if other.dataset_id == version.dataset_id else f'of your dataset "{other.dataset.name}"'
    return LIKELY_REUPLOAD, (
        f"Likely the same records as version {other.number} {where}. If these are the same people, ask under the same contract: "
        "what two contracts over the same people spend adds up."
    )


def _refuse(upload: Upload, refusal: Refused) -> None:
    _leave(upload, {"refused": refusal.code, "detail": refusal.detail, **refusal.operands})
    upload.state, upload.code, upload.detail = Upload.State.REFUSED, refusal.code, refusal.detail
    upload.save(update_fields=["state", "code", "detail"])


def _leave(upload: Upload, report: Mapping[str, object]) -> None:
    """Put the curator's report where only they are shown it."""
    path = datasets.report_path(upload)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(report, file, ensure_ascii=False)


def _attempt(upload: Upload) -> int:
    """How often this upload was tried, this time included; kept in a file, because a transaction that dies keeps nothing."""
    with os.fdopen(os.open(_tries(upload), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        file.write(b".")
        return file.tell()


def _forget(upload: Upload) -> None:
    """Delete the file itself: what stays of it are codes."""
    datasets.path_of(upload).unlink(missing_ok=True)
    _tries(upload).unlink(missing_ok=True)


def _tries(upload: Upload) -> Path:
    return datasets.path_of(upload).with_name(f"{upload.uid}.tries")
