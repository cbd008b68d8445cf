"""Rehearsing and keeping questions in a real browser, with scripts and without; nothing on the page jumps."""

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from curator.models import AuditEvent, Contract, LedgerEntry, Query, SavedQuestion
from tests.browser.people import let_in, no_complaints
from tests.browser.test_journeys import person
from tests.cast import ROWS, cast, make_contract
from tests.fixtures.browser import Window

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]


PLACES = """() => ["ask-button", "rehearse", "amount", "quote"].map((id) => {
  const box = document.getElementById(id).getBoundingClientRect();
  return [box.x, box.y, box.width, box.height];
})"""


@pytest.fixture
def contract(db: None) -> Contract:
    return make_contract(cast(), rows=ROWS, allotments={"alice": "0.5"})


def test_alice_rehearses_saves_and_asks_again_later(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("alice"))
    events = AuditEvent.objects.count()
    with no_complaints(page):
        page.goto(f"/contracts/{contract.uid}/ask/")
        page.get_by_label("How much, in people").fill("10")
        page.get_by_role("button", name="Rehearse").click()
        rehearsal = page.get_by_role("region", name="Rehearsal", exact=True)
        expect(rehearsal).to_contain_text("made-up people")
        expect(rehearsal).to_contain_text("of the 20 came within ±10")
        expect(page.get_by_label("How much, in people")).to_have_value("10")
        assert Axe().run(page).response["violations"] == []
        assert not Query.objects.exists()
        page.get_by_text("Give it a name, or save it").click()
        page.get_by_label("Name (optional").fill("Everybody")
        page.get_by_role("button", name="Save for later").click()
        expect(page.get_by_role("status")).to_contain_text("Kept as “Everybody”")
        page.get_by_role("link", name="Saved questions").click()
        page.get_by_role("link", name="Ask “Everybody” again").click()
        expect(page.get_by_label("How much, in people")).to_have_value("10")
        expect(page.get_by_role("button", name=re.compile("Ask, for 0.0193"))).to_be_visible()
    assert AuditEvent.objects.count() == events
    assert not LedgerEntry.objects.exists()


def test_rehearsing_saving_renaming_and_deleting_work_without_scripts(window: Window, site: str, contract: Contract) -> None:
    page = window(scripts=False)
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.get_by_role("button", name="SQL").click()
    page.get_by_label("Question in SQL").fill("SELECT COUNT(*) FROM people GROUP BY city")
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_role("region", name="Rehearsal by bin")).to_contain_text("Lima")
    page.get_by_text("Give it a name, or save it").click()
    page.get_by_label("Name (optional").fill("By city")
    page.get_by_role("button", name="Save for later").click()
    expect(page.get_by_role("status")).to_contain_text("Kept as “By city”")
    page.get_by_role("link", name="Saved questions").click()
    page.get_by_text("Rename or delete").click()
    page.get_by_label("Name", exact=True).fill("Cities")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("status")).to_contain_text("“By city” is now called “Cities”.")
    page.get_by_text("Rename or delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing saved yet")).to_be_visible()
    assert not SavedQuestion.objects.exists()


def test_nothing_jumps_while_a_price_is_on_its_way(page: "Page", contract: Contract, site: str) -> None:
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    expect(page.locator("#quote")).to_contain_text("0.00308 ρ")
    before = page.evaluate(PLACES)
    page.get_by_label("How much, in people").fill("30")
    assert page.locator("#quote").get_attribute("aria-busy") == "true"
    assert page.evaluate(PLACES) == before
    expect(page.locator("#quote[aria-busy=false]")).to_contain_text("0.00214 ρ")
    assert page.evaluate(PLACES) == before
