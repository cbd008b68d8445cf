"""Dora verifies: a true record passes, and whatever was changed in it behind the services' back is found and named."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from curator.mechanism.chain import next_head
from curator.models import AuditEvent, Query, Release
from curator.services import audit
from curator.services.audit import Event, chain_of
from curator.services.verification import verify
from tests.cast import make_contract
from tests.record.events import data_of
from tests.record.story import Story, begin, busy_week
from tests.record.tampering import Owner, changed, columns, deleted, doubled, unguard
from tests.record.verified import verify_for

#: What may differ without the record contradicting itself: nothing is decided, charged or shown as an answer by it.
FREE = {
    "allotment": {"created_at"}, "analystbudget": set(), "answer": set(), "auditevent": set(), "audithead": set(),
    "budgetrequest": {"created_at", "decided_at"}, "contract": {"uid", "created_at", "opened_at", "created_by_id"},
    "decision": set(), "descriptor": set(), "diagnostic": set(), "ledgerentry": {"created_at"},
    "query": {"key", "position", "body_digest", "label", "attempts", "outages", "arrived_at", "claimed_at", "finished_at"},
    "querybin": set(), "release": {"created_at", "group"}, "support": set(), "totalraise": {"created_at", "decided_at"},
}  # fmt: skip


def test_a_busy_week_is_consistent(db: None) -> None:
    story = busy_week()
    report = verify()
    assert report.first_difference is None
    kinds = set(AuditEvent.objects.filter(chain=chain_of(story.contract)).values_list("kind", flat=True))
    assert {"query.decided", "diagnostic.released", "budget.approved", "contract.raised", "contract.version"} <= kinds
    assert set(Query.objects.values_list("state", flat=True)) == {"answered", "partial", "declined", "cancelled"}
    assert report.checked["query"] == 11
    assert report.checked["release"] == 14


def test_whatever_column_of_the_record_is_changed_verification_says_so(owner_connection: Owner) -> None:
    busy_week()
    unguard(owner_connection)
    mine = [column for column in columns(owner_connection) if column.name not in FREE.get(column.table, {column.name})]
    missed, unnamed = [], []
    for column in mine:
        with changed(owner_connection, column) as place:
            found = verify().first_difference
        if found is None:
            missed.append(column)
        elif place not in found:
            unnamed.append((place, column.name, found))
    assert missed == []
    assert {name for _, name, _ in unnamed} <= {
        "seq",
        "chain",
        "event_seq",
        "uid",
        "contract_id",
        "query_id",
        "descriptor_id",
        "label",
    }
    assert len(mine) > 120
    assert verify().ok  # all of it was put back


def test_a_row_taken_away_or_put_in_is_found(owner_connection: Owner) -> None:
    busy_week()
    unguard(owner_connection)
    for table in FREE.keys() - {"contract", "audithead"}:
        with deleted(owner_connection, table):
            assert not verify().ok, f"a {table} was deleted"
    for table in FREE.keys() - {"contract", "audithead", "descriptor", "decision"}:  # a decision's key is its question
        with doubled(owner_connection, table):
            assert not verify().ok, f"a {table} was added"
    assert verify().ok


def test_two_answers_changed_places(owner_connection: Owner) -> None:
    story = begin()
    ages = iter(range(40, 99))
    while len(set(Release.objects.values_list("value", flat=True))) < 2:  # two noisy counts may be alike
        story.ask(story.people.alice, {"column": "age", "at_least": next(ages)}, {"within": 20})
    unguard(owner_connection)
    ends = "(SELECT min(id) FROM curator_release), (SELECT max(id) FROM curator_release)"
    both = f"(SELECT sum(value) FROM curator_release WHERE id IN ({ends}))"
    owner_connection.execute(f"UPDATE curator_release SET value = {both} - value WHERE id IN ({ends})")
    assert "release 1: value" in str(verify().first_difference)


def test_an_event_hashed_anew_together_with_all_that_follow_still_contradicts_the_rows(owner_connection: Owner) -> None:
    """The chain alone cannot tell; rows and the receipts in them can."""
    story = begin()
    story.ask(story.people.alice, {"column": "age", "at_least": 40}, {"within": 20})
    unguard(owner_connection)
    rehash(story, owner_connection, kind="contract.drafted", old='"actor":"carol"', new='"actor":"cyril"')
    assert "decision 1: head" in str(verify().first_difference)
    rehash(story, owner_connection, kind="query.decided", old='"met":true', new='"met":false')
    owner_connection.execute("UPDATE curator_decision SET head = e.head FROM curator_auditevent e WHERE e.seq = event_seq")
    assert "met is False, expected True" in str(verify().first_difference)


def rehash(story: Story, owner: Owner, *, kind: str, old: str, new: str) -> None:
    """Change the bytes of one event and rebuild the chain from there, head included."""
    chain = chain_of(story.contract)
    previous = "0" * 64
    for event in AuditEvent.objects.filter(chain=chain).order_by("seq"):
        body = bytes(event.body)
        if event.kind == kind:
            body = body.replace(old.encode(), new.encode())
        actor, head = json.loads(body)["actor"], next_head(previous, body)
        owner.execute(
            "UPDATE curator_auditevent SET body = %s, actor = %s, previous = %s, head = %s WHERE id = %s",
            [body, actor, previous, head, event.pk],
        )
        previous = head
    owner.execute("UPDATE curator_audithead SET head = %s WHERE chain = %s", [previous, chain])


@pytest.mark.parametrize("kind", ["query.decided", "query.submitted", "contract.raised", "budget.approved", "no.such.kind"])
def test_an_event_with_senseless_operands_is_a_difference_and_no_crash(db: None, kind: str) -> None:
    story = begin()
    with transaction.atomic():
        audit.append(chain_of(story.contract), [Event(kind, "carol", {"bins": "?", "before": None})])
    assert "auditevent 8" in str(verify().first_difference)


def test_the_command_says_what_it_looked_at_and_fails_with_the_row(owner_connection: Owner) -> None:
    story = begin()
    story.ask(story.people.alice, {"column": "age", "at_least": 40}, {"within": 20})
    said = StringIO()
    call_command("verify", stdout=said)
    assert "consistent" in said.getvalue()
    assert "1 ledgerentry" in said.getvalue()
    unguard(owner_connection)
    owner_connection.execute(
        "UPDATE curator_ledgerentry SET load = load - 1, quota = quota - 1, balance_after = balance_after - 1"
    )
    with pytest.raises(CommandError, match="ledgerentry 1: load is") as failure:
        call_command("verify", "--contract", str(story.contract.uid))
    assert failure.value.returncode == 1


def test_dora_verifying_is_itself_on_the_record(db: None) -> None:
    story = begin()
    report = verify_for(story.people.dora, [story.contract])
    assert report.ok
    assert data_of(story.contract, "record.verified")["ok"] is True
    assert verify().ok


def test_what_is_found_in_one_contract_is_told_on_its_own_chain_alone(db: None) -> None:
    story = begin()
    other = make_contract(story.people)
    report = verify_for(story.people.dora, [story.contract, other])
    assert report.ok
    told = [data_of(contract, "record.verified")["checked"] for contract in (story.contract, other)]
    assert [checked["contracts"] for checked in told] == [1, 1]


@pytest.mark.parametrize("change", ["k = 5", "person_column = 'somebody'", "\"table\" = 'others'"])
def test_a_version_that_means_something_else_now_is_found(owner_connection: Owner, change: str) -> None:
    story = begin()
    unguard(owner_connection)
    owner_connection.execute(f"UPDATE curator_datasetversion SET {change} WHERE id = {story.contract.version_id}")
    found = verify([story.contract]).first_difference
    assert found is not None and "datasetversion" in found
