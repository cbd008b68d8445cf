"""Saved questions and rehearsals on the pages: kept, found, asked again, renamed, deleted; tried on people nobody is."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from curator.models import AuditEvent, Decision, Diagnostic, LedgerEntry, Query, Release, SavedQuestion
from tests.web.scene import Scene, browser_of, make_scene
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

OLD = {
    "view": "sql", "sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "kind": "within", "amount": "12", "confidence": "99",
    "under_scarcity": "all_or_nothing", "key": "form-1",
}  # fmt: skip


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


def ask_page(scene: Scene) -> str:
    return f"/contracts/{scene.contract.uid}/ask/"


def saved_page(scene: Scene) -> str:
    return f"/contracts/{scene.contract.uid}/saved/"


def test_alice_saves_from_the_form_and_finds_the_form_as_she_left_it(scene: Scene) -> None:
    alice = browser_of(scene.people.alice)
    answer = alice.post(ask_page(scene), OLD | {"do": "save", "label": "Over forty"})
    assert answer.status_code == 303
    page = html(alice.get(answer.headers["Location"]))
    assert "Kept as “Over forty” among your saved questions. Nothing was asked." in page
    assert re.search(r'name="amount"[^>]* value="12"', page)
    assert re.search(r'name="confidence"[^>]* value="99"', page)
    assert '<option value="all_or_nothing" selected>' in page
    assert re.search(r'name="label"[^>]* value="Over forty"', page)
    assert not Query.objects.filter(label="Over forty").exists()
    listed = text(alice.get(saved_page(scene)))
    assert "Over forty" in listed
    assert "±12" in listed
    assert "1 of at most 200" in listed


def test_saving_again_under_the_same_name_says_so_at_the_name(scene: Scene) -> None:
    alice = browser_of(scene.people.alice)
    alice.post(ask_page(scene), OLD | {"do": "save", "label": "Over forty"})
    answer = alice.post(ask_page(scene), OLD | {"do": "save", "label": "Over forty"})
    assert answer.status_code == 409
    assert "You keep another question under the name “Over forty”" in html(answer)
    assert re.search(r'id="label"[^>]* aria-invalid="true"', html(answer))
    assert SavedQuestion.objects.count() == 1


def test_alice_saves_from_an_answer_renames_and_deletes(scene: Scene) -> None:
    alice = browser_of(scene.people.alice)
    page = html(alice.post(f"/queries/{scene.first.uid}/save/", follow=True))
    assert "Kept as “Forty and over” among your saved questions." in page
    row = SavedQuestion.objects.get()
    renamed = alice.post(saved_page(scene), {"question": str(row.uid), "do": "rename", "name": "The older half"}, follow=True)
    assert "“Forty and over” is now called “The older half”." in html(renamed)
    bad = alice.post(saved_page(scene), {"question": str(row.uid), "do": "rename", "name": " "})
    assert bad.status_code == 400
    assert "Expected some text" in html(bad)
    deleted = alice.post(saved_page(scene), {"question": str(row.uid), "do": "delete"}, follow=True)
    assert "“The older half” is deleted. Its answers stay." in html(deleted)
    assert "Nothing saved yet" in html(deleted)
    assert Query.objects.filter(pk=scene.first.pk).exists()


def test_bob_cannot_touch_or_start_from_what_alice_saved(scene: Scene) -> None:
    browser_of(scene.people.alice).post(ask_page(scene), OLD | {"do": "save", "label": "Mine"})
    row = SavedQuestion.objects.get()
    bob = browser_of(scene.people.bob)
    for do in ("rename", "delete"):
        assert bob.post(saved_page(scene), {"question": str(row.uid), "do": do, "name": "x"}).status_code == 404
    assert bob.get(ask_page(scene), {"saved": str(row.uid)}).status_code == 404
    assert "Mine" not in html(bob.get(saved_page(scene)))
    row.refresh_from_db()
    assert row.name == "Mine"


def test_a_name_that_is_markup_is_text_wherever_it_is_shown(scene: Scene) -> None:
    name = "<img src=x onerror=alert(1)>"
    alice = browser_of(scene.people.alice)
    answer = alice.post(ask_page(scene), OLD | {"do": "save", "label": name})
    row = SavedQuestion.objects.get()
    alice.post(saved_page(scene), {"question": str(row.uid), "do": "rename", "name": f"{name}!"})
    for page in (html(alice.get(answer.headers["Location"])), html(alice.get(saved_page(scene)))):
        assert "<img" not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


def rows() -> list[int]:
    """How many rows the record, the releases and the ledger have."""
    return [model.objects.count() for model in (AuditEvent, Query, Decision, Release, Diagnostic, LedgerEntry, SavedQuestion)]


def test_a_rehearsal_is_marked_as_made_up_and_leaves_nothing_behind(scene: Scene) -> None:
    before = rows()
    page = browser_of(scene.people.alice).post(ask_page(scene), OLD | {"do": "rehearse"})
    told = text(page)
    assert page.status_code == 200
    assert "made-up people" in told
    assert "No record was read, nothing was charged, nothing is kept" in told
    assert "of the 20 came within ±12" in told
    assert "age &gt;= 40" in html(page)  # the form stays as it was
    assert rows() == before
    scene.contract.refresh_from_db()
    assert scene.contract.spent_bound == LedgerEntry.objects.latest("id").balance_after


def test_a_rehearsal_needs_no_data_at_all(scene: Scene) -> None:
    """The file of the version is gone: nobody notices."""
    files = list(Path(settings.VERSIONS_DIR).glob(f"{scene.contract.version.uid}*"))
    assert files
    for file in files:
        file.unlink()
    page = browser_of(scene.people.alice).post(ask_page(scene), OLD | {"do": "rehearse"})
    assert "made-up people" in text(page)


def test_what_cannot_be_asked_cannot_be_rehearsed_and_says_why(scene: Scene) -> None:
    alice = browser_of(scene.people.alice)
    broken = OLD | {"do": "rehearse", "sql": "SELECT AVG(age) FROM people"}
    whole = alice.post(ask_page(scene), broken)
    part = alice.post(ask_page(scene), broken, headers={"HX-Request": "true"})
    assert whole.status_code == part.status_code == 400
    assert "This cannot be rehearsed yet" not in html(whole)  # the form above says it
    assert "This cannot be rehearsed yet" in html(part)


def test_a_rehearsed_histogram_shows_every_bin_with_its_noise(scene: Scene) -> None:
    body = OLD | {"do": "rehearse", "sql": "SELECT COUNT(*) FROM people GROUP BY city"}
    told = text(browser_of(scene.people.alice).post(ask_page(scene), body))
    for label in ("Oslo", "Rome", "Lima", "other", "missing"):
        assert label in told
    assert "of 5 came within their bound" in told


def test_those_who_cannot_ask_cannot_rehearse(scene: Scene) -> None:
    for user in (scene.people.carol, scene.people.dora):
        assert browser_of(user).post(ask_page(scene), OLD | {"do": "rehearse"}).status_code == 404
