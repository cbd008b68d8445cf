"""The API's documentation opens under the strict policy, from files of this server alone."""

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.people import let_in
from tests.cast import cast

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_the_documentation_lists_the_calls(page: "Page", site: str) -> None:
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if "Content Security Policy" in message.text else None)
    let_in(page, site, cast().alice)
    page.goto("/api/docs/")
    page.get_by_text("/api/v1/contracts/{uid}/quote/").first.wait_for()
    assert [text for text in refused if "script" in text] == []
    for group in ("Asking", "Auditing", "Data", "Contracts and people"):
        expect(page.get_by_role("link", name=group, exact=True)).to_be_visible()
    expect(page.get_by_text("Idempotency-Key: plan-1")).to_be_visible()
    expect(page.get_by_role("link", name="Back to the site")).to_have_attribute("href", "/")
