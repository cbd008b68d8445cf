"""Requests for budget, contracts and the audit record over JSON."""

import json
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Role
from curator.mechanism import chain
from curator.models import AnalystBudget, Contract, Upload, Verification
from curator.services.verification import standalone
from curator.tasks import verify_record
from tests.api.conftest import Caller
from tests.cast import Cast, make_contract, make_version

SMALL = {
    "columns": [
        {"name": "age", "kind": "integer", "low": 0, "high": 99},
        {"name": "sex", "kind": "category", "values": ["F", "M"], "out_of_domain": "other"},
    ]
}


def test_bob_asks_for_more_and_carol_grants_less(people: Cast, bob: Caller, carol: Caller) -> None:
    contract = make_contract(people, allotments={"bob": "0.1"})
    status, asked = bob.post(f"contracts/{contract.uid}/budget-requests/", {"amount": "0.2", "reason": "the spring report"})
    assert (status, asked["state"], asked["amount"]) == (201, "open", "0.2")
    assert bob.post(f"budget-requests/{asked['id']}/approve/")[0] == 404
    status, decided = carol.post(f"budget-requests/{asked['id']}/approve/", {"granted": "0.05", "note": "start with this"})
    assert (status, decided["state"], decided["granted"]) == (200, "approved", "0.05")
    assert AnalystBudget.objects.get(contract=contract, analyst=people.bob).allotment == 150_000_000_000
    assert carol.post(f"budget-requests/{asked['id']}/approve/")[0] == 409
    assert bob.get(f"contracts/{contract.uid}/budget-requests/")[0]["note"] == "start with this"


def test_carol_opens_a_contract_and_gives_places(people: Cast, carol: Caller, alice: Caller) -> None:
    version = make_version(people.carol)
    body = {"version": str(version.uid), "name": "Survey", "rho_total": "0.5", "xi": "0.1", "query_cap": None, "stands": True}
    assert alice.post("contracts/", body)[0] == 404
    status, opened = carol.post("contracts/", body)
    assert status == 201, opened
    path = f"contracts/{opened['id']}/"
    assert carol.post(f"{path}members/", {"username": "alice", "role": Role.ANALYST, "allotment": "0.2"})[0] == 201
    budget = alice.get(path)["budget"]
    assert (budget["total"], budget["answers"], budget["allotment"]) == ("0.5", "0.45", "0.2")
    assert carol.post(f"{path}allotments/", {"username": "alice", "rho": "0", "reason": "paused"})[0] == 200
    assert alice.get(path)["budget"]["available"] == "0"


def test_bad_settings_are_refused_with_their_field(people: Cast, carol: Caller) -> None:
    version = make_version(people.carol)
    for member, value in (
        ("rho_total", "-1"),
        ("rho_total", "NaN"),
        ("xi", "1"),
        ("kappa", "-0.1"),
        ("ends_on", "soon"),
        ("colour", "red"),
    ):
        body = {"version": str(version.uid), "name": "Survey", "rho_total": "0.5", member: value}
        status, error = carol.post("contracts/", body)
        assert (status, error["field"]) == (400, member)
    assert not Contract.objects.exists()


def test_dora_reads_bytes_that_hash_to_the_head(people: Cast, contract: Contract, dora: Caller, alice: Caller) -> None:
    events = dora.get(f"audit/?chain={contract.uid}")["results"]
    rows = [(event["seq"], event["body"].encode(), event["previous"], event["head"]) for event in events]
    assert rows and chain.first_break(rows) is None
    assert json.loads(events[0]["body"])["kind"] == events[0]["kind"]
    heads = {head["chain"]: head["head"] for head in dora.get("audit/head/")}
    assert heads[str(contract.uid)] == events[-1]["head"]
    assert alice.call("GET", f"audit/?chain={contract.uid}")[0] == 404


def test_a_filter_that_no_column_holds_is_refused(contract: Contract, dora: Caller) -> None:
    for query in (
        f"chain={contract.uid}&kind=%00",
        f"chain={contract.uid}&actor=%00",
        "chain=%00",
        f"chain={contract.uid}&after=x",
    ):
        assert dora.call("GET", f"audit/?{query}")[0] in (400, 404)


def test_dora_verifies_a_contract_and_nobody_else_does(contract: Contract, dora: Caller, alice: Caller) -> None:
    status, asked = dora.post("audit/verify/", {"contract": str(contract.uid)})
    assert (status, asked["state"], asked["ok"]) == (202, "waiting", None)
    assert alice.call("GET", f"audit/verifications/{asked['id']}/")[0] == 404
    verify_record(Verification.objects.get(uid=asked["id"]).pk)
    report = dora.get(f"audit/verifications/{asked['id']}/")
    assert (report["state"], report["ok"], report["first_difference"]) == ("done", True, "")
    assert report["done"] == report["total"] > 0
    assert dora.get(f"audit/?chain={contract.uid}&kind=record.verified")["results"][-1]["actor"] == "dora"
    assert alice.post("audit/verify/", {"contract": str(contract.uid)})[0] == 404


def test_dora_takes_receipts_a_record_and_its_verifier_home(contract: Contract, dora: Caller, alice: Caller) -> None:
    chain = str(contract.uid)
    receipt = next(receipt for receipt in dora.get("audit/receipts/") if receipt["chain"] == chain)
    lines = b"".join(dora.client.get(f"/api/v1/audit/export/?chain={chain}")).splitlines(keepends=True)
    assert len(lines) == receipt["seq"] + 1
    assert json.loads(lines[-1])["head"] == receipt["head"]
    counts = standalone.verify([(f"line {n}", line) for n, line in enumerate(lines)], {chain: [receipt]})
    assert (counts["events"], counts["anchors"]) == (receipt["seq"], 1)
    assert dora.client.get("/api/v1/audit/verifier/").content == Path(standalone.__file__).read_bytes()
    assert alice.client.get(f"/api/v1/audit/export/?chain={chain}").status_code == 404


def test_a_balance_and_days_over_json(contract: Contract, dora: Caller, alice: Caller) -> None:
    balance = dora.get(f"audit/balance/?contract={contract.uid}&analyst=alice")
    assert (balance["agrees"], balance["next"], balance["shown"]["spent"]) == (True, None, "0")
    assert [line["account"] for line in balance["results"]] == ["limit"]
    assert dora.call("GET", f"audit/balance/?contract={contract.uid}&analyst=zoe")[0] == 404
    assert alice.call("GET", f"audit/balance/?contract={contract.uid}")[0] == 404
    assert dora.get(f"audit/?chain={contract.uid}&until=2001-01-01")["results"] == []
    assert dora.call("GET", f"audit/?chain={contract.uid}&since=yesterday")[1]["code"] == "bad_day"


def people_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("p.csv", b"age,sex\n30,F\n41,M\n")


def test_carol_sends_a_file_and_the_worker_freezes_it(people: Cast, carol: Caller, alice: Caller) -> None:
    from curator.services.ingestion import freeze_upload

    status, made = carol.post("datasets/", {"name": "people"})
    assert status == 201
    path = f"/api/v1/datasets/{made['id']}/uploads/"
    form = {"schema": json.dumps(SMALL), "privacy_unit": "record"}
    assert alice.client.post(path, form | {"file": people_file()}).status_code == 404
    assert carol.client.post(path, form | {"file": people_file(), "privacy_unit": ""}).status_code == 400
    sent = carol.client.post(path, form | {"file": people_file()})
    assert sent.status_code == 202, sent.content
    freeze_upload(Upload.objects.get(uid=sent.json()["id"]).pk)
    assert [version["number"] for version in carol.get(f"datasets/{made['id']}/")["versions"]] == [1]


def test_the_openapi_document_is_made_without_a_warning(capsys: object) -> None:
    from io import StringIO

    from django.core.management import call_command

    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())


def test_an_analyst_reads_how_their_allotment_changed(people: Cast, contract: Contract, carol: Caller, bob: Caller) -> None:
    path = f"contracts/{contract.uid}/allotments/"
    assert carol.post(path, {"username": "bob", "rho": "0.02", "reason": "Others need it more"})[0] == 200
    latest = bob.get(path)[0]
    assert (latest["before"], latest["after"], latest["why"], latest["by"]) == (None, "0.02", "Others need it more", "carol")
    assert carol.call("GET", path)[0] == 404
