"""Pictures of every page, wide and narrow, light and dark, into var/screenshots: `make screenshots`."""

import pytest

from rdp_site.environment import ROOT
from tests.browser.people import let_in
from tests.browser.pictured import make_pictured, pages
from tests.fixtures.browser import Window

pytestmark = [pytest.mark.screenshots, pytest.mark.browser, pytest.mark.usefixtures("db")]

FOLDER = ROOT / "var" / "screenshots"
WIDTHS = {"wide": 1280, "narrow": 375}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(window: Window, site: str, scheme: str) -> None:
    scene = make_pictured()
    for label, width in WIDTHS.items():
        page = window(width=width, scheme=scheme)
        for who, addresses in pages(scene).items():
            page.context.clear_cookies()
            if who != "nobody":
                let_in(page, site, getattr(scene.people, who))
            for name, address in addresses.items():
                page.goto(address)
                if page.locator("figure.chart").count():
                    page.locator(".chart-plot .main-svg").first.wait_for()
                page.screenshot(path=FOLDER / f"{label}-{scheme}" / f"{who}-{name}.png", full_page=True)
    assert len(list((FOLDER / f"wide-{scheme}").glob("*.png"))) >= sum(map(len, pages(scene).values()))
