"""Notices: written with what they tell of, in words without figures, counted in the header, seen by looking."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Role
from curator.models import Notice, Query
from curator.selectors import notices as reads
from curator.services import budget_requests, claiming, contracts, notices, queries
from tests.cast import person
from tests.record.story import OVER_40, Story, amount, begin
from tests.web.scene import browser_of
from tests.web.test_asking import text

Kind = Notice.Kind


@pytest.fixture
def story(db: None) -> Story:
    made = begin(allotments={"alice": "0.1"})
    Notice.objects.update(seen_at="2026-01-01T00:00:00Z")  # of being added
    return made


def words(story: Story, name: str) -> list[str]:
    """What waits to be seen by somebody, newest first."""
    found = reads.notices(getattr(story.people, name)).items
    return [line.words for line in found if line.seen_at is None]


def test_every_end_of_a_question_is_told_to_its_asker_alone(story: Story) -> None:
    alice = story.people.alice
    story.ask(alice, OVER_40, {"within": 20}, label="Forty and over")
    story.ask(alice, OVER_40, {"rho": "0.5"})
    story.ask(alice, OVER_40, {"rho": "0.5"}, under_scarcity="all_or_nothing")
    assert words(story, "alice") == [
        "Your question was declined",
        "Your question is answered, less exactly than asked",
        "Your question is answered",
    ]
    assert reads.notices(alice).items[2].about == "Forty and over"
    assert words(story, "bob") == words(story, "carol") == words(story, "dora") == []


def test_a_question_that_could_not_be_counted_is_told_too(story: Story) -> None:
    body = {"where": OVER_40, "accuracy": {"within": 20}}
    query = queries.submit(analyst=story.people.alice, contract=story.contract, body=body, key="k")[0]
    Query.objects.filter(pk=query.pk).update(attempts=claiming.MAX_ATTEMPTS)
    claiming.claim(story.contract.pk)
    assert words(story, "alice") == ["Your question could not be counted; nothing was charged"]


def test_a_budget_request_is_told_to_curators_and_its_decision_to_the_asker(story: Story) -> None:
    wanted = budget_requests.request(analyst=story.people.alice, contract=story.contract, amount=amount("0.2"), reason="more")
    assert words(story, "carol") == ["alice asks for more budget"]
    budget_requests.approve(curator=story.people.carol, request=wanted, granted=amount("0.1"))
    wanted = budget_requests.request(analyst=story.people.alice, contract=story.contract, amount=amount("0.2"), reason="more")
    budget_requests.reject(curator=story.people.carol, request=wanted, note="no")
    assert words(story, "alice") == ["Your request for more budget was turned down", "Your request for more budget was approved"]


def test_a_raise_is_told_to_the_other_curator_and_its_decision_to_the_proposer(story: Story) -> None:
    carol, cyril = story.people.carol, person("cyril", Role.CURATOR)
    contracts.add_member(curator=carol, contract=story.contract, user=cyril, role=Role.CURATOR)
    assert Notice.objects.get(user=cyril).kind == Kind.MEMBER
    first = contracts.raise_total(curator=carol, contract=story.contract, rho_total=amount("2"), reason="year two")
    assert reads.notices(cyril).items[0].words == "carol proposes to raise the total"
    contracts.reject_raise(curator=cyril, proposal=first, note="wait")
    second = contracts.raise_total(curator=carol, contract=story.contract, rho_total=amount("2"), reason="year two")
    contracts.approve_raise(curator=cyril, proposal=second)
    third = contracts.raise_total(curator=carol, contract=story.contract, rho_total=amount("3"), reason="year three")
    contracts.reject_raise(curator=carol, proposal=third, note="not yet")  # withdrawn: nobody needs telling
    assert words(story, "carol") == ["The raise that you proposed is applied", "The raise that you proposed was turned down"]


def test_whoever_loses_a_place_is_told_and_the_notice_leads_nowhere(story: Story) -> None:
    story.ask(story.people.alice, OVER_40, {"within": 20})
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=story.people.alice, role=Role.ANALYST)
    assert words(story, "alice") == ["Your place in a contract ended", "Your question is answered"]
    assert [line.leads for line in reads.notices(story.people.alice).items if line.seen_at is None] == [None, None]
    page = browser_of(story.people.alice).get("/notices/")
    assert page.status_code == 200


def test_looking_at_what_it_is_about_is_seeing_it(story: Story) -> None:
    alice, carol = browser_of(story.people.alice), browser_of(story.people.carol)
    query = story.ask(story.people.alice, OVER_40, {"within": 20})
    carol.get(f"/queries/{query.uid}/")
    assert len(words(story, "alice")) == 1  # that somebody else looked is no matter
    alice.get(f"/queries/{query.uid}/")
    assert words(story, "alice") == []
    wanted = budget_requests.request(analyst=story.people.alice, contract=story.contract, amount=1, reason="more")
    carol.get(f"/contracts/{story.contract.uid}/requests/")
    assert words(story, "carol") == []
    budget_requests.reject(curator=story.people.carol, request=wanted, note="no")
    alice.get(f"/contracts/{story.contract.uid}/budget/")
    assert words(story, "alice") == []


def test_the_header_counts_in_one_query_and_stays_short(story: Story) -> None:
    alice = story.people.alice
    notices.tell([alice] * 3, Kind.MEMBER, story.contract)
    assert '<b class="badge">3<span class="sr"> new</span></b>' in str(browser_of(alice).get("/").content.decode())
    notices.tell([alice] * 200, Kind.MEMBER, story.contract)
    with CaptureQueriesContext(
        connection,
    ) as few:
        page = browser_of(alice).get("/")
    assert "99+" in text(page)
    assert sum("curator_notice" in query["sql"] for query in few.captured_queries) == 1
    assert "new" not in text(browser_of(story.people.bob).get("/"))


def test_the_page_of_notices_costs_the_same_whatever_its_history(story: Story) -> None:
    client = browser_of(story.people.alice)
    counts = []
    for _ in range(2):
        story.ask(story.people.alice, OVER_40, {"within": 20})
        notices.tell([story.people.alice] * 40, Kind.MEMBER, story.contract)
        with CaptureQueriesContext(connection) as seen:
            assert client.get("/notices/").status_code == 200
        counts.append(len(seen.captured_queries))
    assert counts[0] == counts[1]
    first = reads.notices(story.people.alice)
    assert (len(first.items), first.first) == (30, True)
    second = reads.notices(story.people.alice, before=int(first.more))
    assert second.items[0].id < first.items[-1].id
    assert browser_of(story.people.alice).get("/notices/?before=x").status_code == 200


def test_all_of_them_are_seen_at_a_press_and_only_ones_own(story: Story) -> None:
    notices.tell([story.people.alice, story.people.bob], Kind.MEMBER, story.contract)
    assert browser_of(story.people.alice).post("/notices/seen/").status_code == 302
    assert (words(story, "alice"), len(words(story, "bob"))) == ([], 1)


def test_no_notice_has_a_figure(story: Story) -> None:
    query = story.ask(story.people.alice, OVER_40, {"within": 3, "confidence": "0.9"})
    answer = query.answers.get()
    line = reads.notices(story.people.alice).items[0]
    assert not any(character.isdigit() for character in line.words + line.about)
    assert str(answer.value) not in repr(line.words)
