"""Dora's pages: filters that stay in the address, one event whole, verifying; and signing in and out, which is recorded too."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import User
from curator.mechanism import rho
from curator.models import AnalystBudget, AuditEvent, Contract, Verification
from curator.services import audit, budget_requests, contracts, denials
from curator.tasks import verify_record
from tests.cast import units
from tests.record.tampering import Owner
from tests.web.scene import Scene, browser_of, make_scene
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

PASSWORD = "correct horse battery"


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


def kinds_shown(page: str) -> list[str]:
    return re.findall(r'<a title="([\w.]+)" href="/audit/[^"]+/\d+/">', page)


def test_filters_narrow_the_log_and_stay_in_the_address(scene: Scene) -> None:
    dora = browser_of(scene.people.dora)
    today = datetime.now(UTC).date().isoformat()
    chain = str(scene.contract.uid)
    page = html(dora.get("/audit/", {"kind": "query.decided", "actor": "bob", "chain": chain, "since": today, "until": today}))
    assert kinds_shown(page) == ["query.decided"] * 2
    assert f'value="{today}"' in page
    assert '<option value="query.decided" selected>' in page or "<option selected>query.decided" in page
    assert not kinds_shown(html(dora.get("/audit/", {"until": "2001-01-01"})))
    assert "No event fits" in text(dora.get("/audit/", {"actor": "zoe"}))
    bad = dora.get("/audit/", {"since": "yesterday"})
    assert bad.status_code == 400
    assert "written YYYY-MM-DD" in text(bad)


def test_a_long_log_is_read_page_by_page_without_gaps(scene: Scene) -> None:
    dora = browser_of(scene.people.dora)
    for _ in range(60):
        audit.append_alone(audit.SITE, audit.Event("sign_in", "dora", {}))
    seen: list[str] = []
    address = "/audit/?chain=site"
    while address:
        page = html(dora.get(address))
        seen += re.findall(r'href="/audit/site/(\d+)/"', page)
        older = re.search(r'href="([^"]+)" rel="next"', page)
        address = older[1].replace("&amp;", "&") if older else ""
    numbers = [int(seq) for seq in seen]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == AuditEvent.objects.filter(chain="site").count() >= 60


def test_an_event_shows_operands_and_the_bytes_that_were_hashed(scene: Scene) -> None:
    decided = AuditEvent.objects.filter(chain=str(scene.contract.uid), kind="query.decided").earliest("seq")
    page = html(browser_of(scene.people.dora).get(f"/audit/{decided.chain}/{decided.seq}/"))
    for shown in (decided.head, decided.previous, "0.003073167057", f"/queries/{scene.first.uid}/", "allotment"):
        assert shown in page


def verified(client: Client, chain: str) -> str:
    """Ask for a verification, see it wait, let the worker's own function make it, and read the page."""
    sent = client.post("/audit/verify/", {"chain": chain})
    assert sent.status_code == 302
    address = sent.headers["Location"]
    assert "The worker is verifying" in text(client.get(address))
    verify_record(Verification.objects.latest("id").pk)
    assert "hx-get" not in html(client.get(f"{address}status/"))
    return text(client.get(address))


def test_verifying_in_place_finds_a_changed_row(scene: Scene, owner_connection: Owner) -> None:
    dora = browser_of(scene.people.dora)
    sound = verified(dora, "")
    assert "Everything agrees" in sound
    assert "charges in the ledger" in sound
    assert not [name for name in ("ledgerentry", "querybin") if name in sound], "named as people name it"
    owner_connection.execute("ALTER TABLE curator_ledgerentry DISABLE TRIGGER USER")
    owner_connection.execute("UPDATE curator_ledgerentry SET load = load + 1, balance_after = balance_after + 1 WHERE id = 1")
    page = verified(dora, str(scene.contract.uid))
    assert "There is a difference" in page
    assert "ledger" in page
    events = AuditEvent.objects.filter(kind="record.verified", actor="dora").order_by("id")
    assert [event.chain for event in events] == ["site", str(scene.contract.uid), str(scene.contract.uid)]


def test_a_verification_is_its_owners_as_long_as_they_may_read(scene: Scene) -> None:
    dora = browser_of(scene.people.dora)
    address = dora.post("/audit/verify/", {"chain": str(scene.contract.uid)}).headers["Location"]
    assert browser_of(scene.people.carol).get(address).status_code == 404
    assert dora.post("/audit/verify/", {"chain": str(uuid4())}).status_code == 404
    for _ in range(4):
        assert dora.post("/audit/verify/", {"chain": "site"}).status_code == 302
    assert dora.post("/audit/verify/", {"chain": "site"}).status_code == 429
    contracts.remove_member(
        curator=scene.people.carol, contract=scene.contract, user=scene.people.dora, role="auditor", reason="moved on"
    )
    assert dora.get(address).status_code == 404


def test_an_export_has_the_bytes_and_is_consistent_without_the_product(scene: Scene, tmp_path: Path) -> None:
    dora = browser_of(scene.people.dora)
    paths = {name: tmp_path / name for name in ("record.ndjson", "receipts.jsonl", "verify_record.py")}
    for name, path in paths.items():
        answer = dora.get(f"/audit/{name}")
        assert f'filename="{name}"' in answer.headers["Content-Disposition"]
        path.write_bytes(b"".join(answer) if answer.streaming else answer.content)
    bodies = [bytes(event.body) for event in AuditEvent.objects.order_by("chain", "seq")]
    assert all(body in paths["record.ndjson"].read_bytes() for body in bodies)
    words = [sys.executable, "-I", "-S", str(paths["verify_record.py"]), str(paths["record.ndjson"])]
    done = subprocess.run([*words, "--anchor", str(paths["receipts.jsonl"])], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:24]) == (0, "The record is consistent"), done.stdout
    one = b"".join(dora.get("/audit/record.ndjson", {"chain": str(scene.contract.uid)}))
    assert b'"chain":"site"' not in one
    assert dora.get("/audit/record.ndjson", {"chain": str(uuid4())}).status_code == 404


def test_an_event_says_on_whose_approval_and_what_the_balance_was(scene: Scene) -> None:
    dora = browser_of(scene.people.dora)
    decided = AuditEvent.objects.filter(chain=str(scene.contract.uid), kind="query.decided").earliest("seq")
    page = text(dora.get(f"/audit/{decided.chain}/{decided.seq}/"))
    for shown in ("Approved by carol, allotment of 0.200 ρ", "Charge 0.00307 ρ", "Balance before 0", "Balance after 0.00307"):
        assert shown in page, page
    budget_requests.approve(curator=scene.people.carol, request=scene.request, granted=units("0.01") or 0, note="a little")
    given = AuditEvent.objects.filter(kind="allotment.set").latest("seq")
    page = text(dora.get(f"/audit/{given.chain}/{given.seq}/"))
    assert "Why a little" in page
    assert "Approved by carol, an approved request ( #" in page


def test_a_balance_is_explained_event_by_event(scene: Scene) -> None:
    dora = browser_of(scene.people.dora)
    contract = Contract.objects.get(pk=scene.contract.pk)
    whole = text(dora.get(f"/audit/balance/{contract.uid}/"))
    assert f"The events lead exactly to the balance shown: {rho.text(contract.spent_bound)} spent on answers" in whole
    mine = AnalystBudget.objects.get(contract=contract, analyst__username="alice")
    own = text(dora.get(f"/audit/balance/{contract.uid}/", {"analyst": "alice"}))
    assert f"balance shown: {rho.text(mine.spent)} spent on answers" in own
    assert "Allotment set" in own
    assert dora.get(f"/audit/balance/{contract.uid}/", {"analyst": "zoe"}).status_code == 404
    assert browser_of(scene.people.alice).get(f"/audit/balance/{contract.uid}/").status_code == 404


def test_signing_in_and_out_is_on_the_record(scene: Scene) -> None:
    alice = User.objects.get(username="alice")
    alice.set_password(PASSWORD)
    alice.save()
    client = Client()
    wrong = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    nobody = client.post("/sign-in/", {"username": "hunter2", "password": "wrong"})
    assert (wrong.status_code, nobody.status_code) == (400, 400)
    assert text(wrong).replace("alice", "") == text(nobody).replace("hunter2", "")
    answer = client.post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": f"/contracts/{scene.contract.uid}/"})
    assert answer.headers["Location"] == f"/contracts/{scene.contract.uid}/"
    denials.tell(datetime.now(UTC) + timedelta(minutes=1))
    told = AuditEvent.objects.filter(chain="site", kind__startswith="sign_in").order_by("seq")
    assert [(event.kind, event.actor) for event in told] == [("sign_in", "alice"), ("sign_in.failed", "")]
    failed = json.loads(bytes(told[1].body))["data"]
    assert {each["who"]: each["count"] for each in failed["people"]} == {"alice": 1, "": 1}
    assert "hunter2" not in "".join(bytes(event.body).decode() for event in told)
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/").status_code == 302


def test_signing_in_never_leads_off_the_site(scene: Scene) -> None:
    alice = User.objects.get(username="alice")
    alice.set_password(PASSWORD)
    alice.save()
    answer = Client().post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": "https://example.org/"})
    assert answer.headers["Location"] == "/"


def test_guessing_ends_in_a_page_that_says_so(scene: Scene) -> None:
    client = Client()
    answers = [client.post("/sign-in/", {"username": "alice", "password": f"guess {number}"}) for number in range(12)]
    assert answers[-1].status_code == 429
    assert "Too many attempts" in text(answers[-1])


def test_a_password_is_changed_with_the_old_one_only(scene: Scene) -> None:
    alice = User.objects.get(username="alice")
    alice.set_password(PASSWORD)
    alice.save()
    client = browser_of(alice)
    new = "staple of horses"
    bad = client.post("/password/", {"old_password": "x", "new_password1": new, "new_password2": new})
    assert bad.status_code == 400
    assert client.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new}).status_code == 302
    assert AuditEvent.objects.filter(kind="password.changed", actor="alice").exists()
