"""Carol's pages: a contract from nothing, people, requests, control; each step recorded, each refusal told in the form."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Membership, Role
from curator.models import AnalystBudget, AuditEvent, BudgetRequest, Contract, Dataset, Upload
from curator.services import budget_requests, contracts, ingestion
from curator.services.datasets import path_of
from tests.cast import Cast, make_version, person, units
from tests.web.curator import new_contract, upload_form
from tests.web.scene import browser_of
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")


def test_a_file_becomes_a_version_and_a_version_a_contract(carol: Client, people: Cast) -> None:
    answer = carol.post("/datasets/new/", upload_form())
    assert answer.status_code == 303, text(answer)
    upload = Upload.objects.get()
    assert "waiting" in text(carol.get(answer.headers["Location"]))
    ingestion.freeze_upload(upload.pk)
    page = text(carol.get(answer.headers["Location"]))
    assert "became version 1" in page
    version = Dataset.objects.get().versions.get()
    opened = carol.post("/contracts/new/", new_contract(version=str(version.uid)))
    made = Contract.objects.get()
    assert (opened.status_code, opened.headers["Location"]) == (303, f"/contracts/{made.uid}/people/")
    assert (made.rho_total, made.state) == (units("1"), "open")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unit": ""}, "This field is required"),
        ({"unit": "person"}, "Name the column"),
        ({"unit": "person", "person_column": "pid", "k": "0"}, "most records one person may have"),
        ({"schema": "{"}, "not JSON"),
        ({"schema": '{"columns": [{"name": "age", "kind": "integer", "low": 9, "high": 1}]}'}, "columns[0]"),
        ({"table": "1 people"}, "letters, digits and underscores"),
        ({"file": ""}, "This field is required"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_a_bad_upload_keeps_nothing(carol: Client, changes: dict[str, object], told: str) -> None:
    answer = carol.post("/datasets/new/", upload_form(**changes))
    assert answer.status_code == 400
    assert told in text(answer)
    assert not Upload.objects.exists()
    assert not Dataset.objects.exists()


def test_a_file_that_is_no_table_is_refused_with_its_reason(carol: Client) -> None:
    picture = SimpleUploadedFile("people.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    address = carol.post("/datasets/new/", upload_form(file=picture)).headers["Location"]
    upload = Upload.objects.get()
    ingestion.freeze_upload(upload.pk)
    page = carol.get(address)
    upload.refresh_from_db()
    assert upload.state == "refused"
    assert upload.detail
    assert upload.detail[:30] in html(page)
    assert not Path(path_of(upload)).exists()


def test_the_preview_says_in_words_what_a_total_buys(carol: Client, people: Cast) -> None:
    version = make_version(people.carol)
    page = text(carol.post("/contracts/new/", new_contract(version=str(version.uid), do="preview")))
    assert "about 300 counts at ±25, 95 %" in page
    assert "ε 7.77 at δ 10⁻⁶" in page
    assert not Contract.objects.exists()


def test_a_total_may_be_given_as_epsilon(carol: Client, people: Cast) -> None:
    version = make_version(people.carol)
    carol.post("/contracts/new/", new_contract(version=str(version.uid), rho_total="", epsilon="7.77"))
    assert (units("0.99") or 0) < Contract.objects.get().rho_total < (units("1.01") or 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rho_total": ""}, "Give the total in ρ or as ε"),
        ({"epsilon": "1"}, "not both"),
        ({"rho_total": "-1"}, "amount of rho"),
        ({"rho_total": "NaN"}, "decimal number"),
        ({"rho_total": "1e309"}, "decimal number"),
        ({"rho_total": "0"}, "above 0"),
        ({"xi": "1"}, "from 0 to"),
        ({"kappa": "-0.1"}, "from 0 to"),
        ({"delta": "0"}, "from 0"),
        ({"delta": "2", "rho_total": "", "epsilon": "1"}, "between 0 and 1"),
        ({"ends_on": "2001-01-01"}, "later day"),
        ({"ends_on": "soon"}, "valid date"),
        ({"name": " "}, "required"),
    ],
)
def test_settings_out_of_range_open_nothing(carol: Client, people: Cast, changes: dict[str, str], told: str) -> None:
    version = make_version(people.carol)
    answer = carol.post("/contracts/new/", new_contract(version=str(version.uid)) | changes)
    assert answer.status_code == 400
    assert told in text(answer)
    assert not Contract.objects.exists()


def test_carol_adds_sets_and_removes_people(carol: Client, contract: Contract) -> None:
    eve = person("eve", Role.ANALYST)
    address = f"/contracts/{contract.uid}/people/"
    added = carol.post(address, {"do": "add", "username": "EVE", "role": "analyst", "allotment": "0.1"})
    assert added.status_code == 303, text(added)
    budget = AnalystBudget.objects.get(analyst=eve)
    assert budget.allotment == units("0.1")
    carol.post(address, {"do": "allot", "username": "eve", "rho": "", "reason": "Trusted with the rest"})
    budget.refresh_from_db()
    assert budget.allotment is None
    assert carol.post(address, {"do": "remove", "username": "eve", "role": "analyst"}).status_code == 303
    assert not Membership.objects.get(user=eve).active
    kinds = AuditEvent.objects.filter(chain=str(contract.uid)).order_by("-seq").values_list("kind", flat=True)[:4]
    assert list(kinds) == ["member.removed", "allotment.set", "allotment.set", "member.added"]


@pytest.mark.parametrize(
    ("form", "status", "told"),
    [
        ({"do": "add", "username": "nobody", "role": "analyst"}, 400, "Nobody here has this user name"),
        ({"do": "add", "username": "alice", "role": "analyst"}, 409, "already"),
        ({"do": "add", "username": "alice", "role": "auditor"}, 400, "does not hold the role"),
        ({"do": "add", "username": "carol", "role": "analyst"}, 400, ""),
        ({"do": "add", "username": "dora", "role": "king"}, 400, "valid choice"),
        ({"do": "allot", "username": "bob", "rho": "-1", "reason": "x"}, 400, "amount of rho"),
        ({"do": "allot", "username": "bob", "rho": "0.2", "reason": ""}, 400, "required"),
        ({"do": "remove", "username": "carol", "role": "curator"}, 409, "at least one curator"),
    ],
)
def test_what_cannot_be_done_with_people_is_told(
    carol: Client, contract: Contract, form: dict[str, str], status: int, told: str
) -> None:
    before = AuditEvent.objects.count()
    answer = carol.post(f"/contracts/{contract.uid}/people/", form)
    assert answer.status_code == status
    assert told in text(answer)
    assert AuditEvent.objects.count() == before


def test_a_request_is_granted_in_part_once(carol: Client, contract: Contract, people: Cast) -> None:
    asked = budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason="Spring report")
    address = f"/contracts/{contract.uid}/requests/{asked.uid}/"
    for bad, status in (({"granted": "0.2"}, 400), ({"granted": "0"}, 400), ({"granted": ""}, 400), ({"granted": "x"}, 400)):
        answer = carol.post(address, {"do": "approve", "note": "kept", **bad})
        assert answer.status_code == status, bad
        assert "kept" in html(answer)
    assert carol.post(address, {"do": "reject", "note": " "}).status_code == 400
    assert carol.post(address, {"do": "approve", "granted": "0.04", "note": "Start with this"}).status_code == 303
    assert AnalystBudget.objects.get(analyst=people.bob).allotment == units("0.09")
    again = carol.post(address, {"do": "approve", "granted": "0.04", "note": ""})
    assert again.status_code == 409
    assert "already" in text(again)
    assert AnalystBudget.objects.get(analyst=people.bob).allotment == units("0.09")


def test_nobody_approves_their_own_request(contract: Contract, people: Cast) -> None:
    people.bob.roles = ["analyst", "curator"]
    people.bob.save()
    contracts.add_member(curator=people.carol, contract=contract, user=people.bob, role=Role.CURATOR)
    asked = budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason="For me")
    bob = browser_of(people.bob)
    assert "another curator decides it" in text(bob.get(f"/contracts/{contract.uid}/requests/"))
    answer = bob.post(f"/contracts/{contract.uid}/requests/{asked.uid}/", {"do": "approve", "granted": "0.1", "note": ""})
    assert answer.status_code == 409
    assert BudgetRequest.objects.get().state == "open"


def test_an_analyst_asks_for_more_and_for_nothing_wrong(contract: Contract, people: Cast) -> None:
    bob = browser_of(people.bob)
    address = f"/contracts/{contract.uid}/budget/"
    for amount, reason in (("0", "x"), ("-1", "x"), ("Infinity", "x"), ("0.1", " ")):
        assert bob.post(address, {"amount": amount, "reason": reason}).status_code == 400, amount
    assert bob.post(address, {"amount": "0.1", "reason": "Spring report"}).status_code == 303
    assert bob.post(address, {"amount": "0.2", "reason": "More"}).status_code == 409
    assert BudgetRequest.objects.get().amount == units("0.1")


def test_the_total_goes_up_with_a_reason_and_never_down(carol: Client, contract: Contract) -> None:
    address = f"/contracts/{contract.uid}/raises/"
    assert carol.post(address, {"do": "raise", "raise-rho_total": "0.5", "raise-reason": "Less"}).status_code == 400
    assert carol.post(address, {"do": "raise", "raise-rho_total": "2", "raise-reason": ""}).status_code == 400
    assert carol.post(address, {"do": "raise", "raise-rho_total": "2", "raise-reason": "A second wave"}).status_code == 303
    contract.refresh_from_db()
    assert contract.rho_total == units("2")


def test_with_two_curators_the_other_one_decides_a_raise(carol: Client, contract: Contract, people: Cast) -> None:
    hal = person("hal", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=hal, role=Role.CURATOR)
    address = f"/contracts/{contract.uid}/raises/"
    carol.post(address, {"do": "raise", "raise-rho_total": "2", "raise-reason": "A second wave"})
    assert "Another curator decides it" in text(carol.get(f"/contracts/{contract.uid}/control/"))
    assert "Decide" in text(browser_of(hal).get(f"/contracts/{contract.uid}/control/"))
    page = html(carol.get(address))
    uid = re.search(r'name="raise" value="([^"]+)"', page)
    assert uid
    assert carol.post(address, {"do": "approve", "raise": uid[1]}).status_code == 409
    assert browser_of(hal).post(address, {"do": "approve", "raise": uid[1]}).status_code == 303
    contract.refresh_from_db()
    assert contract.rho_total == units("2")


def test_a_contract_is_frozen_opened_and_closed_with_reasons(carol: Client, contract: Contract) -> None:
    address = f"/contracts/{contract.uid}/control/"
    for step, state in (("freeze", "frozen"), ("reopen", "open"), ("close", "closed")):
        assert carol.post(address, {"do": step, f"{step}-reason": ""}).status_code == 400
        assert carol.post(address, {"do": step, f"{step}-reason": "Because"}).status_code == 303
        contract.refresh_from_db()
        assert contract.state == state
    late = carol.post(address, {"do": "reopen", "reopen-reason": "Again"})
    assert late.status_code == 409
    assert "cannot be done now" in text(late)
