"""The Ask form under quick hands and slow networks: what stands beside it is always the price of what is in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from curator.models import Contract
from tests.browser.people import let_in, no_complaints
from tests.browser.test_journeys import person
from tests.cast import ROWS, cast, make_contract

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

#: Prices of the default ±25 at 95 %, and of ±10 and ±50.
AT_25, AT_10, AT_50 = "0.00308 ρ", "0.0193 ρ", "0.000769 ρ"


@pytest.fixture
def form(page: "Page", site: str) -> "Page":
    """Alice in front of the Ask form, with its first price."""
    contract: Contract = make_contract(cast(), rows=ROWS, allotments={"alice": "0.5"})
    let_in(page, site, person("alice"))
    page.goto(f"/contracts/{contract.uid}/ask/")
    expect(page.locator("#quote")).to_contain_text(AT_25)
    return page


@contextmanager
def held_back(page: "Page", address: str) -> Iterator[Callable[[], "Route"]]:
    """The first request to `address` does not reach the site before the caller says so (a call waits for it to be there)."""
    waiting: list[Route] = []

    def hold(route: "Route") -> None:
        if waiting or route.request.method != "POST":
            route.continue_()
        else:
            waiting.append(route)

    def caught() -> "Route":
        while not waiting:
            page.evaluate("1")
        return waiting[0]

    page.route(address, hold)
    yield caught
    page.unroute(address)


def priced(page: "Page", price: str) -> None:
    """The page shows this price, on both places, as the one of the form."""
    expect(page.locator("#quote[aria-busy=false]")).to_contain_text(price)
    expect(page.get_by_role("button", name=f"Ask, for {price}")).to_be_visible()


def test_what_is_written_in_the_moment_a_form_arrives_is_priced(form: "Page") -> None:
    """No hand is as quick as this: the text stands in the new form before anything else can happen on the page."""
    form.evaluate(
        """() => new MutationObserver((_, observer) => {
          const box = document.getElementById("sql");
          if (!box) return;
          observer.disconnect();
          box.value = "SELECT COUNT(*) FROM people WHERE age < 0";
          box.dispatchEvent(new Event("input", {bubbles: true}));
        }).observe(document.body, {childList: true, subtree: true})"""
    )
    with no_complaints(form):
        form.get_by_role("button", name="SQL").click()
        expect(form.locator("#quote[aria-busy=false]")).to_contain_text("nobody can match this")
    expect(form.get_by_label("Question in SQL")).to_have_value("SELECT COUNT(*) FROM people WHERE age < 0")


def test_what_is_written_while_a_form_is_on_its_way_stays_and_is_priced(form: "Page") -> None:
    with held_back(form, "**/ask/") as first:
        form.get_by_role("button", name="SQL").click()
        late = first()
        form.get_by_label("How much, in people").fill("10")
        late.continue_()
        expect(form.get_by_label("Question in SQL")).to_be_visible()
    expect(form.get_by_label("How much, in people")).to_have_value("10")
    priced(form, AT_10)


def test_a_price_that_comes_late_never_replaces_that_of_the_form(form: "Page") -> None:
    with held_back(form, "**/quote/") as first:
        form.get_by_label("How much, in people").fill("50")
        late = first()
        expect(form.locator("#quote")).to_have_attribute("aria-busy", "true")
        expect(form.get_by_role("button", name="Ask", exact=True)).to_be_visible()
        form.get_by_label("How much, in people").fill("10")
        form.get_by_role("button", name="Add condition").click()
        form.get_by_role("button", name="Remove condition 1").click()
        expect(form.get_by_text("No condition yet")).to_be_visible()
        priced(form, AT_10)
        answered = late.fetch()
        with form.expect_event("requestfinished", lambda request: request.url.endswith("/quote/")):
            late.fulfill(response=answered)
        form.wait_for_load_state("networkidle")
    priced(form, AT_10)


def test_a_second_button_pressed_while_the_form_is_on_its_way_counts_too(form: "Page") -> None:
    with held_back(form, "**/ask/") as first:
        form.get_by_role("button", name="Add condition").click()
        late = first()
        form.get_by_role("button", name="Group by…").click()
        late.continue_()
        expect(form.get_by_role("group", name="Condition 1")).to_be_visible()
        expect(form.get_by_role("group", name="Group by 1")).to_be_visible()


def test_a_price_that_does_not_come_is_said_and_can_be_asked_for_again(form: "Page") -> None:
    form.route("**/quote/", lambda route: route.abort())
    form.get_by_label("How much, in people").fill("10")
    expect(form.get_by_text("The price did not arrive")).to_be_visible()
    expect(form.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    form.unroute("**/quote/")
    form.get_by_role("button", name="Try again").click()
    priced(form, AT_10)
    expect(form.get_by_text("The price did not arrive")).to_be_hidden()


def test_what_a_browser_brings_back_after_a_reload_is_priced(form: "Page") -> None:
    form.get_by_label("How much, in people").fill("10")
    priced(form, AT_10)
    form.add_init_script(
        """addEventListener("DOMContentLoaded", () => { document.getElementById("amount").value = "50"; }, {capture: true})"""
    )
    form.reload()
    expect(form.get_by_label("How much, in people")).to_have_value("50")
    priced(form, AT_50)


def test_focus_stays_on_the_button_that_rebuilt_the_form(form: "Page") -> None:
    form.get_by_role("button", name="SQL").press("Enter")
    expect(form.get_by_label("Question in SQL")).to_be_visible()
    expect(form.get_by_role("button", name="SQL")).to_be_focused()


def test_what_was_put_right_is_complained_of_no_more(form: "Page") -> None:
    form.get_by_role("button", name="Add condition").click()
    expect(form.get_by_label("Condition 1, from")).to_be_visible()
    expect(form.get_by_role("alert")).to_have_count(0)
    form.wait_for_load_state("networkidle")
    form.locator("#ask-button").click()
    expect(form.get_by_role("alert")).to_contain_text("still needs a value")
    form.get_by_label("Condition 1, from").fill("40")
    form.get_by_label("Condition 1, to").fill("60")
    priced(form, AT_25)
    expect(form.get_by_role("alert")).to_have_count(0)
