"""The journeys of the pages, by programs: through HTTP alone, against the site as it listens, with a real worker."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import User
from curator.mechanism import rho
from curator.models import AuditEvent, Contract, LedgerEntry
from tests.api.program import Program
from tests.cast import ROWS, Cast, cast, make_contract
from tests.experiments.test_experiments import WORKLOAD
from tests.fixtures.worker import Worker

PASSWORD = "correct horse battery"
EVERYBODY = {"sql": "SELECT COUNT(*) FROM people"}
ROWS_OF_A_FILE = "".join(
    f"{place};{place % 90},5;{('', 'Y', 'N')[place % 3]};{('f', 'female', 'M')[place % 3]};\n" for place in range(60)
)
REPEATED = "\ufeffid;income;member;sex;income\n" + ROWS_OF_A_FILE
MENDED = "\ufeffid;income;member;sex;note\n" + ROWS_OF_A_FILE
COLUMNS: dict[int, dict[str, Any]] = {
    1: {"kind": "decimal", "low": 0, "high": 100, "step": "0.5"},
    2: {"kind": "boolean", "true_texts": ["Y"], "false_texts": ["N"], "missing": True},
    3: {"kind": "category", "values": ["F", "M"], "spellings": {"F": ["female", "f"]}},
}


@pytest.fixture(autouse=True)
def _patient(settings: Settings) -> None:
    """However long a busy machine takes, whoever waits for it here may look again as often as they do."""
    settings.API_RATE = settings.API_ANONYMOUS_RATE = "1000000/minute"


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS, allotments={"alice": "0.5", "bob": "0.05"})


def by_session(user: User, site: str) -> Program:
    """Somebody signs in by their password."""
    user.set_password(PASSWORD)
    user.save()
    person = Program(site)
    person.sign_in(user.username, PASSWORD)
    return person


def program_of(user: User, site: str) -> Program:
    """Somebody signs in, makes a key, and leaves it to a program."""
    return by_session(user, site).with_key()


def answered(program: Program, contract: str, body: dict[str, Any], *, once: str) -> Any:
    """Ask, and wait for the answer."""
    asked = program.post(f"contracts/{contract}/queries/", body, once=once)
    return program.once_done(f"queries/{asked['id']}/", "waiting")


def test_nina_joins_by_an_invitation_asks_and_pays_only_the_difference(
    site: str, worker: Worker, people: Cast, contract: Contract
) -> None:
    carol = by_session(people.carol, site)
    link = carol.post(f"contracts/{contract.uid}/invitations/", {"role": "analyst", "allotment": "0.1"})["link"]
    newcomer, secret = Program(site), link.rstrip("/").rpartition("/")[2]
    offer = newcomer.post("invitations/look/", {"secret": secret})
    assert (offer["contract"], offer["allotment"], offer["invited_by"]) == ("The people of 2020", "0.1", "carol")
    joined = newcomer.post("invitations/join/", {"secret": secret, "username": "nina", "password": PASSWORD})
    newcomer.csrf = joined["csrf"]
    nina, inside = newcomer.with_key(), joined["contract"]

    wide, narrow = ({**EVERYBODY, "accuracy": {"within": bound}} for bound in (20, 10))
    first = nina.post(f"contracts/{inside}/quote/", wide)
    assert not LedgerEntry.objects.exists()
    answer = answered(nina, inside, wide, once="plan-1")
    assert (answer["state"], answer["decision"]["charge"]) == ("answered", first["charge"])
    second = nina.post(f"contracts/{inside}/quote/", narrow)
    assert second["rho_hist"] == first["charge"]
    tightened = answered(nina, inside, narrow, once="plan-2")
    paid = [rho.parse(each["decision"]["charge"], field="charge") for each in (answer, tightened)]
    assert sum(paid) == rho.parse(second["rho_min"], field="rho_min") == rho.parse("0.019207294104", field="rho")
    assert nina.post(f"contracts/{inside}/queries/", narrow, once="plan-2")["id"] == tightened["id"]
    assert nina.get(f"contracts/{inside}/")["budget"]["mine"] == "0.019207294104"
    assert newcomer.refused("invitations/look/", {"secret": secret}) == (404, "not_found")


def test_carol_takes_a_messy_file_to_a_first_answer(site: str, worker: Worker, people: Cast) -> None:
    carol = program_of(people.carol, site)
    dataset = carol.post("datasets/", {"name": "Panel of 2026"})["id"]
    sent = carol.send(f"datasets/{dataset}/uploads/", "panel.csv", REPEATED)
    refused = carol.once_done(f"uploads/{sent['id']}/", "parsing")
    assert (refused["state"], '"income" stands at positions 2, 5' in refused["detail"]) == ("refused", True)

    path = f"uploads/{carol.send(f'datasets/{dataset}/uploads/', 'panel.csv', MENDED)['id']}/"
    described = carol.once_done(path, "parsing")
    assert (described["state"], described["columns"], described["report"]["rows"]) == ("described", 5, 60)
    assert described["report"]["format"]["delimiter"] == ";"
    assert [each["name"] for each in carol.get(f"{path}columns/")["results"]] == ["id", "income", "member", "sex", "note"]
    for place, column in COLUMNS.items():
        status, told = carol.call("PUT", f"{path}columns/{place}/", column)
        assert status == 200, told
    assert carol.refused(f"{path}freeze/", {}) == (400, "bad_privacy_unit")
    carol.post(f"{path}freeze/", {"privacy_unit": "record"})
    frozen = carol.once_done(path, "waiting")
    assert (frozen["state"], frozen["declared"]) == ("frozen", 3)

    settings = {"version": frozen["version"], "name": "Panel, spring", "rho_total": "1"}
    assert carol.post("contracts/preview/", settings)["buys"].startswith("about")
    draft = carol.post("contracts/", {**settings, "draft": True})
    inside = f"contracts/{draft['id']}/"
    assert (draft["state"], carol.post(f"{inside}state/", {"state": "open", "stands": True})["state"]) == ("draft", "open")
    carol.post(f"{inside}members/", {"username": "alice", "role": "analyst", "allotment": "0.2"})
    alice = program_of(people.alice, site)
    women = {"where": {"column": "sex", "equals": "F"}, "accuracy": {"within": 10}}
    answer = answered(alice, draft["id"], women, once="first")
    assert (answer["state"], answer["answers"][0]["bound"]) == ("answered", 10)


def test_bob_asks_for_more_is_granted_less_and_reads_so(site: str, worker: Worker, people: Cast, contract: Contract) -> None:
    bob, carol, inside = program_of(people.bob, site), program_of(people.carol, site), f"contracts/{contract.uid}"
    bob.post("notices/seen/", {})
    asked = bob.post(f"{inside}/budget-requests/", {"amount": "0.1", "reason": "Tables for the spring report"})
    assert carol.get("notices/")["results"][0]["leads"] == {"to": "requests", "id": str(contract.uid)}
    (waiting,) = carol.get(f"{inside}/budget-requests/inbox/")["open"]
    assert (waiting["request"]["id"], waiting["effect"]["allotment_after"]) == (asked["id"], "0.15")
    assert bob.refused(f"budget-requests/{asked['id']}/approve/", {}) == (404, "not_found")
    carol.post(f"budget-requests/{asked['id']}/approve/", {"granted": "0.04", "note": "Start with this."})
    (decided,) = bob.get(f"{inside}/budget-requests/")
    assert (decided["state"], decided["granted"], decided["note"], decided["decided_by"]) == (
        "approved", "0.04", "Start with this.", "carol",
    )  # fmt: skip
    notice = bob.get("notices/")["results"][0]
    assert (notice["words"], notice["seen_at"]) == ("Your request for more budget was approved", None)
    assert bob.get(f"{inside}/")["budget"]["allotment"] == "0.09"
    assert answered(bob, str(contract.uid), {**EVERYBODY, "accuracy": {"rho": "0.08"}}, once="more")["state"] == "answered"


def test_dora_has_the_record_verified_and_verifies_it_herself_outside(
    site: str, worker: Worker, people: Cast, contract: Contract, tmp_path: Path
) -> None:
    alice, dora = program_of(people.alice, site), program_of(people.dora, site)
    answered(alice, str(contract.uid), {**EVERYBODY, "accuracy": {"within": 20}}, once="before")
    made = dora.post("audit/verify/", {})
    found = dora.once_done(f"audit/verifications/{made['id']}/", "waiting")
    assert (found["state"], found["ok"], found["first_difference"]) == ("done", True, "")
    assert AuditEvent.objects.filter(kind="record.verified", actor="dora").count() == 2

    names = {"verify_record.py": "verifier", "record.ndjson": "export", "receipts.jsonl": "anchor"}
    taken = {name: tmp_path / name for name in names}
    for name, call in names.items():
        taken[name].write_bytes(dora.get(f"audit/{call}/"))
    words = [sys.executable, "-I", "-S", *map(str, (taken["verify_record.py"], taken["record.ndjson"]))]
    words += ["--anchor", str(taken["receipts.jsonl"])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith("The record is consistent: 2 chains, ")

    forged = taken["record.ndjson"].read_bytes().replace(b'"actor":"carol"', b'"actor":"craol"', 1)
    taken["record.ndjson"].write_bytes(forged)
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, "its hash does not follow from its bytes" in done.stdout) == (1, True)
    assert alice.call("GET", "audit/export/")[0] == 404


def test_carol_replays_a_workload_and_the_transcript(site: str, worker: Worker, people: Cast, contract: Contract) -> None:
    carol, inside = program_of(people.carol, site), f"contracts/{contract.uid}/experiments/"
    status, made = carol.call("POST", f"{inside}?rho_total=1&kappa=0", WORKLOAD.encode(), kind="application/x-ndjson")
    assert status == 202, made
    assert carol.once_done(f"experiments/{made['id']}/", "waiting")["state"] == "done"
    result = carol.get(f"experiments/{made['id']}/result/")
    assert (result["settings"]["kappa"], result["saved_against_partition"]) == ("0", "0.3")
    live = carol.post(inside, {"split": "equal"})
    assert carol.once_done(f"experiments/{live['id']}/", "waiting")["done"] == 0
    assert json.dumps(carol.get(inside)["results"]).count('"done"') == 2
