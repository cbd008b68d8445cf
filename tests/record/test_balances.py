"""An explained balance ends, page by page, exactly in the balance that pages show."""

from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from curator.selectors.balances import Balance, Line, explain
from tests.record.story import Story, busy_week


@pytest.fixture
def story(db: None, settings: Any) -> Story:
    settings.TICK_MS = 0
    return busy_week()


def pages(story: Story, analyst: User | None, limit: int) -> list[Balance]:
    """All pages of an explanation, each begun where the one before ended."""
    found = [explain(story.contract, analyst, limit=limit)]
    while found[-1].more:
        found.append(explain(story.contract, analyst, after=int(found[-1].more), limit=limit))
    return found


def lines(found: list[Balance]) -> list[Line]:
    return [line for page in found for line in page.lines]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_every_balance_is_explained_whatever_the_page(story: Story, limit: int) -> None:
    for analyst in (None, story.people.alice, story.people.bob):
        found = pages(story, analyst, limit)
        assert found[-1].agrees, (analyst, found[-1].end, found[-1].shown)
        assert [page.before for page in found[1:]] == [page.end for page in found[:-1]]
        assert lines(found) == lines(pages(story, analyst, 50))
    alone = [pages(story, analyst, limit)[-1].end for analyst in (story.people.alice, story.people.bob)]
    whole = pages(story, None, limit)[-1].end
    assert (sum(each.spent for each in alone), sum(each.est_spent for each in alone)) == (whole.spent, whole.est_spent)


def test_a_page_costs_the_same_queries_wherever_it_is(story: Story) -> None:
    def cost(after: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            explain(story.contract, story.people.alice, after=after, limit=2)
        return len(queries)

    assert len({cost(after) for after in (1, 10, 20)}) == 1


def test_a_total_that_was_changed_by_hand_is_not_explained(story: Story, owner_connection: psycopg.Connection[Any]) -> None:
    owner_connection.execute("UPDATE curator_contract SET spent_bound = spent_bound + 1")
    story.contract.refresh_from_db()
    assert not explain(story.contract, None).agrees
