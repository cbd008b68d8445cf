"""Records of the less common kinds: contracts that ended, people with several records, questions that fail or wait."""

from datetime import UTC, date, datetime

import pytest

from curator.models import Contract, Query
from curator.services import contracts, execution, queries
from curator.services.verification import verify
from curator.services.verification.state import State
from tests.cast import ROWS, cast, make_contract, make_version
from tests.record.story import OVER_40, WOMEN, Story, begin
from tests.record.tampering import Owner

LAST_DAY = date(2030, 6, 30)


@pytest.mark.parametrize(
    ("at", "open_then"),
    [
        (datetime(2030, 6, 30, 23, 59, 59, tzinfo=UTC), (True,)),
        (datetime(2030, 7, 1, 0, 0, 30, tzinfo=UTC), (True, False)),  # decided a moment before its event was stamped, or after
        (datetime(2030, 7, 1, 0, 2, 0, tzinfo=UTC), (False,)),
    ],
)
def test_a_contract_lasts_through_its_last_day(at: datetime, open_then: tuple[bool, ...]) -> None:
    state = State(contract=Contract(ends_on=LAST_DAY), state=Contract.State.OPEN)
    assert state.openness(at) == open_then
    assert State(contract=Contract(ends_on=LAST_DAY), state=Contract.State.FROZEN).openness(at) == (False,)


def wait(story: Story, key: str) -> Query:
    body = {"where": WOMEN, "accuracy": {"within": 20}}
    return queries.submit(analyst=story.people.alice, contract=story.contract, body=body, key=key)[0]


def test_questions_left_over_when_a_contract_is_frozen_or_closed(db: None) -> None:
    story = begin()
    story.ask(story.people.bob, OVER_40, {"within": 20})
    wait(story, "first")
    assert verify().first_difference is None  # while it waits
    contracts.freeze(curator=story.people.carol, contract=story.contract, reason="holidays")
    execution.run(story.contract.pk)
    contracts.reopen(curator=story.people.carol, contract=story.contract, reason="back")
    wait(story, "second")
    contracts.close(curator=story.people.carol, contract=story.contract, reason="over")
    execution.run(story.contract.pk)
    assert verify().first_difference is None
    assert list(Query.objects.order_by("id").values_list("state", flat=True)) == ["answered", "declined", "declined"]


def test_people_with_up_to_three_records(db: None) -> None:
    people = cast()
    rows = [{**row, "id": str(number // 2)} for number, row in enumerate(ROWS * 4)]
    version = make_version(people.carol, rows=rows, person_column="id", k=3)
    story = Story(people, make_contract(people, version, rho_total="0.1", xi="0.2"))
    by_city = [{"column": "city"}]
    assert story.ask(people.alice, OVER_40, {"within": 10, "simultaneous": True}, group_by=by_city).state == "partial"
    story.ask(people.bob, OVER_40, {"standard_error": "30"}, group_by=by_city)
    story.ask(people.bob, WOMEN, {"relative": "0.05"})
    assert verify().first_difference is None


def test_two_contracts_over_one_version_neither_share_credit_nor_a_chain(db: None) -> None:
    people = cast()
    version = make_version(people.carol, rows=ROWS)
    first, second = (Story(people, make_contract(people, version)) for _ in range(2))
    for story in (first, second):
        story.ask(people.alice, OVER_40, {"within": 20}, key=f"of {story.contract.uid}")
        story.contract.refresh_from_db()
        assert story.contract.spent_bound > 0
    assert verify().first_difference is None


def test_a_cut_tail_shows_where_rows_tell_more_than_the_chain(owner_connection: Owner) -> None:
    story = begin()
    story.ask(story.people.alice, OVER_40, {"within": 20})
    for table in ("auditevent", "audithead"):
        owner_connection.execute(f"ALTER TABLE curator_{table} DISABLE TRIGGER USER")
    owner_connection.execute("DELETE FROM curator_auditevent WHERE kind = 'query.decided'")
    owner_connection.execute(
        "UPDATE curator_audithead h SET seq = e.seq, head = e.head FROM curator_auditevent e "
        "WHERE e.chain = h.chain AND e.seq = (SELECT max(seq) FROM curator_auditevent WHERE chain = h.chain)"
    )
    assert "spent_bound" in str(verify().first_difference)
