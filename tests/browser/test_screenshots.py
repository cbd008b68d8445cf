"""Pictures of every page, wide and narrow, light and dark, into var/screenshots: `make screenshots`."""

from typing import TYPE_CHECKING

import pytest

from rdp_site.environment import ROOT
from tests.browser.people import let_in
from tests.browser.pictured import make_pictured, pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.screenshots, pytest.mark.browser, pytest.mark.usefixtures("db")]

FOLDER = ROOT / "var" / "screenshots"
WIDTHS = {"wide": 1280, "narrow": 375}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(chromium: "Browser", site: str, scheme: str) -> None:
    scene = make_pictured()
    for label, width in WIDTHS.items():
        context = chromium.new_context(base_url=site, viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]  # a literal of Playwright's
        page = context.new_page()
        for who, addresses in pages(scene).items():
            context.clear_cookies()
            if who != "nobody":
                let_in(page, site, getattr(scene.people, who))
            for name, address in addresses.items():
                page.goto(address)
                if page.locator("figure.chart").count():
                    page.locator(".chart-plot .main-svg").first.wait_for()
                page.screenshot(path=FOLDER / f"{label}-{scheme}" / f"{who}-{name}.png", full_page=True)
        context.close()
    assert len(list((FOLDER / f"wide-{scheme}").glob("*.png"))) >= sum(map(len, pages(scene).values()))
