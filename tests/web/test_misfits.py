"""Carol is told which cells do not fit, and freezes nothing that nobody could use without saying that she means it."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from curator.models import AuditEvent, Denial, Upload
from curator.services import datasets, denials, upload_files
from tests.cast import Cast
from tests.uploads import served
from tests.web.scene import browser_of
from tests.web.test_asking import html, text
from tests.web.test_uploads import declare, freeze, send

pytestmark = pytest.mark.usefixtures("db")

DAYS = "id;born\n" + "".join(f"{place};{place % 28 + 1:02}.03.1970\n" for place in range(30)) + "x;<b>no\u202eday</b>\n"
DATE = {"kind": "date", "low": "1900-01-01", "high": "2020-12-31", "do": "save"}


def checked(carol: Client, content: str = DAYS, **column: Any) -> Upload:
    """A file with its second column declared, read by what is declared; she asked to see the texts that do not fit."""
    upload = send(carol, content)
    assert declare(carol, upload, 1, **{**DATE, **column}).status_code == 303
    return check(carol, upload, acknowledged="on")


def check(carol: Client, upload: Upload, **more: str) -> Upload:
    carol.post(f"/uploads/{upload.uid}/", {"do": "check", **more})
    return served(upload)


def page(carol: Client, upload: Upload, more: str = "") -> str:
    return unescape(text(carol.get(f"/uploads/{upload.uid}/{more}")))


def test_day_first_dates_are_read_once_the_form_is_declared(carol: Client) -> None:
    upload = send(carol, DAYS)
    assert "30 as dd.mm.yyyy" in page(carol, upload)
    assert '<option value="dd.mm.yyyy">' in html(carol.get(f"/uploads/{upload.uid}/columns/1/"))
    declare(carol, upload, 1, **DATE, date_format="dd.mm.yyyy")
    assert "in the file as dd.mm.yyyy" in page(carol, check(carol, upload))
    assert "1 unreadable" in page(carol, upload, "freeze/")
    assert freeze(carol, upload).status_code == 303
    version = served(upload).version
    assert version is not None
    assert version.schema["columns"][0]["date_format"] == "dd.mm.yyyy"
    report = datasets.parse_report(upload)
    assert report is not None
    assert report["cells"] == {"born": {"unreadable": 1}}


def test_the_first_page_says_which_dates_can_be_read(carol: Client) -> None:
    told = text(carol.get("/datasets/new/"))
    for form in ("yyyy-mm-dd", "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "yyyy/mm/dd", "yyyymmdd"):
        assert form in told, form


def test_a_column_of_which_no_cell_fits_is_frozen_only_with_her_word(carol: Client) -> None:
    upload = checked(carol)
    assert "I know that every cell of born becomes “other”." in page(carol, upload, "freeze/")
    events = AuditEvent.objects.count()
    for known in ({}, {"misfits": "id"}):
        answer = freeze(carol, upload, **known)
        assert (answer.status_code, AuditEvent.objects.count()) == (400, events)
    assert "do not fit" in unescape(text(freeze(carol, upload)))
    assert denials.tell(datetime.now(UTC) + timedelta(minutes=1)) == 0
    assert (Denial.objects.count(), AuditEvent.objects.count()) == (0, events)
    upload.refresh_from_db()
    assert upload.state == "described"
    assert freeze(carol, upload, misfits="born").status_code == 303
    body = bytes(AuditEvent.objects.latest("pk").body)
    assert (b"misfit" in body, b"born" in body, b"31" in re.sub(rb'"at":"[^"]*"|[0-9a-f-]{36,}', b"", body)) == (
        False,
        False,
        False,
    )


@pytest.mark.parametrize(("good", "asks"), [(15, True), (16, False)])
def test_she_is_asked_where_more_than_half_of_what_is_there_does_not_fit(carol: Client, good: int, asks: bool) -> None:
    days = ["1970-01-01"] * good + ["never"] * (31 - good) + [""] * 20
    upload = checked(carol, "id;born\n" + "".join(f"{place};{day}\n" for place, day in enumerate(days)), missing="on")
    assert ("most cells of born do not fit (16 of 31)" in page(carol, upload, "freeze/")) is asks
    assert freeze(carol, upload).status_code == (400 if asks else 303)


@pytest.mark.parametrize(("column", "told"), [
    ({"out_of_domain": "missing", "missing": "on"}, "every cell of born becomes “missing”"),
    ({"out_of_domain": "clamp"}, "every cell of born becomes the lowest value"),
    ({"kind": "category", "values": "F", "not_listed": "other"}, "every cell of born becomes “other”"),
    ({"out_of_domain": "clamp", "date_format": "dd.mm.yyyy", "high": "1950-01-01"}, "every cell of born is moved to a bound"),
])  # fmt: skip
def test_it_says_what_becomes_of_the_cells(carol: Client, column: dict[str, str], told: str) -> None:
    assert told in page(carol, checked(carol, **column), "freeze/")


def test_what_was_found_of_another_declaration_is_not_told_of_this_one(carol: Client) -> None:
    upload = checked(carol)
    declare(carol, upload, 1, **DATE, date_format="dd.mm.yyyy")
    told = page(carol, upload, "freeze/")
    assert "I know that" not in told
    assert "Not checked against the file since it was declared: born" in told
    assert "no\\u202eday" not in page(carol, upload, "columns/1/")


def test_texts_that_do_not_fit_are_listed_for_her_alone_and_deleted_with_the_file(carol: Client, people: Cast) -> None:
    upload = checked(carol, date_format="dd.mm.yyyy")
    shown = html(carol.get(f"/uploads/{upload.uid}/columns/1/"))
    assert "&lt;b&gt;no\\u202eday&lt;/b&gt;" in shown
    assert "no\\u202eday" not in page(carol, upload) + page(carol, upload, "freeze/")
    assert browser_of(people.alice).get(f"/uploads/{upload.uid}/columns/1/").status_code == 404
    assert "no\\u202eday" not in str(Upload.objects.filter(pk=upload.pk).values().get())
    assert freeze(carol, upload).status_code == 303
    served(upload)
    assert not upload_files.offenders_path(upload).exists()
    assert not any(b"day<" in bytes(event.body) for event in AuditEvent.objects.all())


def test_numbers_only_unless_she_says_that_she_knows_what_texts_are(carol: Client) -> None:
    upload = check(carol, checked(carol, date_format="dd.mm.yyyy"))
    shown = page(carol, upload, "columns/1/")
    assert "1 unreadable" in shown and "is listed once you say" in shown
    assert "no\\u202eday" not in shown, "neither of this reading nor of the one before"
    (event,) = AuditEvent.objects.filter(kind="misfits.shown")
    body = bytes(event.body)
    assert (event.actor, b'"columns":["born"]' in body, b"day" in body) == ("carol", True, False)
    asked = check(carol, upload, acknowledged="on")
    assert "no\\u202eday" in page(carol, asked, "columns/1/")
    carol.post(f"/uploads/{asked.uid}/suggest/", {"columns": ["born"], "acknowledged": "on"})
    assert "no\\u202eday" not in page(carol, served(asked), "columns/1/"), "a word is good for one reading"


def test_a_column_that_the_file_has_not_is_no_denied_access(carol: Client, people: Cast) -> None:
    upload = send(carol, DAYS)
    assert carol.get(f"/uploads/{upload.uid}/columns/2/").status_code == 404
    assert not Denial.objects.exists()
    assert browser_of(people.alice).get(f"/uploads/{upload.uid}/columns/1/").status_code == 404
    assert Denial.objects.get().actor == "alice"


def test_they_are_deleted_with_a_file_that_is_discarded_too(carol: Client) -> None:
    discarded = checked(carol)
    assert upload_files.offenders_path(discarded).exists()
    carol.post(f"/uploads/{discarded.uid}/", {"do": "discard", "reason": "The wrong year"})
    assert not upload_files.offenders_path(discarded).exists()


def test_at_most_twenty_texts_are_listed_the_most_frequent_first(carol: Client) -> None:
    cells = [f"never {place}" for place in range(300)] + ["never 250"] * 5 + ["never 7"] * 9 + ["x" * 500]
    upload = checked(carol, "id;born\n" + "".join(f"{place};{cell}\n" for place, cell in enumerate(cells)))
    shown = page(carol, upload, "columns/1/")
    assert shown.count("never ") == 20
    assert re.search(r"never 7\s+10", shown)
    assert re.search(r"other texts\s+286", shown)
    assert "x" * 61 not in shown


def test_only_what_fits_the_kind_is_offered_and_spellings_say_which_side_is_which(carol: Client) -> None:
    shown = html(carol.get(f"/uploads/{send(carol).uid}/columns/2/"))
    listed = re.search(r'<select name="not_listed".*?</select>', shown, re.DOTALL)
    assert listed is not None
    assert "nearest bound" not in listed.group()
    assert "(in the file = declared value)" in shown


def test_the_title_is_among_what_will_be_public(carol: Client) -> None:
    upload = checked(carol, title="Date of birth")
    assert "Date of birth" in page(carol, upload, "freeze/")


def test_what_the_worker_is_doing_is_told_only_while_it_does(carol: Client) -> None:
    upload = send(carol)
    again = carol.post(f"/uploads/{upload.uid}/", {"do": "check"}, follow=True)
    assert "The worker is reading the file" in text(again)
    assert list(again.context["messages"]) == []
    declare(carol, served(upload), 4, **{**DATE, "missing": "on"})
    handed = carol.post(f"/uploads/{upload.uid}/freeze/", {"unit": "record", "table": "people"}, follow=True)
    assert "The worker has the file" in text(handed)
    assert list(handed.context["messages"]) == []
