"""From an invitation to a tightened answer, and from a request to its notice and mail: in a browser, with a real worker."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from celery import current_app
from django.conf import settings
from playwright.sync_api import expect

from accounts.models import User
from curator import queue
from curator.models import Contract, LedgerEntry, Notice
from tests.browser.people import let_in, no_complaints
from tests.cast import ROWS, cast, make_contract, units
from tests.fixtures.browser import Window
from tests.fixtures.worker import Worker
from tests.worker.scene import until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

PASSWORD = "correct horse battery"


@pytest.fixture
def contract(db: None) -> Contract:
    return make_contract(cast(), rows=ROWS, allotments={"alice": "0.5", "bob": "0.05"})


def person(name: str) -> User:
    return User.objects.get(username=name)


def the_link(page: "Page", site: str, contract: Contract) -> str:
    """Carol invites an analyst and reads the link off the page."""
    let_in(page, site, person("carol"))
    page.goto(f"/contracts/{contract.uid}/people/")
    form = page.locator("form", has_text="Invite somebody")
    form.get_by_label("Allotment (ρ)").fill("0.1")
    form.get_by_role("button", name="Invite").click()
    return page.locator("#invitation-link").inner_text()


def test_nina_comes_by_a_link_asks_and_tightens(
    page: "Page", window: Window, worker: Worker, contract: Contract, site: str
) -> None:
    link = the_link(page, site, contract)
    nina = window()
    with no_complaints(nina):
        nina.goto(link)
        expect(nina.get_by_role("heading", name="You are invited to The people of 2020")).to_be_visible()
        nina.get_by_label("User name").fill("nina")
        nina.get_by_label("Password").fill(PASSWORD)
        nina.get_by_label("The same again").fill(PASSWORD)
        nina.get_by_role("button", name="Make account and accept").click()
        expect(nina.get_by_role("status")).to_contain_text("Welcome")
        nina.get_by_role("link", name="Ask", exact=True).first.click()
        nina.get_by_label("How much, in people").fill("20")
        expect(nina.locator("#quote")).to_contain_text("0.00481 ρ")
        nina.locator("#ask-button").click()
        expect(nina.locator(".answer")).to_be_visible()
        nina.get_by_role("link", name="Tighten").first.click()
        nina.get_by_label("How much, in people").fill("10")
        expect(nina.locator("#quote")).to_contain_text("0.0145 ρ")  # 0.0192 less the 0.0048 that is there
        nina.locator("#ask-button").click()
        expect(nina.locator(".answer")).to_be_visible()
    loads = list(LedgerEntry.objects.order_by("id").values_list("load", flat=True))
    assert sum(loads) == units("0.019207294104")
    assert len(loads) == 2
    expect(page.locator("#invitation-link")).to_have_text(link)
    page.goto(link)
    expect(page.get_by_role("heading", name="This invitation opens nothing")).to_be_visible()


def test_bob_asks_for_more_gets_less_and_is_told_on_the_page_and_by_mail(
    page: "Page", contract: Contract, site: str, start_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    Notice.objects.update(seen_at=contract.created_at)  # of being added
    let_in(page, site, person("bob"))
    page.goto(f"/contracts/{contract.uid}/budget/")
    page.get_by_label("How much more (ρ)").fill("0.1")
    page.get_by_label("What for").fill("Tables for the spring report")
    page.get_by_role("button", name="Send request").click()
    expect(page.get_by_text("Your request waits")).to_be_visible()

    let_in(page, site, person("carol"))
    page.goto("/")
    expect(page.get_by_role("link", name="Notices 1 new")).to_be_visible()
    page.get_by_role("link", name="Notices 1 new").click()
    page.get_by_role("link", name="bob asks for more budget").click()
    page.get_by_label("Grant (ρ)").fill("0.04")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("bob may spend 0.0400 ρ more")
    expect(page.get_by_role("link", name="Notices", exact=True)).to_be_visible()

    start_worker(EMAIL_URL=f"filemail:///{tmp_path}", RDP_MAIL_AFTER="0", RDP_SITE_URL=site)
    current_app.send_task(queue.SWEEP)
    until(lambda: Notice.objects.filter(user=person("bob"), mailed_at__isnull=False).exists())
    mails = [path.read_text() for path in tmp_path.iterdir()]
    letters = [mail for mail in mails if "To: bob@example.org" in mail]
    assert len(letters) == 1
    assert "Your request for more budget was approved (The people of 2020)" in letters[0]
    assert "0.04" not in letters[0]

    let_in(page, site, person("bob"))
    page.goto("/notices/")
    page.get_by_role("link", name="Your request for more budget was approved").click()
    expect(page.locator(".meter-text")).to_contain_text("0.0900 ρ")
    expect(page.get_by_role("link", name="Notices", exact=True)).to_be_visible()


def test_a_forgotten_password_is_replaced_by_a_link_in_a_mail(
    page: "Page", contract: Contract, site: str, start_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    alice = person("alice")
    alice.set_password(PASSWORD)
    alice.save()
    page.goto("/sign-in/")
    page.get_by_role("link", name="Password forgotten?").click()
    page.get_by_label("Mail address").fill("alice@example.org")
    page.get_by_role("button", name="Send link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    start_worker(EMAIL_URL=f"filemail:///{tmp_path}", RDP_SITE_URL=site, SECRET_KEY=settings.SECRET_KEY)
    current_app.send_task(queue.SWEEP)
    until(lambda: any("password/new" in path.read_text() for path in tmp_path.iterdir()))
    mail = next(path.read_text() for path in tmp_path.iterdir())
    page.goto(next(line for line in mail.splitlines() if line.startswith(site)))
    page.get_by_label("New password", exact=True).fill("a better horse battery")
    page.get_by_label("New password confirmation").fill("a better horse battery")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("status")).to_contain_text("Your new password is set")
    page.get_by_label("User name").fill("alice")
    page.get_by_label("Password", exact=True).fill("a better horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="My contracts")).to_be_visible()
