"""A file that a curator has just sent is described to them, on the worker's side; nothing is frozen and nothing recorded.

What was found goes into the folder of uploads, for that curator alone. The row learns only that there is something to look at, or
the stable code and fixed sentence of a refusal.
"""

import json
import logging
from collections.abc import Callable

from django.db import transaction

from curator.engine.describing import Described, describe
from curator.engine.sealing import EngineFailed
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from curator.models import Upload
from curator.services import upload_files
from curator.services.ingestion import reading_of, refuse, unreadable, waiting_file

logger = logging.getLogger(__name__)


def describe_upload(upload_id: int, *, alive: Callable[[], object] = lambda: None) -> None:
    """Describe an upload that is to be parsed, or refuse it; of no effect where another worker has it or it is further on.

    `alive` is called as it gets on.
    """
    with transaction.atomic():
        parsing = Upload.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        upload = parsing.filter(pk=upload_id, state=Upload.State.PARSING).first()
        if upload is None:
            return
        try:
            described = _describe(upload, alive)
        except Refused as refusal:
            refuse(upload, refusal)
        except EngineFailed as failure:
            logger.error("upload %s: %s", upload.uid, failure)
            refuse(upload, unreadable())
        else:
            _leave(upload, described)
            upload.state = Upload.State.DESCRIBED
            upload.save(update_fields=["state"])
    if upload.state == Upload.State.REFUSED:
        upload_files.forget(upload)
    else:
        upload_files.succeeded(upload)


def _describe(upload: Upload, alive: Callable[[], object]) -> Described:
    declared = list(upload.draft.get("columns", {}).values())
    columns = Schema.from_json({"columns": declared}).columns if declared else ()
    suggest = upload.draft.get("suggest", [])
    path = waiting_file(upload)
    texts = upload.draft.get("texts", False)
    return describe(path, reading=reading_of(upload), columns=columns, suggest=suggest, texts=texts, alive=alive)


def _leave(upload: Upload, described: Described) -> None:
    upload_files.leave(upload_files.report_path(upload), json.loads(described.description.to_json()))
    upload_files.leave(upload_files.offenders_path(upload), described.offenders)
    if described.suggestions:
        upload_files.leave(upload_files.suggestions_path(upload), described.suggestions)
