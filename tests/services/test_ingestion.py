"""The worker freezes what Carol handed in: once, whole, and without a word about the records where others read."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.models import Role
from curator.mechanism.errors import Conflict
from curator.models import AuditEvent, Contract, Dataset, DatasetVersion
from curator.services import contracts, datasets, ingestion
from curator.services.datasets import LIKELY_REUPLOAD, PrivacyUnit
from tests.cast import Cast, person
from tests.services.ingesting import FILE, HEADER, everybody, freeze, hand_in

pytestmark = pytest.mark.usefixtures("db", "folders")

TERMS: dict[str, Any] = {"name": "People", "rho_total": 10**12}
SHUFFLED = "member,city,sex,age\n" + "true,,F,17\nfalse,Oslo,M,61\ntrue,Rome,F,34\n"


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
    assert contracts.open_contract(curator=people.carol, version=again.version, stands=True, **TERMS).state == "open"
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
    codes.append(refused_with(lambda: contracts.open_draft(curator=people.carol, contract=draft, stands=True)))
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
