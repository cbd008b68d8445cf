"""What Carol grants, cuts and promises, and what Alice and Bob see of it; amounts as people type them."""

import re
from html import unescape
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts import invitations
from accounts.models import Role
from curator.models import AnalystBudget, BudgetRequest, Contract, Notice
from curator.services import budget_requests, contracts, mailing
from tests.cast import Cast, units
from tests.web.scene import browser_of
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def bob(people: Cast, contract: Contract) -> Client:
    return browser_of(people.bob)


def asked(contract: Contract, people: Cast, amount: str = "0.1") -> str:
    """Where the decision about a request of Bob's is sent."""
    made = budget_requests.request(analyst=people.bob, contract=contract, amount=units(amount) or 0, reason="Spring report")
    return f"/contracts/{contract.uid}/requests/{made.uid}/"


def effect(answer: Any) -> str:
    """What a page says that granting would change."""
    found = re.search(r'<div id="effect-.*?</table>', html(answer), re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found.group()).split())


def test_the_preview_follows_the_amount_that_is_typed(carol: Client, contract: Contract, people: Cast) -> None:
    address = asked(contract, people)
    whole = carol.get(f"/contracts/{contract.uid}/requests/")
    assert "What granting 0.100 ρ would change" in effect(whole)
    assert 'hx-vals=\'{"do": "preview"}\'' in html(whole)
    part = carol.post(address, {"do": "preview", "granted": "0.02", "note": "kept"})
    assert (part.status_code, "kept" in html(part)) == (200, True)
    assert "Allotment of bob 0.0500 0.0700" in effect(part)
    assert BudgetRequest.objects.get().state == "open"
    assert "At most the 0.1 ρ" in text(carol.post(address, {"do": "preview", "granted": "0.2"}))
    assert "decimal number" in text(carol.post(address, {"do": "preview", "granted": "x"}))


def test_a_rejection_without_a_note_is_told_at_the_note_in_words(carol: Client, contract: Contract, people: Cast) -> None:
    answer = carol.post(asked(contract, people), {"do": "reject", "granted": "", "note": " "})
    assert answer.status_code == 400
    place = re.search(r'<p class="problem-text" id="note-[^"]*">([^<]*)', html(answer))
    assert place is not None
    assert place[1] == "Say why: a request is turned down with a note to bob."
    assert "expected some text" not in text(answer)
    assert 'id="grant-' in html(answer)
    assert not re.search(r'id="grant-[^"]*-error"', html(answer))


def test_whose_allotment_is_cut_is_told_why_on_the_page_and_by_mail(
    carol: Client, bob: Client, contract: Contract, people: Cast, settings: Settings
) -> None:
    settings.MAIL_AFTER = 0
    people.bob.email = "bob@example.org"
    people.bob.save()
    Notice.objects.all().update(seen_at="2026-01-01T00:00:00Z")
    form = {"do": "allot", "username": "bob", "rho": "0,0123", "reason": "Others need it more"}
    assert carol.post(f"/contracts/{contract.uid}/people/", form).status_code == 303
    assert carol.post(f"/contracts/{contract.uid}/people/", form).status_code == 303  # nothing changed: nothing to tell
    assert AnalystBudget.objects.get(analyst=people.bob).allotment == units("0.0123")
    assert mailing.deliver() == 1
    letter = mail.outbox[-1]
    assert (letter.to, letter.subject) == (["bob@example.org"], "Residual: Your allotment was changed")
    assert "Others need it more" in letter.body
    assert "0.01" not in letter.body
    assert f"/contracts/{contract.uid}/budget/" in letter.body
    assert "Your allotment was changed" in text(bob.get("/notices/"))
    page = text(bob.get(f"/contracts/{contract.uid}/budget/"))
    assert re.search(r"0\.0500\s+0\.0123\s+carol\s+Others need it more", page), page
    assert Notice.objects.get(kind="allotted").seen_at is not None


def test_the_history_has_the_latest_ten_changes(bob: Client, contract: Contract, people: Cast) -> None:
    for step in range(12):
        contracts.set_allotment(curator=people.carol, contract=contract, analyst=people.bob, rho=10**10 + step, reason=f"r{step}")
    page = text(bob.get(f"/contracts/{contract.uid}/budget/"))
    assert re.findall(r"\br\d+\b", page) == [f"r{step}" for step in range(11, 1, -1)]


def test_an_amount_is_worked_out_from_counts_without_asking_for_it(bob: Client, contract: Contract) -> None:
    address = f"/contracts/{contract.uid}/budget/"
    answer = bob.post(address, {"do": "work_out", "counts": "20", "within": "25", "amount": "", "reason": "The spring report"})
    assert answer.status_code == 200
    assert re.search(r'name="amount" value="0\.0615"', html(answer))  # 20 × z² / (2 · 25²), z = 1.95996
    assert "The spring report" in html(answer)
    assert not BudgetRequest.objects.exists()
    for wrong in ({"counts": "0", "within": "25"}, {"counts": "20", "within": "x"}, {"counts": "20"}):
        refused = bob.post(address, {"do": "work_out", "reason": "kept", **wrong})
        assert (refused.status_code, "kept" in html(refused)) == (400, True)


@pytest.mark.parametrize(("typed", "read"), [("0,01", "0.01"), (",02", "0.02"), ("0,125", "0.125"), ("0.03", "0.03")])
def test_a_decimal_comma_is_a_point(bob: Client, contract: Contract, typed: str, read: str) -> None:
    bob.post(f"/contracts/{contract.uid}/budget/", {"amount": typed, "reason": "Spring"})
    assert BudgetRequest.objects.get().amount == units(read)


@pytest.mark.parametrize(("typed", "told"), [
    ("1,000", "1,000 may be 1000 or 1.000: type the one you mean"), ("1.234,5", "decimal number such as 0.25"),
    ("1,2,3", "decimal number such as 0.25"),
])  # fmt: skip
def test_a_comma_that_may_be_of_thousands_is_asked_about(bob: Client, contract: Contract, typed: str, told: str) -> None:
    answer = bob.post(f"/contracts/{contract.uid}/budget/", {"amount": typed, "reason": "Spring"})
    assert (answer.status_code, told in unescape(text(answer))) == (400, True)
    assert not BudgetRequest.objects.exists()


def test_a_question_may_be_asked_with_a_decimal_comma(bob: Client, contract: Contract) -> None:
    form = {"mode": "sql", "sql": "SELECT COUNT(*) FROM people", "kind": "standard_error", "amount": "7,5", "confidence": "95"}
    assert "decimal number" not in text(bob.post(f"/contracts/{contract.uid}/quote/", form))
    assert "may be 1000 or 1.000" in text(bob.post(f"/contracts/{contract.uid}/quote/", form | {"amount": "1,000"}))


def test_what_invitations_promise_is_shown_and_first(carol: Client, contract: Contract, people: Cast) -> None:
    page = f"/contracts/{contract.uid}/people/"
    assert "Promised" not in text(carol.get(page))
    made, _ = invitations.invite(
        curator=people.carol, contract=contract, role=Role.ANALYST, allotment=units("0.2"), email="nina@example.org"
    )
    shown = text(carol.get(page))
    assert "Promised to invitations 0.200 ρ" in shown
    assert shown.index("What is left to allot") < shown.index("Invite somebody")
    left = re.search(r"Not yet allotted ([\d.]+)", shown)
    invitations.revoke(curator=people.carol, invitation=made)
    again = text(carol.get(page))
    after = re.search(r"Not yet allotted ([\d.]+)", again)
    assert left is not None
    assert after is not None
    assert ("Promised" in again, round(float(after[1]) - float(left[1]), 3)) == (False, 0.2)
