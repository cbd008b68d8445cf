"""Files on their way: sent by a curator through the service, described by what the worker does."""

from functools import partial

from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from curator.models import Dataset, Upload
from curator.services import datasets, describing, ingestion, uploads

MESSY = (
    "\ufeffid;income;sex;member;born;note\n"
    "a;1.234,50;f;Y;1970-01-31;x\n"
    "b;99,5;female;N;1980-02-29;x\n"
    "b;12,25;M;;;x\n"
    "c;;m;y;1990-12-31;x\n"
)


def served(upload: Upload) -> Upload:
    """What the worker does with it when its bell rings."""
    describing.describe_upload(upload.pk)
    ingestion.freeze_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def sent(owner: User, content: str | bytes = MESSY, *, dataset: Dataset | None = None, name: str = "Panel") -> Upload:
    """A file of a new dataset, or of one there is, that the worker has described."""
    raw = content.encode() if isinstance(content, str) else content
    where = dataset or partial(datasets.create_dataset, curator=owner, name=name)
    file = SimpleUploadedFile("people.csv", raw)
    return served(uploads.receive(curator=owner, dataset=where, file=file, filename="people.csv", ring=False))
