"""Uploads become frozen versions, on the worker's side.

The version takes the upload's random id, so that a run that died half-way is repeated over its own traces. The row stays locked
meanwhile: a second worker finds nothing to do. A refusal goes onto the curator's row as a stable code and a fixed sentence; it
is no audit event, because whether a file's records can be read is a function of the records.
"""

import json
import logging
from collections.abc import Callable
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
from curator.engine.tables import Reading
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from curator.models import Dataset, DatasetVersion, Upload
from curator.services import audit, datasets, upload_files
from curator.services.datasets import LIKELY_REUPLOAD, PrivacyUnit

logger = logging.getLogger(__name__)

ATTEMPTS = 2


def unreadable() -> Refused:
    """Why a file is refused that no worker could get through; a new one each time, because one that is raised keeps its trace."""
    return Refused("could_not_be_read", "The file could not be processed; nothing of it was kept. The operator's log says where.")


def freeze_upload(upload_id: int, *, wait: bool = False, alive: Callable[[], object] = lambda: None) -> None:
    """Freeze an upload that waits, or refuse it; of no effect where another worker has it (unless `wait`) or it is final.

    `alive` is called as it gets on.
    """
    with transaction.atomic():
        waiting = Upload.objects.select_for_update(no_key=True, skip_locked=not wait, of=("self",))
        upload = waiting.select_related("dataset__owner", "created_by").filter(pk=upload_id, state=Upload.State.WAITING).first()
        if upload is None:
            return
        try:
            with ticks.paced():
                report = _freeze(upload, alive)
        except Refused as refusal:
            refuse(upload, refusal)
        except EngineFailed as failure:
            logger.error("upload %s: %s", upload.uid, failure)
            refuse(upload, unreadable())
        else:
            alike = _settle(upload)
            upload_files.leave(datasets.report_path(upload), json.loads(report.to_json()) | {"alike": alike})
    upload_files.forget(upload)


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


def _freeze(upload: Upload, alive: Callable[[], object]) -> ParseReport:
    path = waiting_file(upload)
    schema = Schema.from_json(upload.schema)
    return freeze(
        path, schema=schema, person_column=upload.person_column, k=upload.k, uid=str(upload.uid), reading=reading_of(upload),
        alive=alive,
    )  # fmt: skip


def waiting_file(upload: Upload) -> Path:
    """The bytes of an upload whose turn it is; Refused where they are gone or have taken a worker down twice."""
    if upload_files.attempt(upload) > ATTEMPTS:  # a file that takes the process down with it is not tried for ever
        raise unreadable()
    path = datasets.path_of(upload)
    if not path.exists():
        raise Refused("file_gone", "The file is no longer there: send it again.")
    return path


def reading_of(upload: Upload) -> Reading:
    """How its curator says the file is to be read."""
    return Reading(**upload.draft.get("reading", {}))


def _settle(upload: Upload) -> str:
    """The version's row and its event, which says nothing of the records; gives the uid of a version it is likely the same as."""
    Dataset.objects.select_for_update(no_key=True).get(pk=upload.dataset_id)  # one number each
    newest = DatasetVersion.objects.filter(dataset=upload.dataset).aggregate(number=Max("number"))["number"] or 0
    version = DatasetVersion.objects.create(
        uid=upload.uid, dataset=upload.dataset, number=newest + 1, table=upload.table, schema=upload.schema,
        person_column=upload.person_column, k=upload.k, frozen_by=upload.created_by,
    )  # fmt: skip
    upload.version, upload.state = version, Upload.State.FROZEN
    upload.code, upload.detail, alike = _likeness(version)
    upload.save(update_fields=["version", "state", "code", "detail"])
    audit.append(audit.SITE, [audit.Event("version.frozen", upload.created_by.username, {
        "dataset": str(upload.dataset.uid), "version": str(version.uid), "number": version.number,
        "schema": Schema.from_json(version.schema).digest, "person_column": version.person_column, "k": version.k,
    })])  # fmt: skip
    return alike


def _likeness(version: DatasetVersion) -> tuple[str, str, str]:
    """The notice that these records were frozen before; looked for among the curator's own versions: it tells of records."""
    own = DatasetVersion.objects.filter(dataset__owner=version.dataset.owner).exclude(pk=version.pk).select_related("dataset")
    named = {str(other.uid): other for other in own.order_by("pk")}
    found = files.alike(str(version.uid), list(named))
    if not found:
        return "", "", ""
    other = named[found[0]]
    where = "of this dataset" if other.dataset_id == version.dataset_id else f'of your dataset "{other.dataset.name}"'
    return LIKELY_REUPLOAD, _likely(other, where), str(other.uid)


def _likely(other: DatasetVersion, where: str) -> str:
    return (
        f"Likely the same records as version {other.number} {where}. If these are the same people, ask under the same contract: "
        "what two contracts over the same people spend adds up."
    )


def refuse(upload: Upload, refusal: Refused) -> None:
    """Onto the curator's row as a code and a fixed sentence; figures go into their report."""
    upload_files.leave(datasets.report_path(upload), {"refused": refusal.code, "detail": refusal.detail, **refusal.operands})
    upload.state, upload.code, upload.detail = Upload.State.REFUSED, refusal.code, refusal.detail
    upload.save(update_fields=["state", "code", "detail"])
