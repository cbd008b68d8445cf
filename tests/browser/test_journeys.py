"""Journeys in a real browser against the real site, worker and database."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from accounts.models import User
from curator.models import AuditEvent, BudgetRequest, Contract, LedgerEntry, Query
from tests.browser.people import let_in, no_complaints
from tests.cast import ROWS, cast, make_contract, units
from tests.fixtures.browser import Window
from tests.fixtures.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

PASSWORD = "correct horse battery"


@pytest.fixture
def contract(db: None) -> Contract:
    """Carol's contract, in which Alice and Bob may ask."""
    return make_contract(cast(), rows=ROWS, allotments={"alice": "0.5", "bob": "0.05"})


def sign_in(page: "Page", user: User) -> None:
    """Through the page, with a password."""
    user.set_password(PASSWORD)
    user.save()
    page.goto("/")
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def person(name: str) -> User:
    return User.objects.get(username=name)


def test_alice_asks_watches_and_reads(page: "Page", worker: Worker, contract: Contract) -> None:
    with no_complaints(page):
        sign_in(page, person("alice"))
        page.get_by_role("link", name="Ask", exact=True).first.click()
        page.get_by_role("button", name="Add condition").click()
        page.get_by_label("Test of condition 1").wait_for()
        page.wait_for_load_state("networkidle")  # quicker than any hand: a choice made while the row is being put in goes unheard
        page.get_by_label("Test of condition 1").select_option("at_least")
        page.get_by_label("Value of condition 1").fill("40")
        page.get_by_label("How much, in people").fill("10")
        quote = page.locator("#quote")
        expect(quote).to_contain_text("0.0193 ρ")
        expect(page.get_by_role("button", name="Ask, for 0.0193 ρ")).to_be_visible()
        assert not Query.objects.exists()
        page.get_by_role("button", name="Ask, for 0.0193 ρ").click()
        expect(page.locator(".answer")).to_be_visible()
        expect(page.locator(".state")).to_have_text("answered")
    assert LedgerEntry.objects.get().load == units("0.019207294104")


def test_bob_asks_the_same_in_other_words_and_pays_nothing(page: "Page", worker: Worker, contract: Contract, site: str) -> None:
    inside = f"/contracts/{contract.uid}/ask/"
    let_in(page, site, person("alice"))
    page.goto(inside)
    page.get_by_role("button", name="SQL").click()
    page.get_by_label("Question in SQL").fill("SELECT COUNT(*) FROM people WHERE age >= 40")
    expect(page.locator("#quote")).to_contain_text("You pay")
    page.locator("#ask-button").click()
    expect(page.locator(".answer")).to_be_visible()
    shown = page.locator(".answer").inner_text()

    let_in(page, site, person("bob"))
    page.goto(inside)
    page.get_by_role("button", name="SQL").click()
    page.get_by_label("Question in SQL").fill("select count(*) from people where not (age < 40 or age is null)")
    expect(page.locator("#quote")).to_contain_text("nothing")
    page.get_by_role("button", name="Ask, free").click()
    expect(page.locator(".answer")).to_have_text(shown)
    expect(page.locator(".versus")).to_contain_text("0 ρ")
    assert LedgerEntry.objects.count() == 1


def test_switching_between_conditions_and_sql_keeps_the_request(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.get_by_role("button", name="SQL").click()
    page.get_by_label("Question in SQL").fill(
        "SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 40 AND (sex = 'F' OR member = TRUE) AND city IN ('Oslo', 'Rome')"
    )
    page.get_by_role("button", name="Conditions").click()
    expect(page.get_by_label("Condition 1, from")).to_have_value("20")
    expect(page.get_by_label("SQL condition")).to_have_value("sex = 'F' OR member = TRUE")
    expect(page.get_by_role("checkbox", name="Oslo")).to_be_checked()
    page.get_by_role("button", name="SQL").click()
    expect(page.get_by_label("Question in SQL")).to_have_value(
        "SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 40 AND (sex = 'F' OR member = TRUE) AND city IN ('Oslo', 'Rome')"
    )


def test_enter_in_a_field_prices_and_never_asks_or_removes(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.get_by_role("button", name="Add condition").press("Enter")
    page.get_by_label("Condition 1, from").fill("20")
    page.get_by_label("Condition 1, to").fill("29")
    page.get_by_label("Condition 1, to").press("Enter")
    expect(page.locator("#quote")).to_contain_text("You pay")
    expect(page.get_by_label("Condition 1, to")).to_have_value("29")
    assert not Query.objects.exists()


def test_a_double_click_makes_one_question(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.locator("#ask-button").dblclick()
    expect(page.get_by_text("Next in line")).to_be_visible()
    assert Query.objects.count() == 1


def test_carol_approves_less_than_bob_asked_for(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("bob"))
    page.goto(f"/contracts/{contract.uid}/budget/")
    page.get_by_label("How much more (ρ)").fill("0.1")
    page.get_by_label("What for").fill("Tables for the spring report")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("Your request waits")).to_be_visible()

    let_in(page, site, person("carol"))
    page.goto(f"/contracts/{contract.uid}/requests/")
    expect(page.get_by_role("heading", name="bob asks for 0.100 ρ more")).to_be_visible()
    page.get_by_label("Grant (ρ)").fill("0.04")
    page.get_by_label("Note to bob").fill("Start with this.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("bob may spend 0.0400 ρ more")

    let_in(page, site, person("bob"))
    page.goto(f"/contracts/{contract.uid}/budget/")
    expect(page.get_by_role("region", name="Requests").get_by_text("Start with this.")).to_be_visible()
    expect(page.get_by_role("region", name="Changes of my allotment").get_by_text("Start with this.")).to_be_visible()
    expect(page.locator(".meter-text")).to_contain_text("0.0900 ρ")
    assert BudgetRequest.objects.get().granted == units("0.04")


def test_dora_reads_the_record_and_verifies_it(
    page: "Page", contract: Contract, site: str, worker: Worker, tmp_path: Path
) -> None:
    let_in(page, site, person("dora"))
    page.goto("/audit/")
    page.get_by_label("Kind").select_option("allotment.set")
    page.get_by_label("Person").fill("carol")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile(r"kind=allotment\.set&actor=carol"))
    expect(page.get_by_role("link", name="Allotment set")).to_have_count(2)
    page.get_by_role("link", name="Allotment set").first.click()
    expect(page.get_by_text("Head after", exact=True)).to_be_visible()
    expect(page.get_by_text("Why", exact=True)).to_be_visible()

    page.goto("/audit/verify/")
    page.get_by_role("button", name="Verify now").click()
    expect(page).to_have_url(re.compile("/audit/verifications/"))
    expect(page.get_by_text("Everything agrees")).to_be_visible(timeout=60_000)
    assert AuditEvent.objects.filter(kind="record.verified", actor="dora").count() == 2

    page.goto("/audit/verify/")
    taken = {}
    for name in ("verify_record.py", "record.ndjson"):
        taken[name] = save(page, page.get_by_role("link", name=name), tmp_path / name)
    page.goto("/audit/receipts/")
    taken["receipts"] = save(page, page.get_by_role("link", name="Download JSON lines"), tmp_path / "receipts.jsonl")
    words = [sys.executable, "-I", "-S", taken["verify_record.py"], taken["record.ndjson"], "--anchor", taken["receipts"]]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith("The record is consistent: 2 chains, ")

    forged = Path(taken["record.ndjson"]).read_bytes().replace(b'"actor":"carol"', b'"actor":"craol"', 1)
    Path(taken["record.ndjson"]).write_bytes(forged)
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, "its hash does not follow from its bytes" in done.stdout) == (1, True)


def save(page: "Page", link: "Locator", path: Path) -> str:
    """Click a link that downloads, and keep the file."""
    with page.expect_download() as download:
        link.click()
    download.value.save_as(path)
    return str(path)


def test_everything_but_charts_works_without_scripts(
    window: Window, site: str, contract: Contract, start_worker: Callable[..., Worker]
) -> None:
    page = window(scripts=False)
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.get_by_role("button", name="Add condition").click()
    page.get_by_label("Column of condition 1").select_option("city")
    page.get_by_role("button", name="Update").click()
    page.get_by_label("Value of condition 1").select_option("Rome")
    page.get_by_role("button", name="Quote", exact=True).click()
    expect(page.locator("#quote")).to_contain_text("0.00308 ρ")
    page.locator("#ask-button").click()
    expect(page.get_by_text("Next in line")).to_be_visible()
    start_worker()
    expect(page.locator(".answer")).to_be_visible(timeout=30_000)
