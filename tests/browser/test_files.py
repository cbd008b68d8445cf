"""Carol's journey in a real browser, with the real worker: from a messy file to an open contract with a member."""

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from curator.models import Contract, Upload
from tests.browser.people import let_in
from tests.cast import cast
from tests.fixtures.browser import Window
from tests.fixtures.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

ROWS = "".join(f"{place};{place % 90},5;{('', 'Y', 'N')[place % 3]};{('f', 'female', 'M')[place % 3]};\n" for place in range(60))
REPEATED = "\ufeffid;income;member;sex;income\n" + ROWS
MENDED = "\ufeffid;income;member;sex;note\n" + ROWS


def choose(page: "Page", content: str) -> None:
    page.locator("input[name=file]").set_input_files({"name": "panel.csv", "mimeType": "text/csv", "buffer": content.encode()})


def travel(page: "Page") -> None:
    """The whole way; every step is a page of its own, so that it is the same without scripts."""
    page.goto("/datasets/")
    page.get_by_role("link", name="New dataset").first.click()
    page.get_by_label("Name", exact=True).fill("Panel of 2026")
    choose(page, REPEATED)
    page.get_by_role("button", name="Upload").click()
    arrived(page, "This file cannot be used")
    expect(page.get_by_role("alert")).to_contain_text('"income" stands at positions 2, 5')
    choose(page, MENDED)
    page.get_by_role("button", name="Send").click()
    arrived(page, "How it was read")
    expect(page.get_by_text("0 of 5 declared")).to_be_visible()
    expect(page.locator("dl.facts")).to_contain_text("semicolon")
    page.get_by_role("link", name="income", exact=True).click()
    page.get_by_label("Decimals").check()
    page.get_by_label("Lowest").fill("0")
    page.get_by_label("Highest").fill("100")
    page.get_by_label("Step", exact=True).fill("0.5")
    page.get_by_role("button", name="Save, next column").click()
    expect(page.get_by_role("heading", name="member")).to_be_visible()
    page.get_by_label("Yes or no").check()
    page.get_by_label("Means yes").fill("Y")
    page.get_by_label("Means no").fill("N")
    page.get_by_label("Blank cells are possible").check()
    page.get_by_role("button", name="Save, next column").click()
    expect(page.get_by_role("heading", name="sex")).to_be_visible()
    page.get_by_label("Categories").check()
    page.get_by_role("textbox", name="Values").fill("F\nM")
    page.get_by_label("Other spellings in the file").fill("female = F\nf = F")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("3 of 5 declared")).to_be_visible()
    page.get_by_role("link", name="Look over and freeze").click()
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_text("This field is required")).to_be_visible()
    page.get_by_label("Each record is one person.").check()
    page.get_by_role("button", name="Freeze").click()
    arrived(page, "became version 1")
    page.get_by_role("link", name="Open a contract").click()
    page.get_by_label("Name", exact=True).fill("Panel, spring")
    page.get_by_label("Total in ρ").fill("1")
    page.get_by_label("I know that these settings stand").check()
    page.get_by_role("button", name="Open contract").click()
    page.get_by_label("User name").fill("alice")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("alice is added as analyst.")).to_be_visible()


def arrived(page: "Page", told: str) -> None:
    """Wait for the worker: the page follows by itself, or is asked to."""
    again = page.get_by_role("link", name="Look again")
    for _ in range(120):
        if page.get_by_text(told).first.is_visible():
            break
        if again.is_visible():
            again.click()
        else:
            page.wait_for_timeout(250)
    expect(page.get_by_text(told).first).to_be_visible()
    page.wait_for_load_state("networkidle")  # nothing is swapped any more under the next click


def test_carol_takes_a_messy_file_to_an_open_contract(page: "Page", site: str, worker: Worker) -> None:
    people = cast()
    let_in(page, site, people.carol)
    complaints: list[str] = []  # not of a refused form or a request that leaving a page ends: both belong to this way
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None)
    travel(page)
    assert not complaints
    contract = Contract.objects.get()
    assert (contract.state, contract.version.number) == ("open", 1)
    assert [column["name"] for column in contract.version.schema["columns"]] == ["income", "member", "sex"]
    assert list(Upload.objects.order_by("pk").values_list("state", flat=True)) == ["refused", "frozen"]
    let_in(page, site, people.alice)
    page.goto(f"/contracts/{contract.uid}/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_and_without_scripts(window: Window, site: str, worker: Worker) -> None:
    people = cast()
    page = window(scripts=False)
    let_in(page, site, people.carol)
    travel(page)
    assert Contract.objects.get().state == "open"
