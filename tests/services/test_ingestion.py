"""The worker freezes what Carol handed in: once, whole, and without a word about the records where others read."""

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from accounts.models import Role
from curator.engine import counts
from curator.engine.counts import VersionFile
from curator.mechanism.columns import Column
from curator.mechanism.errors import Conflict
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from curator.models import AuditEvent, Contract, Dataset, DatasetVersion, Upload
from curator.services import contracts, datasets, ingestion, upload_files
from curator.services.datasets import LIKELY_REUPLOAD, PrivacyUnit
from curator.tasks import sweep
from tests.cast import SCHEMA, Cast, cast, person

pytestmark = pytest.mark.usefixtures("db", "folders")

HEADER = "age,sex,city,member\n"
FILE = HEADER + "34,F,Rome,true\n61,M,Oslo,false\n17,F,,true\n"
RECORD = PrivacyUnit()
TERMS: dict[str, Any] = {"name": "People", "rho_total": 10**12}
EACH = ["--one-record-per-person"]
SHUFFLED = "member,city,sex,age\n" + "true,,F,17\nfalse,Oslo,M,61\ntrue,Rome,F,34\n"


@pytest.fixture
def folders(settings: Settings, tmp_path: Path) -> Path:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.VERSIONS_DIR = tmp_path / "versions"
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    return tmp_path


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return datasets.create_dataset(curator=people.carol, name="People")


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


def test_a_file_becomes_a_version_and_is_deleted(dataset: Dataset, folders: Path) -> None:
    upload = freeze(hand_in(dataset))
    assert (upload.state, upload.code, upload.detail) == ("frozen", "", "")
    assert upload.version is not None
    assert (upload.version.number, upload.version.frozen_by, everybody(upload.version)) == (1, dataset.owner, 3)
    assert [path.name for path in (folders / "uploads").iterdir()] == [f"{upload.uid}.report.json"]


def test_the_next_file_is_the_next_version(dataset: Dataset) -> None:
    versions = [freeze(hand_in(dataset, FILE + f"{age},F,Rome,true\n")).version for age in (20, 30)]
    assert [version.number for version in versions if version] == [1, 2]


def test_carol_reads_what_became_of_the_cells_and_nobody_else_does(dataset: Dataset) -> None:
    upload = freeze(hand_in(dataset, HEADER + "abc,F,Rome,true\n300,X,,maybe\n"))
    report = datasets.parse_report(upload)
    assert report is not None
    assert report["rows"] == 2
    assert report["cells"] == {
        "age": {"unreadable": 1, "outside": 1}, "sex": {"outside": 1}, "city": {"blank": 1}, "member": {"outside": 1},
    }  # fmt: skip


def test_freezing_is_done_once_however_often_it_is_asked(dataset: Dataset) -> None:
    upload = freeze(hand_in(dataset))
    freeze(upload)
    ingestion.freeze_upload(10**9)
    assert DatasetVersion.objects.count() == 1
    assert AuditEvent.objects.filter(kind="version.frozen").count() == 1


def test_two_workers_make_one_version(dataset: Dataset) -> None:
    upload = hand_in(dataset, HEADER + "34,F,Rome,true\n" * 20_000)

    def work() -> None:
        try:
            ingestion.freeze_upload(upload.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()
    upload.refresh_from_db()
    assert (upload.state, DatasetVersion.objects.count()) == ("frozen", 1)
    assert upload.version is not None
    assert everybody(upload.version) == 20_000


def test_the_event_of_a_version_is_the_same_whatever_the_records(dataset: Dataset) -> None:
    data = []
    for content in (FILE, HEADER, HEADER + "34,F,Rome,true\n" * 500):
        version = freeze(hand_in(dataset, content)).version
        assert version is not None
        event = json.loads(bytes(AuditEvent.objects.filter(kind="version.frozen").latest("seq").body))
        assert event["data"].pop("version") == str(version.uid)
        event["data"].pop("number")
        data.append(event["data"])
    assert data[0] == data[1] == data[2]


def test_people_with_several_records_are_held_to_k(dataset: Dataset) -> None:
    content = "who,age,sex,city,member\n" + "ann,34,F,Rome,true\nann,35,F,Rome,true\nann,36,F,Rome,true\nbo,20,M,Oslo,true\n"
    upload = freeze(hand_in(dataset, content, unit=PrivacyUnit("who", 2)))
    version, report = upload.version, datasets.parse_report(upload)
    assert version is not None
    assert report is not None
    assert (everybody(version), report["beyond_k"], version.person_column, version.k) == (2, 1, "who", 2)


@pytest.mark.parametrize(("content", "code"), [
    (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not_a_table"), ("age,sex,city\n1,F,Rome\n", "column_not_in_file"),
    ("age,sex,age,city,member\n", "bad_header"), (HEADER + "1,2\n", "uneven_rows"),
    (HEADER + '1,F,Rome,"true\n', "unclosed_quote"), (b"\x1f\x8b\x08\x00", "compressed"),
])  # fmt: skip
def test_a_file_that_is_no_table_is_refused_in_words(dataset: Dataset, folders: Path, content: str | bytes, code: str) -> None:
    upload = freeze(hand_in(dataset, content))
    report = datasets.parse_report(upload)
    assert report is not None
    assert (upload.state, upload.code, upload.version, report["refused"]) == ("refused", code, None, code)
    assert upload.detail
    assert not DatasetVersion.objects.exists()
    assert not datasets.path_of(upload).exists()
    assert list(AuditEvent.objects.values_list("kind", flat=True).order_by("seq")) == ["dataset.created", "upload.received"]


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


def test_a_file_that_is_gone_is_refused(dataset: Dataset) -> None:
    upload = hand_in(dataset)
    datasets.path_of(upload).unlink()
    assert freeze(upload).code == "file_gone"


def test_the_same_records_again_are_pointed_out(dataset: Dataset, people: Cast) -> None:
    first = freeze(hand_in(dataset))
    again = freeze(hand_in(dataset, SHUFFLED))
    assert (again.state, again.code) == ("frozen", LIKELY_REUPLOAD)
    assert "version 1 of this dataset" in again.detail
    elsewhere = freeze(hand_in(datasets.create_dataset(curator=people.carol, name="Others"), FILE))
    assert 'version 1 of your dataset "People"' in elsewhere.detail
    assert freeze(hand_in(dataset, FILE + "50,F,Rome,true\n")).code == ""
    assert first.version is not None
    assert again.version is not None
    no_contract_before_it_is_said(people, first.version, again.version)
    datasets.declare_overlap(
        curator=people.carol, version=again.version, other=first.version, same_people=True, reason="Sent twice."
    )
    assert contracts.open_contract(curator=people.carol, version=again.version, **TERMS).state == "open"
    assert datasets.overlap_declared(again.version)
    assert not datasets.overlap_declared(first.version)


def no_contract_before_it_is_said(people: Cast, first: DatasetVersion, again: DatasetVersion) -> None:
    """Neither over the records sent again, nor by moving a draft to them, nor by opening a draft that was moved before."""
    draft = contracts.draft(curator=people.carol, version=first, **TERMS)
    tries: list[Callable[[], Contract]] = [
        lambda: contracts.draft(curator=people.carol, version=again, **TERMS),
        lambda: contracts.change_draft(curator=people.carol, contract=draft, version=again, **TERMS),
    ]
    codes = [refused_with(each) for each in tries]
    Contract.objects.filter(pk=draft.pk).update(version=again)
    codes.append(refused_with(lambda: contracts.open_draft(curator=people.carol, contract=draft)))
    assert codes == ["overlap_undeclared"] * 3
    contracts.close(curator=people.carol, contract=draft, reason="Tried only")


def refused_with(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as refusal:
        act()
    return refusal.value.code


def test_nobody_learns_what_another_curator_has(dataset: Dataset) -> None:
    freeze(hand_in(dataset))
    theirs = datasets.create_dataset(curator=person("chris", Role.CURATOR), name="Guess")
    assert freeze(hand_in(theirs)).code == ""


def load(folder: Path, *arguments: str, content: str = FILE, schema: Any = SCHEMA, curator: str = "carol") -> None:
    (folder / "p.csv").write_text(content)
    (folder / "s.json").write_text(json.dumps(schema))
    files = [str(folder / "p.csv"), "--schema", str(folder / "s.json")]
    call_command("load_dataset", *files, "--curator", curator, "--name", "Loaded", *arguments)


def test_the_command_freezes_at_once(people: Cast, folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(folders, "--one-record-per-person")
    load(folders, "--one-record-per-person", content=FILE + "xx,F,Rome,true\n")
    assert [version.number for version in DatasetVersion.objects.filter(dataset__name="Loaded").order_by("pk")] == [1, 2]
    told = capsys.readouterr().out
    assert "version 2 of Loaded" in told
    assert "age: 1 unreadable" in told


def test_the_command_holds_people_to_k(people: Cast, folders: Path) -> None:
    load(folders, "--person-column", "who", "--k", "2", content="who," + FILE.replace("\n", "\nann,")[:-4])
    version = DatasetVersion.objects.get()
    assert (version.person_column, version.k, everybody(version)) == ("who", 2, 1)


@pytest.mark.parametrize(("arguments", "changes", "says"), [
    ([], {}, "--one-record-per-person"), (["--person-column", "who"], {}, "bad_privacy_unit: k: "),
    ([*EACH, "--k", "3"], {}, "bad_privacy_unit"), (EACH, {"curator": "nobody"}, "no user"),
    (EACH, {"curator": "alice"}, "not_found"), (EACH, {"schema": {}}, "bad_schema: columns"),
    (EACH, {"content": "age,sex\n"}, 'no column "city"'), (EACH, {"content": ""}, "The file is empty"),
    ([*EACH, "--table", "a b"], {}, "bad_table: table"),
])  # fmt: skip
def test_the_command_says_what_is_wrong(
    people: Cast, folders: Path, arguments: list[str], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        load(folders, *arguments, **changes)
    assert caught.value.returncode == 1
    assert not DatasetVersion.objects.exists()


def test_the_command_says_which_file_is_missing(people: Cast, folders: Path) -> None:
    (folder := folders / "empty").mkdir()
    with pytest.raises(CommandError, match=r"s\.json: No such file"):
        call_command("load_dataset", "p.csv", "--schema", str(folder / "s.json"), "--curator", "carol", "--name", "x", *EACH)


def test_the_survey_that_comes_along_fits_its_schema(people: Cast, folders: Path) -> None:
    demo = Path(ingestion.__file__).parents[1] / "demo"
    version = ingestion.load(
        demo / "k401ksubs.csv", curator=people.carol, name="Survey", unit=PrivacyUnit(),
        schema_text=(demo / "k401ksubs.schema.json").read_text(),
    )  # fmt: skip
    report = datasets.parse_report(version.upload)
    assert report is not None
    assert (report["rows"], report["cells"]) == (9_275, {"net_assets": {"outside": 1}})
    schema = Schema.from_json(version.schema)
    older = Region.of(schema, "age", [(schema.column("age").encode_literal(40), schema.column("age").value_count - 1)])
    eligible = Region.of(schema, "eligible", [(1, 1)])
    file = VersionFile(str(version.uid), schema, person=False, k=1)
    assert counts.count(file, [older & eligible])[0]._reveal() == _by_hand(demo / "k401ksubs.csv")


def _by_hand(path: Path) -> int:
    lines: Iterable[list[str]] = (line.split(",") for line in path.read_text().splitlines()[1:])
    return sum(line[0] == "1" and int(line[5]) >= 40 for line in lines)
