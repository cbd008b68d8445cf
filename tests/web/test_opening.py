"""Before Carol opens a contract she is told what its settings amount to, and asked once: they stand for good."""

from html import unescape

import pytest
from django.test import Client

from curator.models import Contract
from tests.cast import Cast, make_version
from tests.web.curator import new_contract
from tests.web.test_asking import text

pytestmark = pytest.mark.usefixtures("db")


def preview(carol: Client, people: Cast, **changes: str) -> str:
    form = new_contract(version=str(make_version(people.carol).uid), do="preview", **changes)
    return unescape(text(carol.post("/contracts/new/", form)))


def test_nothing_opens_before_she_says_that_she_knows_it_stands(carol: Client, people: Cast) -> None:
    form = new_contract(version=str(make_version(people.carol).uid), stands="")
    answer = carol.post("/contracts/new/", form)
    assert (answer.status_code, Contract.objects.count()) == (400, 0)
    assert "Tick this to open it" in text(answer)
    assert carol.post("/contracts/new/", form | {"do": "draft"}).status_code == 303
    draft = Contract.objects.get()
    assert carol.post(f"/contracts/{draft.uid}/edit/", form).status_code == 400
    control = f"/contracts/{draft.uid}/control/"
    refused = carol.post(control, {"do": "open"})
    assert (refused.status_code, "Tick this to open it" in text(refused)) == (400, True)
    draft.refresh_from_db()
    assert draft.state == "draft"
    assert carol.post(f"/contracts/{draft.uid}/edit/", form | {"stands": "on"}).status_code == 303
    draft.refresh_from_db()
    assert draft.state == "open"


def test_the_control_page_asks_the_same(carol: Client, people: Cast) -> None:
    carol.post("/contracts/new/", new_contract(version=str(make_version(people.carol).uid), do="draft", stands=""))
    control = f"/contracts/{Contract.objects.get().uid}/control/"
    assert "I know that these settings stand" in text(carol.get(control))
    assert carol.post(control, {"do": "open", "stands": "on"}).status_code == 303
    assert Contract.objects.get().state == "open"


@pytest.mark.parametrize(("epsilon", "told"), [
    ("1", "commonly called strict, and this is"), ("3", "neither strict (about 1 or less) nor loose"),
    ("11", "says little about one person"),
])  # fmt: skip
def test_it_says_what_is_strict_and_what_is_loose(carol: Client, people: Cast, epsilon: str, told: str) -> None:
    shown = preview(carol, people, rho_total="", epsilon=epsilon)
    assert told in shown
    assert "A rule of thumb, no law" in shown


@pytest.mark.parametrize(("total", "xi", "counts", "diagnostics"), [
    ("1", "0.05", False, False), ("0.00038", "0", True, False), ("0.00039", "0", False, False), ("0.3", "0.05", False, True),
    ("0.0003", "0.05", True, True),
])  # fmt: skip
def test_it_warns_of_a_total_that_is_good_for_nearly_nothing(
    carol: Client, people: Cast, total: str, xi: str, counts: bool, diagnostics: bool
) -> None:
    """One count at ±100, 95 %, costs z² / 20,000 = 0.000192; a diagnostic of rho sees to within z / sqrt(2 rho)."""
    shown = preview(carol, people, rho_total=total, xi=xi)
    assert ("uses more than half" in shown) is counts
    assert ("see the size of a group only to within" in shown) is diagnostics
