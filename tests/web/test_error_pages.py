"""Pages of what went wrong: calm, styled, with a way on; and the one of a failure comes out whatever has failed."""

import re
from uuid import uuid4

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from rdp_site.environment import ROOT
from tests.cast import Cast
from tests.databases import away
from tests.web.scene import browser_of
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

BARE = ("400.html", "403.html", "403_csrf.html", "500.html")
TAG = re.compile(r"{%\s*(\w+)|{{")


def leads_on(page: str) -> bool:
    """Home and the glossary are a step away."""
    return {"/", "/words/"} <= set(re.findall(r'<a [^>]*href="([^"]*)"', page))


@pytest.mark.parametrize("signed_in", [True, False])
def test_with_the_database_away_the_page_of_a_failure_comes_out_whole(people: Cast, *, signed_in: bool) -> None:
    alice = browser_of(people.alice) if signed_in else Client()
    alice.raise_request_exception = False
    addresses = ["/invitation/x/", *(["/", "/words/", "/nowhere/", f"/queries/{uuid4()}/"] if signed_in else [])]
    with away():
        answers = [alice.get(address) for address in addresses]
        answers.append(alice.post("/sign-in/", {"username": "alice", "password": "a guess of SECRET42"}))
        style = alice.get("/static/curator/site.css")
    for answer in answers:
        assert answer.status_code == 500
        assert "Something failed on our side" in text(answer)
        assert leads_on(html(answer))
        assert not re.search(r"127\.0\.0\.1|psycopg|Traceback|SECRET42|alice", html(answer))
    assert style.status_code == 200


@pytest.mark.parametrize("name", BARE)
def test_pages_that_must_come_out_compute_nothing_and_name_styles_that_there_are(name: str) -> None:
    for each in (name, "bare.html"):
        source = (ROOT / "templates" / each).read_text(encoding="utf-8")
        assert set(TAG.findall(source)) <= {"extends", "block", "endblock"}, each
        named = re.findall(r'"/static/([^"]*)"', source)
        assert all(finders.find(file) for file in named), each
        assert named or each != "bare.html"


def test_each_of_them_leads_home_and_to_the_words(people: Cast) -> None:
    alice = browser_of(people.alice)
    strict = Client(enforce_csrf_checks=True)
    found = {
        404: [alice.get("/nowhere/"), alice.get(f"/queries/{uuid4()}/"), Client().get("/nowhere/")],
        403: [strict.post("/sign-in/", {"username": "alice"})],
        400: [Client().get("/", headers={"Host": "elsewhere.example"})],
    }
    for status, answers in found.items():
        for answer in answers:
            assert answer.status_code == status
            assert leads_on(html(answer)), (status, html(answer))


def test_the_words_are_there_for_whoever_has_not_signed_in_yet() -> None:
    answer = Client().get("/words/")
    assert (answer.status_code, "ρ (rho)" in text(answer)) == (200, True)
