"""Freezing that fails on the way: it is tried twice, leaves nothing behind, and says nothing of what stood in the file."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest

from curator.mechanism.columns import Column
from curator.models import Dataset, DatasetVersion
from curator.services import datasets, ingestion, upload_files
from curator.tasks import sweep
from tests.services.ingesting import FILE, HEADER, everybody, freeze, hand_in

pytestmark = pytest.mark.usefixtures("db", "folders")


def test_a_failure_on_a_private_cell_names_the_code_and_nothing_else(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(column: Column, text: str | None) -> int:
        raise ValueError(f"could not read {text}")

    upload = hand_in(dataset, HEADER + "34,F,SECRET42,true\n")
    monkeypatch.setattr(Column, "encode_text", fail)
    freeze(upload)
    assert (upload.state, upload.code) == ("refused", "could_not_be_read")
    assert "freeze_failed" in caplog.text
    assert "SECRET42" not in caplog.text + upload.detail + json.dumps(datasets.parse_report(upload))


def test_a_file_that_takes_the_worker_down_is_tried_twice(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object, **__: object) -> None:
        raise SystemExit

    upload = hand_in(dataset)
    monkeypatch.setattr(ingestion, "freeze", die)
    for _ in range(2):
        with pytest.raises(SystemExit):
            ingestion.freeze_upload(upload.pk)
        upload.refresh_from_db()
        assert upload.state == "waiting"
    assert freeze(upload).code == "could_not_be_read"


def test_each_refusal_is_its_own(dataset: Dataset) -> None:
    first, second = ingestion.unreadable(), ingestion.unreadable()
    assert (first.code, first.detail) == (second.code, second.detail) and first is not second


def test_a_worker_that_died_after_writing_leaves_no_second_version(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = hand_in(dataset)

    def die(_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(ingestion, "_settle", die)
        ingestion.freeze_upload(upload.pk)
    version = freeze(upload).version
    assert version is not None
    assert (version.uid, everybody(version), DatasetVersion.objects.count()) == (upload.uid, 3, 1)


def test_what_a_crash_left_of_a_file_is_deleted_by_a_later_sweep(
    dataset: Dataset, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, busy, stray = hand_in(dataset), hand_in(dataset), folders / "uploads" / str(uuid4())
    with monkeypatch.context() as patch:
        patch.setattr(upload_files, "forget", lambda upload: None)  # it died before it came to that
        freeze(done)
    stray.write_text(FILE)
    (folders / "uploads" / "notes.txt").write_text("somebody's own")
    kept = {str(busy.uid), f"{done.uid}.report.json", "notes.txt", ".cleaned"}
    assert upload_files.clean() == 0  # whoever wrote them may be at it still
    age(folders / "uploads")
    sweep()
    assert {path.name for path in (folders / "uploads").iterdir()} == kept
    stray.write_text(FILE)
    os.utime(stray, (0, 0))
    assert upload_files.clean() == 0  # not every five seconds
    assert freeze(busy).state == "frozen"


def age(folder: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, (0, 0))
