"""Carol's program takes a file to a version, as her browser would; Alice's finds nothing."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from curator.models import AuditEvent, Contract, Denial, Upload
from curator.services import denials
from tests.api.conftest import Caller
from tests.cast import Cast, make_version
from tests.uploads import MESSY, sent, served

pytestmark = pytest.mark.usefixtures("db")

INCOME = {"name": "income", "kind": "decimal", "low": 0, "high": 5000, "step": 0.25, "missing": True}
SEX = {"name": "sex", "kind": "category", "values": ["F", "M"], "spellings": {"F": ["f", "female"], "M": ["m"]}}


def send(carol: Caller, content: str, **form: str) -> Any:
    made = carol.post("datasets/", {"name": "Panel"})[1]
    file = SimpleUploadedFile("people.csv", content.encode())
    return carol.client.post(f"/api/v1/datasets/{made['id']}/uploads/", {"file": file, **form})


def test_from_a_messy_file_to_a_version(carol: Caller, alice: Caller) -> None:
    answer = send(carol, MESSY)
    assert (answer.status_code, answer.json()["state"]) == (202, "parsing")
    path = f"uploads/{answer.json()['id']}/"
    assert carol.get(path)["report"] is None
    upload = served(Upload.objects.get())
    found = carol.get(path)
    assert (found["state"], found["report"]["format"]["delimiter"], found["columns"]) == ("described", ";", 6)
    assert carol.post(f"{path}columns/", {"columns": [SEX, INCOME]})[0] == 200
    status, asked = carol.post(f"{path}suggestions/", {"columns": ["born"], "acknowledged": True})
    assert (status, asked["state"]) == (202, "parsing")
    assert carol.post(f"{path}columns/", {"columns": [SEX]})[0] == 409
    served(upload)
    columns = {column["name"]: column for column in carol.get(f"{path}columns/")["results"]}
    assert (columns["born"]["suggested"]["kind"], columns["sex"]["cells"]) == ("date", {})
    assert [name for name, column in columns.items() if column["declared"]] == ["income", "sex"]
    assert carol.get(path)["declared"] == 2
    assert alice.call("GET", path)[0] == 404
    status, waiting = carol.post(f"{path}freeze/", {"privacy_unit": "person", "person_column": "id", "k": "2"})
    assert (status, waiting["state"]) == (202, "waiting")
    assert served(upload).state == "frozen"
    assert all(column["suggested"] is None for column in carol.get(f"{path}columns/")["results"])
    version = carol.get(f"datasets/{found['dataset']}/")["versions"][0]
    assert (carol.get(path)["version"], [each["name"] for each in version["schema"]["columns"]]) == (
        version["id"],
        ["income", "sex"],
    )


@pytest.mark.parametrize(("what", "body", "code", "field"), [
    ("columns/", {"columns": [{"name": "age", "kind": "boolean"}]}, "column_not_in_file", "columns[0].name"),
    ("columns/", {"columns": [INCOME, {**SEX, "values": []}]}, "bad_schema", "columns[1].values"),
    ("columns/", {"columns": {}}, "bad_schema", "columns"), ("columns/", {"columns": [], "more": 1}, "unknown_field", "more"),
    ("suggestions/", {"columns": ["sex"], "acknowledged": False}, "not_acknowledged", "acknowledged"),
    ("suggestions/", {"columns": ["sex"]}, "bad_boolean", "acknowledged"),
    ("suggestions/", {"columns": "sex", "acknowledged": True}, "bad_names", "columns"),
    ("reading/", {"delimiter": "x"}, "bad_delimiter", "delimiter"),
    ("reading/", {"decimal_comma": 1}, "bad_boolean", "decimal_comma"),
    ("reading/", {"acknowledged": "yes"}, "bad_boolean", "acknowledged"),
    ("freeze/", {"privacy_unit": "record", "misfits": "born"}, "bad_names", "misfits"),
    ("freeze/", {"privacy_unit": ""}, "bad_privacy_unit", "privacy_unit"),
    ("freeze/", {"privacy_unit": "record"}, "no_columns", "columns"),
    ("discard/", {"reason": ""}, "missing_text", "reason"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_place_and_changes_nothing(
    people: Cast, carol: Caller, what: str, body: object, code: str, field: str
) -> None:
    upload, events = sent(people.carol), AuditEvent.objects.count()
    status, told = carol.post(f"uploads/{upload.uid}/{what}", body)
    assert (status, told["code"], told["field"]) == (400, code, field)
    upload.refresh_from_db()
    assert (upload.state, upload.draft, AuditEvent.objects.count()) == ("described", {}, events)


def test_a_unit_without_columns_is_not_passed_over(carol: Caller) -> None:
    answer = send(carol, MESSY, privacy_unit="record")
    assert (answer.status_code, answer.json()["field"]) == (400, "privacy_unit")
    assert not Upload.objects.exists()


def test_a_file_is_read_otherwise_and_discarded(people: Cast, carol: Caller) -> None:
    upload = sent(people.carol, "id;income, in dollars\n1;5,5\n")
    assert carol.post(f"uploads/{upload.uid}/reading/", {"delimiter": ";", "decimal_comma": False})[0] == 202
    report = carol.get(f"uploads/{served(upload).uid}/")["report"]
    assert (report["format"]["decimal_comma"], report["rows"]) == (False, 1)
    assert [each["name"] for each in carol.get(f"uploads/{upload.uid}/columns/")["results"]] == ["id", "income, in dollars"]
    assert carol.post(f"uploads/{upload.uid}/discard/", {"reason": "The wrong year"})[1]["state"] == "discarded"


def test_a_contract_goes_over_to_another_version_and_an_overlap_is_said(
    people: Cast, contract: Contract, carol: Caller, bob: Caller
) -> None:
    version = make_version(people.carol, dataset=contract.dataset)
    said = {"other": str(contract.version.uid), "same_people": True, "reason": "The same panel"}
    answer = carol.client.post(f"/api/v1/versions/{version.uid}/overlap/", json.dumps(said), "application/json")
    assert answer.status_code == 204
    assert AuditEvent.objects.filter(kind="overlap.declared", actor="carol").count() == 1
    body = {"version": str(version.uid), "reason": "The second wave"}
    assert bob.post(f"contracts/{contract.uid}/version/", body)[0] == 404
    assert carol.post(f"contracts/{contract.uid}/version/", {**body, "reason": ""})[0] == 400
    assert carol.post(f"contracts/{contract.uid}/version/", body)[0] == 200
    assert carol.post(f"contracts/{contract.uid}/version/", body)[0] == 409


def test_one_column_at_a_time_of_a_file_with_many(people: Cast, carol: Caller, bob: Caller) -> None:
    header = ",".join(f"c{place}" for place in range(250))
    upload = sent(people.carol, f"{header}\n{','.join('7' * 250)}\n")
    path = f"uploads/{upload.uid}/"
    assert (carol.get(path)["columns"], len(json.dumps(carol.get(path))) < 2_000) == (250, True)
    pages = [carol.get(f"{path}columns/")]
    while pages[-1]["next"] is not None:
        pages.append(carol.get(f"{path}columns/?after={pages[-1]['next']}"))
    assert [len(page["results"]) for page in pages] == [100, 100, 50]
    assert [column["name"] for page in pages for column in page["results"]] == header.split(",")
    numbers = {"kind": "integer", "low": 0, "high": 9}
    assert carol.call("PUT", f"{path}columns/7/", numbers)[1]["declared"] == 1
    assert carol.call("PUT", f"{path}columns/240/", {**numbers, "name": "c240"})[1]["declared"] == 2
    assert carol.call("PUT", f"{path}columns/240/", {**numbers, "name": "c7"})[1]["field"] == "name"
    assert carol.call("PUT", f"{path}columns/8/", {"kind": "integer", "low": 5, "high": 1})[1]["field"] == "high"
    assert carol.call("PUT", f"{path}columns/250/", numbers)[0] == 404
    assert bob.call("PUT", f"{path}columns/7/", numbers)[0] == 404
    assert carol.call("DELETE", f"{path}columns/7/")[1]["declared"] == 1
    upload.refresh_from_db()
    assert list(upload.draft["columns"]) == ["c240"]


def test_a_column_may_have_as_many_values_as_on_the_page(people: Cast, carol: Caller) -> None:
    upload = sent(people.carol, "town\nt1\n")
    values = [f"town {number}" for number in range(20_000)]
    assert carol.call("PUT", f"uploads/{upload.uid}/columns/0/", {"kind": "category", "values": values})[0] == 200
    status, told = carol.call("PUT", f"uploads/{upload.uid}/columns/0/", {"kind": "category", "values": ["x" * 2_000_001]})
    assert (status, told["code"]) == (413, "body_too_large")


def told_of() -> str:
    """The site's chain once the sweep has told what was refused, as far as it speaks of refusals."""
    denials.tell(datetime.now(UTC) + timedelta(minutes=1))
    return "".join(
        bytes(event.body).decode() for event in AuditEvent.objects.filter(kind__in=["request.refused", "access.denied"])
    )


def test_what_a_file_holds_decides_of_no_count(people: Cast, carol: Caller) -> None:
    upload = sent(people.carol, "id;born\n1;1970-01-31\n")
    path, number = f"uploads/{upload.uid}/", {"kind": "integer", "low": 0, "high": 9}
    answers = [
        carol.post(f"{path}columns/", {"columns": [{"name": "age", **number}]}),
        carol.post(f"{path}suggestions/", {"columns": ["age"], "acknowledged": True}),
        carol.call("PUT", f"{path}columns/0/", {**number, "name": "age"}),
        carol.call("PUT", f"{path}columns/2/", number), carol.call("DELETE", f"{path}columns/2/"),
        carol.post(f"{path}freeze/", {"privacy_unit": "record"}),
    ]  # fmt: skip
    assert carol.call("PUT", f"{path}columns/0/", number)[0] == 200
    answers.append(carol.post(f"{path}freeze/", {"privacy_unit": "person", "person_column": "who", "k": 2}))
    assert carol.post(f"{path}reading/", {"delimiter": "x"})[0] == 400
    assert carol.post(f"{path}reading/", {})[0] == 202
    answers += [carol.post(f"{path}reading/", {}), carol.post(f"{path}discard/", {"reason": "no"})]
    empty = carol.client.post(f"/api/v1/datasets/{upload.dataset.uid}/uploads/", {"file": SimpleUploadedFile("a.csv", b"")})
    codes = [told["code"] for _, told in answers] + [empty.json()["code"]]
    assert codes == [
        "column_not_in_file", "no_columns", "other_column", "not_found", "not_found", "no_columns", "column_not_in_file",
        "upload_busy", "upload_busy", "not_a_table",
    ]  # fmt: skip
    assert [code for code in codes if code in told_of()] == []
    assert Denial.objects.count() == 1, "the delimiter"


def test_freezing_what_does_not_fit_takes_a_word_here_too(people: Cast, carol: Caller) -> None:
    upload = sent(people.carol, "id;born\n1;31.01.1970\n2;28.02.1980\n")
    born = {"name": "born", "kind": "date", "low": "1900-01-01", "high": "2020-12-31", "out_of_domain": "other"}
    path = f"uploads/{upload.uid}/"
    carol.post(f"{path}columns/", {"columns": [born]})
    carol.post(f"{path}reading/", {})
    served(upload)
    column = carol.get(f"{path}columns/")["results"][1]
    assert (column["cells"], column["offenders"]) == ({"unreadable": 2}, {}), "numbers only"
    assert not AuditEvent.objects.filter(kind="misfits.shown").exists()
    assert carol.post(f"{path}reading/", {"acknowledged": True})[0] == 202
    served(upload)
    assert b'"columns":["born"]' in bytes(AuditEvent.objects.get(kind="misfits.shown", actor="carol").body)
    column = carol.get(f"{path}columns/")["results"][1]
    assert column["offenders"] == {"texts": [["28.02.1980", 1], ["31.01.1970", 1]], "others": 0}
    assert (column["dates"], column["checked"], carol.get(path)["misfits"]) == ({"dd.mm.yyyy": 2}, True, ["born"])
    status, told = carol.post(f"{path}freeze/", {"privacy_unit": "record"})
    assert (status, told["code"], told["field"]) == (400, "column_does_not_fit", "misfits")
    assert (told_of(), Denial.objects.count()) == ("", 0), "that it was refused tells of the records"
    assert carol.post(f"{path}freeze/", {"privacy_unit": "record", "misfits": "born"})[0] == 400
    assert carol.post(f"{path}columns/", {"columns": [{**born, "date_format": "dd.mm.yyyy"}]})[0] == 200
    column = carol.get(f"{path}columns/")["results"][1]
    assert (column["cells"], column["checked"], column["offenders"]) == ({}, False, {})
    carol.post(f"{path}reading/", {})
    served(upload)
    assert carol.get(path)["misfits"] == []
    assert carol.post(f"{path}freeze/", {"privacy_unit": "record"})[0] == 202
