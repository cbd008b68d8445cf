"""Carol takes a messy file to a frozen version: each step a page, each mistake told in its place, no record outside."""

import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from accounts.models import Role
from curator.models import AuditEvent, Contract, Dataset, DatasetVersion, Upload
from curator.services import datasets, uploads
from tests.cast import Cast, make_contract, make_version, person
from tests.uploads import MESSY, served
from tests.web.scene import browser_of
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")


def send(carol: Client, content: str | bytes = MESSY, *, address: str = "/datasets/new/", name: str = "Panel") -> Upload:
    """A file through the first page, and what the worker does with it."""
    raw = content.encode() if isinstance(content, str) else content
    answer = carol.post(address, {"name": name, "file": SimpleUploadedFile("people.csv", raw)})
    assert answer.status_code == 303, text(answer)
    upload = Upload.objects.latest("pk")
    assert answer.headers["Location"] == f"/uploads/{upload.uid}/"
    return served(upload)


def declare(carol: Client, upload: Upload, place: int, **boxes: Any) -> Any:
    plain = {"kind": "", "title": "", "values": "", "spellings": "", "low": "", "high": "", "step": "", "missing_texts": ""}
    more = {"true_texts": "yes\ny", "false_texts": "no\nn", "out_of_domain": "other"}
    return carol.post(f"/uploads/{upload.uid}/columns/{place}/", {**plain, **more, **boxes})


def freeze(carol: Client, upload: Upload, **changes: str) -> Any:
    form = {"unit": "record", "person_column": "", "k": "", "table": "people"}
    return carol.post(f"/uploads/{upload.uid}/freeze/", form | changes)


def kinds() -> list[str]:
    return list(AuditEvent.objects.filter(chain="site").order_by("seq").values_list("kind", flat=True))


def test_from_a_messy_file_to_a_version(carol: Client) -> None:
    upload = send(carol)
    page = text(carol.get(f"/uploads/{upload.uid}/"))
    for told in ("semicolon", "UTF-8", "comma or point", "2 decimals, 1 digits in groups, 1 blank", "0 of 6 declared"):
        assert told in page, told
    assert declare(carol, upload, 1, kind="decimal", low="0", high="5000", step="0.25", missing="on").status_code == 303
    sexes = {"values": "F\nM", "spellings": "f = F\nfemale = F\nm = M"}
    assert declare(carol, upload, 2, kind="category", do="next", **sexes).headers["Location"].endswith("/columns/3/")
    declare(carol, upload, 3, kind="boolean", true_texts="Y", false_texts="N", missing="on")
    declare(carol, upload, 4, kind="date", low="1900-01-01", high="2020-12-31", missing="on", title="Date of birth")
    carol.post(f"/uploads/{upload.uid}/", {"do": "check"})
    assert "1 unreadable, 1 blank" in text(carol.get(f"/uploads/{served(upload).uid}/"))
    answer = freeze(carol, upload, unit="person", person_column="id", k="2")
    assert answer.headers["Location"] == f"/datasets/{upload.dataset.uid}/", text(answer)
    version = served(upload).version
    assert version is not None
    assert [column["name"] for column in version.schema["columns"]] == ["income", "sex", "member", "born"]
    assert (version.person_column, version.k, version.number) == ("id", 2, 1)
    assert upload.draft["reading"] == {"delimiter": ";", "decimal_comma": True}  # frozen as it was described
    report = datasets.parse_report(upload)
    assert report is not None
    assert report["cells"] == {"income": {"unreadable": 1, "blank": 1}, "member": {"blank": 1}, "born": {"blank": 1}}
    assert not datasets.path_of(upload).exists()
    assert kinds() == ["dataset.created", "upload.received", "upload.declared", "version.frozen"]


def test_what_the_worker_found_is_for_the_curator_alone(carol: Client) -> None:
    upload = send(carol, "id,city\n1,SECRETVILLE\n2,SECRETVILLE\n")
    carol.post(f"/uploads/{upload.uid}/suggest/", {"columns": ["city"], "acknowledged": "on"})
    served(upload)
    assert "SECRETVILLE" in html(carol.get(f"/uploads/{upload.uid}/columns/1/"))
    row = Upload.objects.filter(pk=upload.pk).values().get()
    events = b"".join(bytes(event.body) for event in AuditEvent.objects.all())
    assert "SECRETVILLE" not in str(row)
    assert b"SECRETVILLE" not in events
    assert "rows" not in str(row["draft"])


def test_nothing_is_suggested_without_saying_that_one_knows(carol: Client) -> None:
    upload = send(carol)
    page = f"/uploads/{upload.uid}/suggest/"
    assert carol.post(page, {"columns": ["sex"]}).status_code == 400
    assert carol.post(page, {"acknowledged": "on"}).status_code == 400
    assert carol.post(page, {"columns": ["nothing"], "acknowledged": "on"}).status_code == 400
    upload.refresh_from_db()
    assert (upload.state, uploads.suggestions_of(upload)) == ("described", {})
    assert carol.post(page, {"columns": ["sex", "income"], "acknowledged": "on"}).status_code == 303
    event = AuditEvent.objects.get(kind="domain.suggested")
    assert (event.actor, json.loads(bytes(event.body))["data"]) == (
        "carol", {"dataset": str(upload.dataset.uid), "upload": str(upload.uid), "columns": ["sex", "income"]},
    )  # fmt: skip
    form = html(carol.get(f"/uploads/{served(upload).uid}/columns/2/"))
    assert "Suggested from the records" in form
    assert re.search(r"<textarea name=\"values\"[^>]*>\s*f\nfemale\nM\nm</textarea>", form)
    assert "0 of 6 declared" in text(carol.get(f"/uploads/{upload.uid}/"))
    assert not freeze(carol, upload).headers.get("Location")


@pytest.mark.parametrize(("boxes", "told"), [
    ({"kind": "integer", "low": "", "high": "9"}, "lowest value"), ({"kind": "integer", "low": "9", "high": "1"}, "below"),
    ({"kind": "decimal", "low": "0", "high": "1"}, "step"),
    ({"kind": "decimal", "low": "0", "high": "1", "step": "0,3"}, "number"),
    ({"kind": "category"}, "Declare 1 to"), ({"kind": "category", "values": "a\na"}, "listed twice"),
    ({"kind": "category", "values": "a\nb", "spellings": "b = a"}, "two values"),
    ({"kind": "category", "values": "a", "spellings": "x = c"}, "no declared value"),
    ({"kind": "category", "values": "a", "spellings": "x"}, "a text, = and a value"),
    ({"kind": "category", "values": "NA", "missing_texts": "NA"}, "both a value and missing"),
    ({"kind": "boolean", "true_texts": "1", "false_texts": "1"}, "two things"),
    ({"kind": "date", "low": "31.1.1970", "high": "2020-01-01"}, "YYYY-MM-DD"),
    ({"kind": "date", "low": "2020-01-01", "high": "2020-01-02", "out_of_domain": "missing"}, "allows missing values"),
    ({"kind": "number"}, "valid choice"), ({"kind": "category", "values": "a\x00"}, "control characters"),
])  # fmt: skip
def test_a_column_that_is_none_is_told_and_not_kept(carol: Client, boxes: Mapping[str, str], told: str) -> None:
    upload = send(carol)
    answer = declare(carol, upload, 1, **boxes)
    assert answer.status_code == 400
    assert told in text(answer)
    upload.refresh_from_db()
    assert upload.draft == {}


def test_values_come_from_a_small_file_too(carol: Client) -> None:
    upload = send(carol)
    values = SimpleUploadedFile("codes.txt", "\ufeffF\r\n\r\n M \r\n".encode())
    assert declare(carol, upload, 2, kind="category", values_file=values).status_code == 303
    upload.refresh_from_db()
    assert upload.draft["columns"]["sex"]["values"] == ["F", "M"]
    bad = SimpleUploadedFile("codes.txt", b"\xff\xfe\x00")
    assert "UTF-8" in text(declare(carol, upload, 2, kind="category", values_file=bad))


def test_a_repeated_header_is_refused_with_places_and_mended(carol: Client) -> None:
    upload = send(carol, "age;;age\n1;2;3\n")
    page = unescape(text(carol.get(f"/uploads/{upload.uid}/")))
    assert (upload.state, upload.code) == ("refused", "bad_header")
    assert 'no name at position 2; "age" stands at positions 1, 3' in page
    assert not datasets.path_of(upload).exists()
    mended = send(carol, "age;id;size\n1;2;3\n", address=f"/datasets/{upload.dataset.uid}/versions/new/")
    assert (mended.state, mended.dataset) == ("described", upload.dataset)


def test_a_delimiter_that_the_header_hides_is_the_curators_to_say(carol: Client) -> None:
    upload = send(carol, "id;income, in dollars, a year\n1;5\n")
    assert "comma" in text(carol.get(f"/uploads/{upload.uid}/")) or upload.state == "refused"
    fresh = send(carol, "id;income, in dollars, a year\n1;5,5,5\n", name="Again")
    assert uploads.header_of(fresh) == ("id;income", "in dollars", "a year")
    carol.post(f"/uploads/{fresh.uid}/", {"do": "reading", "delimiter": ";", "decimal_comma": "False"})
    assert uploads.header_of(served(fresh)) == ("id", "income, in dollars, a year")
    declare(carol, fresh, 0, kind="integer", low="0", high="9")
    freeze(carol, fresh)
    assert served(fresh).state == "frozen"
    assert fresh.draft["reading"] == {"delimiter": ";", "decimal_comma": False}


@pytest.mark.parametrize(("changes", "told"), [
    ({"unit": ""}, "required"), ({"unit": "person"}, "Name the column"),
    ({"unit": "person", "person_column": "id"}, "most records"),
    ({"unit": "person", "person_column": "income", "k": "2"}, "valid choice"), ({"table": "1 x"}, "letters, digits"),
    ({"unit": "record", "k": "2"}, "no k"),
])  # fmt: skip
def test_the_privacy_unit_has_no_default_here_either(carol: Client, changes: dict[str, str], told: str) -> None:
    upload = send(carol)
    declare(carol, upload, 1, kind="decimal", low="0", high="10", step="1")
    answer = freeze(carol, upload, **changes)
    assert answer.status_code == 400
    assert told in text(answer)
    upload.refresh_from_db()
    assert upload.state == "described"


def test_nothing_declared_is_nothing_to_freeze(carol: Client) -> None:
    upload = send(carol)
    assert "Declare at least one column" in text(freeze(carol, upload))
    declare(carol, upload, 1, kind="decimal", low="0", high="10", step="1")
    declare(carol, upload, 1, kind="")
    assert "Declare at least one column" in text(freeze(carol, upload))


def test_a_file_is_the_workers_or_the_curators_and_final_in_the_end(carol: Client) -> None:
    upload = send(carol)
    declare(carol, upload, 1, kind="decimal", low="0", high="5000", step="0.25")
    carol.post(f"/uploads/{upload.uid}/", {"do": "check"})
    assert carol.post(f"/uploads/{upload.uid}/", {"do": "check"}).status_code == 409
    assert freeze(carol, upload).status_code == 409
    served(upload)
    assert freeze(carol, upload).status_code == 303
    assert freeze(carol, upload).status_code == 409
    assert served(upload).state == "frozen"
    assert carol.post(f"/uploads/{upload.uid}/", {"do": "discard", "reason": "x"}).status_code == 409
    assert "became version 1" in text(carol.get(f"/datasets/{upload.dataset.uid}/"))


def test_a_file_can_be_discarded_with_a_reason_and_leaves_nothing(carol: Client) -> None:
    upload = send(carol)
    assert carol.post(f"/uploads/{upload.uid}/", {"do": "discard", "reason": " "}).status_code == 400
    assert datasets.path_of(upload).exists()
    assert carol.post(f"/uploads/{upload.uid}/", {"do": "discard", "reason": "The wrong year"}).status_code == 303
    assert [path for path in datasets.path_of(upload).parent.iterdir() if str(upload.uid) in path.name] == []
    assert kinds()[-1] == "upload.discarded"


def test_the_next_version_starts_from_what_was_declared(carol: Client) -> None:
    first = send(carol)
    declare(carol, first, 1, kind="decimal", low="0", high="5000", step="1")
    freeze(carol, first, table="panel")
    served(first)
    second = send(carol, MESSY.replace("note", "remark"), address=f"/datasets/{first.dataset.uid}/versions/new/")
    assert "1 of 6 declared" in text(carol.get(f"/uploads/{second.uid}/"))
    assert 'value="panel"' in html(carol.get(f"/uploads/{second.uid}/freeze/"))
    freeze(carol, second, table="panel")
    version = served(second).version
    assert version is not None
    assert version.number == 2


def test_the_same_records_again_need_a_word_before_a_second_contract(carol: Client, people: Cast, settings: Settings) -> None:
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    first = send(carol)
    declare(carol, first, 1, kind="decimal", low="0", high="5000", step="1")
    freeze(carol, first)
    old = served(first).version
    assert old is not None
    make_contract(people, old)
    lines = MESSY.splitlines()
    shuffled = "\n".join([lines[0], *reversed(lines[1:])]) + "\n"
    again = send(carol, shuffled, address=f"/datasets/{first.dataset.uid}/versions/new/")
    freeze(carol, again)
    version = served(again).version
    assert version is not None
    page = html(carol.get(f"/datasets/{first.dataset.uid}/"))
    assert f"/versions/{version.uid}/overlap/" in page
    form = {"name": "Second", "rho_total": "1", "version": str(version.uid), "delta": "0.000001", "do": "open"}
    form |= {"xi": "0", "kappa": "0", "alpha": "1", "beta": "1", "stands": "on"}
    refused = carol.post("/contracts/new/", form)
    assert (refused.status_code, Contract.objects.count()) == (409, 1)
    assert "likely frozen before" in text(refused)
    assert f'value="{old.uid}" selected' in html(carol.get(f"/versions/{version.uid}/overlap/"))
    said = {"other": str(old.uid), "same_people": "yes", "reason": " "}
    assert carol.post(f"/versions/{version.uid}/overlap/", said).status_code == 400
    assert carol.post(f"/versions/{version.uid}/overlap/", said | {"reason": "Sent twice"}).status_code == 303
    event = json.loads(bytes(AuditEvent.objects.get(kind="overlap.declared").body))
    assert (event["actor"], event["data"]["reason"], event["data"]["same_people"]) == ("carol", "Sent twice", True)
    assert carol.post("/contracts/new/", form).status_code == 303


def test_a_contract_goes_over_to_another_version_with_a_reason(carol: Client, people: Cast) -> None:
    contract = make_contract(people)
    version = make_version(people.carol, dataset=contract.dataset)
    address = f"/versions/{version.uid}/use/"
    assert "Nothing is credited across versions" in text(carol.get(address))
    assert carol.post(address, {"contract": str(contract.uid), "reason": ""}).status_code == 400
    assert carol.post(address, {"contract": str(contract.uid), "reason": "The second wave"}).status_code == 303
    contract.refresh_from_db()
    assert contract.version == version
    assert AuditEvent.objects.filter(chain=str(contract.uid), kind="contract.version", actor="carol").exists()
    assert "No contract to change" in text(carol.get(address))


def test_another_curator_finds_nothing(carol: Client, people: Cast) -> None:
    upload, version = send(carol), make_version(people.carol)
    eve = browser_of(person("eve", Role.CURATOR))
    inside = [f"/uploads/{upload.uid}/{part}" for part in ("", "columns/0/", "suggest/", "freeze/")]
    for address in (*inside, f"/versions/{version.uid}/use/", f"/versions/{version.uid}/overlap/"):
        assert eve.get(address).status_code == 404
        assert eve.post(address, {}).status_code == 404
    assert (Dataset.objects.count(), DatasetVersion.objects.count()) == (2, 1)
