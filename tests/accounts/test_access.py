"""Everyone sees only their own; what is somebody else's looks exactly like what is not there."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.utils import timezone

from accounts import access
from accounts.models import Membership, Role, User
from accounts.services import deactivate
from curator.mechanism.errors import NotYours
from curator.models import AuditEvent
from curator.services import budget_requests, contracts, denials
from curator.services.audit import SITE, chain_of
from tests.cast import make_version, person
from tests.record.story import OVER_40, Story, amount, begin

Fetch = Callable[[Any, Any], object]


@pytest.fixture
def story(db: None) -> Story:
    return begin(allotments={"alice": "0.1"})


def refusal(fetch: Fetch, visitor: access.Visitor, what: object) -> tuple[object, ...]:
    """All that a refusal tells."""
    with pytest.raises(NotYours) as error:
        fetch(visitor, what)
    told = error.value
    return type(told), told.code, told.detail, told.field, tuple(told.operands), told.args, told.__cause__


def strangers(story: Story) -> list[access.Visitor]:
    """People who have no place in the story, each in another way."""
    eve, cyril, trudy = person("eve", Role.ANALYST), person("cyril", Role.CURATOR), person("trudy", Role.AUDITOR)
    away = person("away", Role.ANALYST, Role.CURATOR, Role.AUDITOR)
    for role in Role.values:
        Membership.objects.create(contract=story.contract, user=away, role=role, added_by=story.people.carol, active=False)
    return [eve, cyril, trudy, away, AnonymousUser()]


def test_a_strangers_refusal_tells_nothing_apart(story: Story) -> None:
    query = story.ask(story.people.alice, OVER_40, {"within": 20})
    wanted = budget_requests.request(analyst=story.people.alice, contract=story.contract, amount=1, reason="x")
    cyril = person("second", Role.CURATOR)
    contracts.add_member(curator=story.people.carol, contract=story.contract, user=cyril, role=Role.CURATOR)
    proposal = contracts.raise_total(curator=cyril, contract=story.contract, rho_total=amount("2"), reason="x")
    there: list[tuple[Fetch, object]] = [
        (access.contract_for, story.contract.uid), (access.query_for, query.uid), (access.request_for, wanted.uid),
        (access.raise_for, proposal.uid), (access.dataset_for, story.contract.dataset.uid),
        (access.version_for, story.contract.version.uid),
    ]  # fmt: skip
    told, n = set(), 0
    for visitor in strangers(story):
        for fetch, uid in there:
            for what in (uid, str(uid), uuid.uuid4(), "no uid", "", "../etc"):
                told.add(refusal(fetch, visitor, what))
                n += 1
        told.add(refusal(access.chain_for, visitor, chain_of(story.contract)))
        told.add(refusal(access.chain_for, visitor, str(uuid.uuid4())))
    print(f"{n} refusals, {len(told)} ways of saying so")
    assert len(told) == 1


def test_what_each_of_the_cast_may_fetch(story: Story) -> None:
    alice, bob, carol, dora = story.people.alice, story.people.bob, story.people.carol, story.people.dora
    query = story.ask(alice, OVER_40, {"within": 20})
    wanted = budget_requests.request(analyst=alice, contract=story.contract, amount=1, reason="x")
    may: list[tuple[Callable[[User], object], set[User]]] = [
        (lambda who: access.contract_for(who, story.contract.uid), {alice, bob, carol, dora}),
        (lambda who: access.contract_for(who, story.contract.uid, role=Role.ANALYST), {alice, bob}),
        (lambda who: access.contract_for(who, story.contract.uid, role=Role.CURATOR), {carol}),
        (lambda who: access.contract_for(who, story.contract.uid, role=Role.AUDITOR), {dora}),
        (lambda who: access.query_for(who, query.uid), {alice, carol, dora}),
        (lambda who: access.query_for(who, query.uid, own=True), {alice}),
        (lambda who: access.request_for(who, wanted.uid), {alice, carol}),
        (lambda who: access.request_for(who, wanted.uid, role=Role.CURATOR), {carol}),
        (lambda who: access.dataset_for(who, story.contract.dataset.uid), {carol}),
        (lambda who: access.version_for(who, story.contract.version.uid), {carol}),
        (lambda who: access.chain_for(who, chain_of(story.contract)), {carol, dora}),
        (lambda who: access.event_for(who, chain_of(story.contract), 1), {carol, dora}),
        (lambda who: access.chain_for(who, SITE), {dora}),
    ]
    for fetch, allowed in may:
        assert {who for who in (alice, bob, carol, dora) if _fetches(fetch, who)} == allowed


def _fetches(fetch: Callable[[User], object], who: User) -> bool:
    try:
        fetch(who)
    except NotYours:
        return False
    return True


def test_a_draft_is_seen_by_those_who_make_it(story: Story) -> None:
    people = story.people
    draft = contracts.draft(curator=people.carol, version=make_version(people.carol), name="next", rho_total=1)
    contracts.add_member(curator=people.carol, contract=draft, user=people.alice, role=Role.ANALYST, allotment=None)
    assert access.contract_for(people.carol, draft.uid) == draft
    with pytest.raises(NotYours):
        access.contract_for(people.alice, draft.uid)
    contracts.open_draft(curator=people.carol, contract=draft, stands=True)
    assert access.contract_for(people.alice, draft.uid) == draft


def test_whoever_left_or_is_switched_off_sees_nothing_not_even_their_own(story: Story) -> None:
    query = story.ask(story.people.alice, OVER_40, {"within": 20})
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=story.people.alice, role=Role.ANALYST)
    with pytest.raises(NotYours):
        access.query_for(story.people.alice, query.uid)
    bob = deactivate(by=story.people.carol, user=story.people.bob)
    with pytest.raises(NotYours):
        access.contract_for(bob, story.contract.uid)


def test_a_denied_visit_is_on_the_sites_chain_whatever_happens_around_it(story: Story) -> None:
    access.denied(story.people.bob, "GET /queries/x\r\nINFO ok/\u202e")
    assert denials.tell(timezone.now() + timedelta(minutes=1)) == 1
    event = json.loads(bytes(AuditEvent.objects.get(chain=SITE, kind="access.denied").body))
    assert (event["actor"], event["data"]["count"]) == ("bob", 1)
    assert event["data"]["people"] == [{"who": "bob", "count": 1, "first": "GET /queries/x\\u000d\\u000aINFO ok/\\u202e"}]
    with transaction.atomic(), pytest.raises(transaction.TransactionManagementError):
        access.denied(story.people.bob, "inside somebody's transaction, which could take it back")


def test_visits_that_were_denied_within_a_minute_are_one_event(story: Story) -> None:
    for visitor in (story.people.bob, AnonymousUser(), story.people.bob):
        access.denied(visitor, "GET /audit/")
    access.refused(story.people.alice, "POST /api/v1/contracts/", "bad_json")
    denials.tell(timezone.now() + timedelta(minutes=1))
    events = AuditEvent.objects.filter(chain=SITE, kind__in=[denials.ACCESS, denials.REFUSED]).order_by("kind")
    told = [json.loads(bytes(event.body)) for event in events]
    assert [(event["kind"], event["actor"]) for event in told] == [("access.denied", ""), ("request.refused", "alice")]
    assert [(each["who"], each["count"]) for each in told[0]["data"]["people"]] == [("bob", 2), ("", 1)]
    assert told[1]["data"]["people"][0]["first"] == "bad_json: POST /api/v1/contracts/"
