"""Carol hands in files: what is public about them is checked, what they hold waits for the worker."""

import io
import json
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from pytest_django import Settings

from accounts.models import Role
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused, TooLarge
from curator.models import AuditEvent, Dataset, Upload
from curator.services import datasets
from curator.services.datasets import PrivacyUnit
from tests.cast import SCHEMA, Cast, make_version, person

pytestmark = pytest.mark.usefixtures("db", "folders")

FILE = b"age,sex,city,member\n34,F,Rome,true\n"


def upload(people: Cast, dataset: Dataset | Callable[[], Dataset], **changes: Any) -> Upload:
    arguments: dict[str, Any] = {
        "curator": people.carol, "dataset": dataset, "file": SimpleUploadedFile("p.csv", FILE), "filename": "p.csv",
        "schema_text": json.dumps(SCHEMA), "unit": PrivacyUnit(), "ring": False,
    }  # fmt: skip
    return datasets.register_upload(**arguments | changes)


def kinds() -> list[str]:
    return list(AuditEvent.objects.filter(chain="site").order_by("seq").values_list("kind", flat=True))


def test_carol_makes_a_dataset_and_it_is_on_the_record(people: Cast) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name=" Income survey ", source="A public survey")
    assert (dataset.name, dataset.owner, kinds()) == ("Income survey", people.carol, ["dataset.created"])
    with pytest.raises(Conflict, match="name_taken"):
        datasets.create_dataset(curator=people.carol, name="Income survey")


def test_alice_makes_none(people: Cast) -> None:
    with pytest.raises(NotYours):
        datasets.create_dataset(curator=people.alice, name="Mine")


def test_two_curators_may_use_one_name(people: Cast) -> None:
    datasets.create_dataset(curator=people.carol, name="People")
    assert datasets.create_dataset(curator=person("chris", Role.CURATOR), name="People").pk


def test_a_file_waits_for_the_worker_where_only_this_account_can_read_it(people: Cast) -> None:
    waiting = upload(people, datasets.create_dataset(curator=people.carol, name="People"))
    path = datasets.path_of(waiting)
    assert path.read_bytes() == FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (waiting.state, kinds()) == ("waiting", ["dataset.created", "upload.received"])
    assert datasets.parse_report(waiting) is None


def test_the_event_of_an_upload_tells_nothing_of_its_records(people: Cast) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name="People")
    bodies = []
    for content in (FILE, FILE * 50):
        received = upload(people, dataset, file=SimpleUploadedFile("p.csv", content))
        body = bytes(AuditEvent.objects.filter(kind="upload.received").latest("seq").body).decode()
        data = json.loads(body)["data"]
        assert data.pop("upload") == str(received.uid)
        bodies.append(data)
    assert bodies[0] == bodies[1]


def test_the_worker_is_rung_for_once_the_row_is_there(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    monkeypatch.setattr("curator.queue.ring_upload", rung.append)
    received = upload(people, datasets.create_dataset(curator=people.carol, name="People"), ring=True)
    assert rung == [received.pk]


def test_a_file_beyond_the_limit_is_refused_while_it_arrives(people: Cast, settings: Settings, folders: Path) -> None:
    settings.UPLOAD_MAX_BYTES = 1_000
    dataset = datasets.create_dataset(curator=people.carol, name="People")
    taken = []

    class Endless(SimpleUploadedFile):
        def chunks(self, chunk_size: int | None = None) -> Any:
            for _ in range(100):
                taken.append(1)
                yield b"x" * 300

    with pytest.raises(TooLarge, match="file_too_large"):
        upload(people, dataset, file=Endless("p.csv", b"x"))
    assert len(taken) == 4
    assert not Upload.objects.exists()
    assert not list((folders / "uploads").iterdir())


def test_nothing_is_kept_where_the_record_cannot_be_written(people: Cast, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name="People")

    def fail(*_: object) -> None:
        raise RuntimeError("no record today")

    monkeypatch.setattr("curator.services.audit.append", fail)
    with pytest.raises(RuntimeError):
        upload(people, dataset)
    assert not Upload.objects.exists()
    assert not list((folders / "uploads").iterdir())


def test_only_the_owner_hands_in(people: Cast) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name="People")
    for stranger in (people.alice, person("chris", Role.CURATOR)):
        with pytest.raises(NotYours):
            upload(people, dataset, curator=stranger)


@pytest.mark.parametrize(("unit", "column", "k", "field"), [
    ("", "", None, "privacy_unit"), ("person", "", "2", "person_column"), ("person", "who", None, "k"),
    ("person", "who", "0", "k"), ("person", "who", "-1", "k"), ("person", "who", "1.5", "k"), ("person", "who", "9" * 5000, "k"),
    ("person", "who", "two", "k"),
    ("record", "who", None, "privacy_unit"), ("record", "", "2", "privacy_unit"), ("household", "who", "2", "privacy_unit"),
    ("person", "a\nb", "2", "person_column"),
])  # fmt: skip
def test_the_privacy_unit_has_no_default_and_no_half(unit: str, column: str, k: str | None, field: str) -> None:
    with pytest.raises(BadInput) as caught:
        datasets.privacy_unit(unit, person_column=column, k=k)
    assert caught.value.field == field


def test_both_privacy_units_can_be_stated() -> None:
    assert datasets.privacy_unit("record") == PrivacyUnit("", 1)
    assert datasets.privacy_unit("record", k="1") == PrivacyUnit("", 1)
    assert datasets.privacy_unit("person", person_column=" who ", k="3") == PrivacyUnit("who", 3)


@pytest.mark.parametrize(("text", "field"), [
    ("{", "schema"), ("[" * 100_000, "schema"),
    ('{"columns": [{"name": "a", "kind": "integer", "low": NaN, "high": 1}]}', "schema"),
    ('{"columns": [{"name": "a", "kind": "integer", "low": ' + "1" * 5000 + "}]}", "schema"),
    ('{"columns": [{"name": "a", "kind": "number"}]}', "columns[0].kind"), ('{"columns": []}', "columns"), ("null", "columns"),
])  # fmt: skip
def test_what_is_no_schema_is_refused_with_its_place(text: str, field: str) -> None:
    with pytest.raises(Refused) as caught:
        datasets.read_schema(text)
    assert caught.value.field == field


@pytest.mark.parametrize("changes", [
    {"table": "people; DROP"}, {"table": ""}, {"table": "1people"}, {"table": "x" * 64},
    {"unit": PrivacyUnit("age", 2)}, {"schema_text": "{}"},
])  # fmt: skip
def test_a_bad_declaration_keeps_nothing(people: Cast, folders: Path, changes: dict[str, Any]) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name="People")
    with pytest.raises(BadInput):
        upload(people, dataset, **changes)
    assert not Upload.objects.exists()
    assert not (folders / "uploads").exists()


@pytest.mark.parametrize(("given", "kept"), [
    ("../../etc/passwd", "passwd"), ("C:\\data\\people.csv", "people.csv"), ("a\nINFO ok\x00.csv", "aINFO ok.csv"), ("", "file"),
    ("x" * 400, "x" * 255),
])  # fmt: skip
def test_a_files_name_is_a_name_and_nothing_else(people: Cast, given: str, kept: str) -> None:
    dataset = datasets.create_dataset(curator=people.carol, name="People")
    assert upload(people, dataset, filename=given, file=SimpleUploadedFile("p", FILE)).filename == kept


def test_decimals_in_a_schema_are_read_exactly(people: Cast) -> None:
    text = '{"columns": [{"name": "rate", "kind": "decimal", "low": 0.0, "high": 0.3, "step": 0.1}]}'
    assert datasets.read_schema(text).column("rate").value_count == 4


def test_what_carol_says_of_an_overlap_is_on_the_record(people: Cast) -> None:
    first, second = make_version(people.carol), make_version(people.carol)
    with pytest.raises(BadInput):
        datasets.declare_overlap(curator=people.carol, version=second, other=first, same_people=True, reason=" ")
    datasets.declare_overlap(curator=people.carol, version=second, other=first, same_people=True, reason="The same survey.")
    event = AuditEvent.objects.get(kind="overlap.declared")
    assert json.loads(bytes(event.body))["data"] == {
        "version": str(second.uid), "other": str(first.uid), "same_people": True, "reason": "The same survey.",
    }  # fmt: skip
    with pytest.raises(NotYours):
        datasets.declare_overlap(
            curator=people.carol, version=second, other=make_version(person("chris", Role.CURATOR)), same_people=True, reason="x"
        )


def test_a_plain_binary_file_can_be_handed_in(people: Cast) -> None:
    from django.core.files.base import File

    dataset = datasets.create_dataset(curator=people.carol, name="People")
    assert datasets.path_of(upload(people, dataset, file=File(io.BytesIO(FILE)))).read_bytes() == FILE


class Watched(SimpleUploadedFile):
    """A file that notes whether a transaction is open while it is copied."""

    open_while_copied: bool | None = None

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        self.open_while_copied = connection.in_atomic_block
        return super().chunks(chunk_size)


def test_a_first_file_is_copied_before_anything_is_locked_and_makes_its_dataset_or_nothing(people: Cast) -> None:
    make = partial(datasets.create_dataset, curator=people.carol, name="People")
    file = Watched("p.csv", FILE)
    made = upload(people, make, file=file)
    assert (file.open_while_copied, made.dataset.name) == (False, "People")
    with pytest.raises(Conflict, match="name_taken"):
        upload(people, make)
    with pytest.raises(NotYours):
        upload(people, make, curator=people.alice)
    assert (Dataset.objects.count(), Upload.objects.count()) == (1, 1)
    assert [path.name for path in datasets.path_of(made).parent.iterdir()] == [str(made.uid)]
