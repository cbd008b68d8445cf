"""Axe finds nothing on any page, light or dark, wide or narrow; no page is wider than a telephone's screen."""

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.people import let_in, no_complaints
from tests.browser.pictured import make_pictured, pages
from tests.fixtures.browser import Window

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

NARROW = 375
EXPECTED_404 = "404"  # what the browser says of the page that is not there


def violations(page: "Page") -> list[str]:
    """What axe found: rule, help and the first places."""
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['help']} at {[node['target'] for node in each['nodes'][:3]]}" for each in found]


def opened(page: "Page", address: str) -> None:
    page.goto(address)
    if page.locator("figure.chart").count():
        page.locator(".chart-plot .main-svg").first.wait_for()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", NARROW)])
def test_axe_finds_nothing_on_any_page(window: Window, site: str, scheme: str, width: int) -> None:
    scene = make_pictured()
    page = window(width=width, scheme=scheme)
    problems: list[str] = []
    checked = 0
    for who, addresses in pages(scene).items():
        page.context.clear_cookies()
        if who != "nobody":
            let_in(page, site, getattr(scene.people, who))
        for name, address in addresses.items():
            opened(page, address)
            problems += [f"{who} {name}: {each}" for each in violations(page)]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                problems.append(f"{who} {name}: wider than {width}")
            checked += 1
    assert not problems, "\n".join(problems)
    assert checked > 25


def test_charts_and_live_parts_obey_the_content_policy(page: "Page", site: str) -> None:
    scene = make_pictured()
    let_in(page, site, scene.people.alice)
    with no_complaints(page):
        for address in (f"/queries/{scene.histogram.uid}/", f"/contracts/{scene.contract.uid}/compare/"):
            opened(page, address)
        page.goto(f"/contracts/{scene.contract.uid}/ask/")
        page.get_by_role("button", name="Group by…").click()
        page.get_by_role("group", name="Group by 1").wait_for()
