"""Who belongs to a contract and what each may spend: nothing spent is ever forgotten, and nobody sets their own limit."""

import pytest

from accounts.models import Membership, Role
from accounts.services import deactivate, reactivate
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused
from curator.models import Allotment, AnalystBudget, Notice, Query
from curator.services import contracts, queries
from tests.cast import person
from tests.record.events import bodies_of, data_of, kinds_of
from tests.record.story import OVER_40, Story, amount, begin


@pytest.fixture
def story(db: None) -> Story:
    return begin(allotments={"alice": "0.05"})


def budget(story: Story, name: str) -> AnalystBudget:
    return AnalystBudget.objects.get(contract=story.contract, analyst__username=name)


def test_no_limit_and_nothing_at_all_are_two_different_things(story: Story) -> None:
    carol, contract = story.people.carol, story.contract
    assert budget(story, "bob").allotment is None
    contracts.set_allotment(curator=carol, contract=contract, analyst=story.people.bob, rho=0, reason="pause")
    assert budget(story, "bob").allotment == 0
    assert story.ask(story.people.bob, OVER_40, {"within": 20}).state == Query.State.DECLINED
    contracts.set_allotment(curator=carol, contract=contract, analyst=story.people.bob, rho=None, reason="go on")
    assert story.ask(story.people.bob, OVER_40, {"within": 20}).state == Query.State.ANSWERED
    assert [row.rho for row in Allotment.objects.filter(analyst=story.people.bob).order_by("id")] == [None, 0, None]


def test_with_nothing_left_what_is_known_already_is_still_given(story: Story) -> None:
    story.ask(story.people.alice, OVER_40, {"within": 20})
    contracts.set_allotment(curator=story.people.carol, contract=story.contract, analyst=story.people.bob, rho=0, reason="pause")
    assert story.ask(story.people.bob, OVER_40, {"within": 20}).state == Query.State.ANSWERED


def test_an_allotment_is_never_set_below_what_is_spent(story: Story) -> None:
    story.ask(story.people.alice, OVER_40, {"within": 20})
    spent = budget(story, "alice").spent
    assert spent > 0
    with pytest.raises(BadInput) as refusal:
        contracts.set_allotment(
            curator=story.people.carol, contract=story.contract, analyst=story.people.alice, rho=spent - 1, reason="less"
        )
    assert (refusal.value.code, refusal.value.field) == ("below_spent", "rho")
    contracts.set_allotment(
        curator=story.people.carol, contract=story.contract, analyst=story.people.alice, rho=spent, reason="enough"
    )
    assert data_of(story.contract, "allotment.set")["after"] == spent


def test_alice_leaves_and_comes_back_and_her_spending_is_still_hers(story: Story) -> None:
    carol, alice, contract = story.people.carol, story.people.alice, story.contract
    story.ask(alice, OVER_40, {"within": 20})
    spent = budget(story, "alice").spent
    contracts.remove_member(curator=carol, contract=contract, user=alice, role=Role.ANALYST)
    assert budget(story, "alice").spent == spent
    with pytest.raises(BadInput) as refusal:
        contracts.add_member(curator=carol, contract=contract, user=alice, role=Role.ANALYST, allotment=spent - 1)
    assert refusal.value.code == "below_spent"
    contracts.add_member(curator=carol, contract=contract, user=alice, role=Role.ANALYST, allotment=amount("0.05"))
    assert budget(story, "alice").spent == spent
    assert Membership.objects.filter(user=alice, contract=contract).count() == 1
    changed = data_of(contract, "allotment.set")
    assert (changed["before"], changed["after"]) == (amount("0.05"), amount("0.05"))


def test_alices_account_is_switched_off_and_made_again_and_her_spending_is_still_hers(story: Story) -> None:
    alice = story.people.alice
    story.ask(alice, OVER_40, {"within": 20})
    spent = budget(story, "alice").spent
    deactivate(by=story.people.carol, user=alice)
    assert reactivate(by=story.people.carol, user=alice) == alice
    assert budget(story, "alice").spent == spent > 0
    assert AnalystBudget.objects.filter(contract=story.contract).count() == 2


def test_a_waiting_question_of_somebody_who_left_is_cancelled_uncharged(story: Story) -> None:
    alice = story.people.alice
    query = queries.submit(analyst=alice, contract=story.contract, body={"where": OVER_40, "accuracy": {"within": 20}}, key="k")[
        0
    ]
    contracts.remove_member(curator=story.people.carol, contract=story.contract, user=alice, role=Role.ANALYST)
    query.refresh_from_db()
    assert query.state == Query.State.CANCELLED
    assert bodies_of(story.contract, "query.cancelled")[0]["query"] == str(query.uid)


def test_an_analyst_is_made_by_somebody_else(story: Story) -> None:
    carol = story.people.carol
    carol.roles = [Role.ANALYST, Role.CURATOR]
    carol.save(update_fields=["roles"])
    with pytest.raises(BadInput) as refusal:
        contracts.add_member(curator=carol, contract=story.contract, user=carol, role=Role.ANALYST, allotment=None)
    assert refusal.value.code == "own_membership"
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=carol, contract=story.contract, user=cyril, role=Role.CURATOR)
    contracts.add_member(curator=cyril, contract=story.contract, user=carol, role=Role.ANALYST, allotment=0)
    with pytest.raises(BadInput) as refusal:
        contracts.set_allotment(curator=carol, contract=story.contract, analyst=carol, rho=None, reason="why not")
    assert refusal.value.code == "own_allotment"


def test_a_place_needs_the_role_on_the_site_and_is_taken_once(story: Story) -> None:
    carol, contract = story.people.carol, story.contract
    codes = []
    for user, role in [
        (story.people.alice, Role.AUDITOR), (story.people.dora, Role.ANALYST), (story.people.alice, Role.ANALYST),
        (story.people.alice, "king"),
    ]:  # fmt: skip
        with pytest.raises(Refused) as refusal:
            contracts.add_member(curator=carol, contract=contract, user=user, role=role, allotment=0)
        codes.append(refusal.value.code)
    assert codes == ["role_missing", "role_missing", "already_member", "unknown_role"]


def test_a_contract_keeps_a_curator(story: Story) -> None:
    with pytest.raises(Conflict) as refusal:
        contracts.remove_member(curator=story.people.carol, contract=story.contract, user=story.people.carol, role=Role.CURATOR)
    assert refusal.value.code == "last_curator"


def test_only_its_curators_change_a_contracts_people(story: Story) -> None:
    before = kinds_of(story.contract)
    eve = person("eve", Role.ANALYST)
    for somebody in (story.people.alice, story.people.dora, person("cyril", Role.CURATOR)):
        with pytest.raises(NotYours):
            contracts.add_member(curator=somebody, contract=story.contract, user=eve, role=Role.ANALYST, allotment=None)
        with pytest.raises(NotYours):
            contracts.remove_member(curator=somebody, contract=story.contract, user=story.people.bob, role=Role.ANALYST)
        with pytest.raises(NotYours):
            contracts.set_allotment(
                curator=somebody, contract=story.contract, analyst=story.people.bob, rho=None, reason="please"
            )
    assert kinds_of(story.contract) == before


def test_somebody_new_finds_a_notice(story: Story) -> None:
    notice = Notice.objects.get(user=story.people.alice)
    assert (notice.kind, notice.contract, notice.seen_at) == (Notice.Kind.MEMBER, story.contract, None)


@pytest.mark.parametrize("rho", [-1, 10**19])
def test_an_allotment_is_an_amount(story: Story, rho: int) -> None:
    with pytest.raises(BadInput) as refusal:
        contracts.set_allotment(
            curator=story.people.carol, contract=story.contract, analyst=story.people.bob, rho=rho, reason="x"
        )
    assert refusal.value.field == "rho"
