"""Pages hold still while they arrive, and can be used without scripts and printed."""

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from curator.models import Contract, LedgerEntry
from tests.browser.people import let_in
from tests.browser.pictured import make_pictured
from tests.cast import ROWS, cast, make_contract, units
from tests.fixtures.browser import Window
from tests.fixtures.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

MOST = 0.1  # of the window, in the unit of browsers: what they call good
WATCH = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""


@pytest.mark.parametrize("width", [1280, 375])
def test_no_page_jumps_while_it_arrives(window: Window, site: str, width: int) -> None:
    scene = make_pictured()
    inside = f"/contracts/{scene.contract.uid}"
    places = [
        f"{inside}/",
        f"{inside}/ask/",
        f"{inside}/compare/",
        f"/queries/{scene.histogram.uid}/",
        f"/queries/{scene.scarce.uid}/",
    ]
    page = window(width=width)
    page.add_init_script(WATCH)
    found = {place: shifted(page, site, scene.people.bob, place) for place in places}
    found |= {place: shifted(page, site, scene.people.carol, place) for place in (f"{inside}/control/", "/datasets/")}
    assert {place: value for place, value in found.items() if value > MOST} == {}


def shifted(page: "Page", site: str, user: object, place: str) -> float:
    """How much a page moved by itself until it was quiet, its charts drawn."""
    let_in(page, site, user)  # type: ignore[arg-type]  # one of the cast
    page.goto(place)
    if page.locator("figure.chart").count():
        page.locator(".chart-plot .main-svg").first.wait_for()
    page.wait_for_load_state("networkidle")
    return float(page.evaluate("window.shifted"))


def test_a_question_is_asked_and_tightened_without_scripts(window: Window, worker: Worker, site: str) -> None:
    people = cast()
    contract: Contract = make_contract(people, rows=ROWS, allotments={"alice": "0.5"})
    page = window(scripts=False)
    let_in(page, site, people.alice)
    page.goto(f"/contracts/{contract.uid}/ask/")
    page.get_by_role("button", name="Add condition").click()
    page.get_by_label("Condition 1, from").fill("20")
    page.get_by_label("Condition 1, to").fill("49")
    page.locator("#amount").fill("50")
    page.get_by_role("button", name="Quote", exact=True).last.click()
    expect(page.locator("#quote")).to_contain_text("0.000769 ρ")
    page.locator("#ask-button").click()
    answered(page)
    page.get_by_role("link", name="Tighten…").click()
    page.locator("#amount").fill("25")
    page.locator("#ask-button").click()
    answered(page)
    expect(page.get_by_text("Composed of 2 releases")).to_be_visible()
    assert sum(entry.load for entry in LedgerEntry.objects.all()) == units("0.003073167057")


def answered(page: "Page") -> None:
    """Look again, as the page offers, until the answer is there."""
    while page.locator(".state").first.inner_text() == "waiting":
        page.reload()
    expect(page.locator(".state").first).to_have_text("answered")


def test_a_printed_answer_has_its_figures_and_no_buttons(page: "Page", site: str) -> None:
    scene = make_pictured()
    let_in(page, site, scene.people.alice)
    page.goto(f"/queries/{scene.histogram.uid}/")
    page.locator(".chart-plot .main-svg").first.wait_for()
    page.emulate_media(media="print")
    expect(page.locator("header.top")).to_be_hidden()
    expect(page.get_by_role("link", name="Tighten…")).to_be_hidden()
    expect(page.get_by_role("region", name="Steps of the decision")).to_be_visible()
    expect(page.locator(".chart-plot .main-svg").first).to_be_visible()
