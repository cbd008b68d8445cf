"""Carol's contracts: drafted, opened, frozen, closed, raised; each step an event, each refusal with its field."""

import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Role
from curator.mechanism.errors import BadInput, Conflict, NotYours, Refused
from curator.models import AuditEvent, Contract, TotalRaise
from curator.services import contracts
from curator.services.audit import chain_of
from tests.cast import Cast, cast, make_contract, make_version, person
from tests.record.events import data_of, kinds_of
from tests.web.scene import browser_of

RHO = 10**12


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def test_carol_opens_a_contract_and_its_settings_are_on_the_record(people: Cast) -> None:
    contract = make_contract(people, rho_total="0.000000000003", xi="0.4", query_cap=0)
    assert (contract.rho_est, contract.rho_ans, contract.rho_d) == (1, 2, 1)  # floor(0.4 * 3)
    settings = data_of(contract, "contract.opened")["settings"]
    assert (settings["rho_total"], settings["xi"], settings["query_cap"]) == (3, "0.4", 0)
    assert kinds_of(contract)[:2] == ["contract.drafted", "contract.opened"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rho_total", 0), ("rho_total", -1), ("rho_total", 10**19), ("xi", Decimal(1)), ("xi", Decimal("-0.1")),
        ("xi", Decimal("NaN")), ("xi", Decimal("0.1234567")), ("kappa", Decimal(-1)), ("kappa", Decimal("Infinity")),
        ("alpha", Decimal(-1)), ("alpha", Decimal(11)), ("beta", Decimal(-1)), ("rho_d", 0), ("rho_d", RHO), ("query_cap", -1),
        ("delta", Decimal(0)), ("delta", Decimal(1)), ("ends_on", datetime.date(2020, 1, 1)),
    ],
)  # fmt: skip
def test_a_setting_out_of_its_limits_is_refused_with_its_field_and_leaves_no_row(people: Cast, field: str, value: Any) -> None:
    version = make_version(people.carol)
    chosen: dict[str, Any] = {"rho_total": RHO, field: value}
    with pytest.raises(BadInput) as refusal:
        contracts.open_contract(curator=people.carol, version=version, name="x", stands=True, **chosen)
    assert refusal.value.field == field
    assert not Contract.objects.exists() and not AuditEvent.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b", "a\u202eb", "x" * 121])
def test_a_name_is_one_line_of_plain_text(people: Cast, name: str) -> None:
    with pytest.raises(BadInput) as refusal:
        contracts.draft(curator=people.carol, version=make_version(people.carol), name=name, rho_total=RHO)
    assert refusal.value.field == "name"


def test_the_price_of_a_diagnostic_is_free_to_choose_without_an_account_for_them(people: Cast) -> None:
    contract = contracts.draft(
        curator=people.carol, version=make_version(people.carol), name="x", rho_total=RHO, xi=Decimal(0), rho_d=7
    )
    assert (contract.rho_est, contract.rho_d) == (0, 7)


def test_a_contract_may_end_today_but_not_have_ended_yesterday(people: Cast) -> None:
    today = timezone.now().date()
    contract = make_contract(people, ends_on=today)
    with pytest.raises(BadInput):
        contracts.set_end_date(curator=people.carol, contract=contract, ends_on=today - datetime.timedelta(days=1))
    contracts.set_end_date(curator=people.carol, contract=contract, ends_on=None)
    assert data_of(contract, "contract.end_date") == {"before": today.isoformat(), "after": None}


def test_only_the_owner_of_a_dataset_drafts_a_contract_over_it(people: Cast) -> None:
    version = make_version(people.carol)
    for somebody in (people.alice, person("cyril", Role.CURATOR)):
        with pytest.raises(NotYours):
            contracts.draft(curator=somebody, version=version, name="x", rho_total=RHO)


def test_a_draft_can_change_and_an_open_contract_cannot(people: Cast) -> None:
    version = make_version(people.carol)
    contract = contracts.draft(curator=people.carol, version=version, name="x", rho_total=RHO)
    contracts.change_draft(
        curator=people.carol, contract=contract, version=version, name="y", rho_total=RHO // 2, xi=Decimal("0.5")
    )
    opened = contracts.open_draft(curator=people.carol, contract=contract, stands=True)
    assert (opened.name, opened.rho_total, opened.rho_est) == ("y", RHO // 2, RHO // 4)
    with pytest.raises(Conflict):
        contracts.change_draft(curator=people.carol, contract=contract, version=version, name="z", rho_total=RHO)


def test_the_states_a_contract_goes_through(people: Cast) -> None:
    contract = make_contract(people)
    step: dict[str, Any] = {"curator": people.carol, "contract": contract, "reason": "holidays"}
    with pytest.raises(Conflict):
        contracts.reopen(**step)
    contracts.freeze(**step)
    with pytest.raises(Conflict):
        contracts.freeze(**step)
    contracts.reopen(**step)
    contracts.close(**step)
    for move in (contracts.reopen, contracts.freeze, contracts.close):
        with pytest.raises(Conflict):
            move(**step)
    assert [event for event in kinds_of(contract) if event == "contract.state"] == ["contract.state"] * 3


@pytest.mark.parametrize("move", [contracts.freeze, contracts.close])
def test_a_change_of_state_needs_a_reason_and_a_curator(people: Cast, move: Any) -> None:
    contract = make_contract(people)
    with pytest.raises(BadInput) as refusal:
        move(curator=people.carol, contract=contract, reason=" ")
    assert refusal.value.field == "reason"
    for somebody in (people.alice, people.dora, person("cyril", Role.CURATOR)):
        with pytest.raises(NotYours):
            move(curator=somebody, contract=contract, reason="because")
    contract.refresh_from_db()
    assert contract.state == Contract.State.OPEN


def test_a_lone_curator_raises_the_total_upwards_only(people: Cast) -> None:
    contract = make_contract(people, rho_total="1", xi="0.05")
    for total in (RHO, RHO - 1):
        with pytest.raises(BadInput) as refusal:
            contracts.raise_total(curator=people.carol, contract=contract, rho_total=total, reason="more")
        assert refusal.value.code == "only_upwards"
    raised = contracts.raise_total(curator=people.carol, contract=contract, rho_total=2 * RHO, reason="more")
    contract.refresh_from_db()
    assert raised.state == TotalRaise.State.APPLIED
    assert (contract.rho_total, contract.rho_est, contract.rho_ans) == (2 * RHO, RHO // 10, 19 * RHO // 10)
    assert data_of(contract, "contract.raised")["after"] == 2 * RHO


def test_with_two_curators_the_other_one_decides_a_raise(people: Cast) -> None:
    contract = make_contract(people)
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=cyril, role=Role.CURATOR)
    proposal = contracts.raise_total(curator=people.carol, contract=contract, rho_total=2 * RHO, reason="more")
    contract.refresh_from_db()
    assert contract.rho_total == RHO
    with pytest.raises(Conflict) as refusal:
        contracts.approve_raise(curator=people.carol, proposal=proposal)
    assert refusal.value.code == "own_request"
    with pytest.raises(Conflict):
        contracts.raise_total(curator=cyril, contract=contract, rho_total=3 * RHO, reason="more still")
    contracts.approve_raise(curator=cyril, proposal=proposal)
    with pytest.raises(Conflict):
        contracts.approve_raise(curator=cyril, proposal=proposal)
    contract.refresh_from_db()
    assert contract.rho_total == 2 * RHO
    assert data_of(contract, "contract.raised")["proposed_by"] == "carol"


def test_a_rejected_raise_changes_nothing(people: Cast) -> None:
    contract = make_contract(people)
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=cyril, role=Role.CURATOR)
    proposal = contracts.raise_total(curator=people.carol, contract=contract, rho_total=2 * RHO, reason="more")
    contracts.reject_raise(curator=cyril, proposal=proposal, note="not now")
    contract.refresh_from_db()
    assert contract.rho_total == RHO and kinds_of(contract)[-1] == "contract.raise_rejected"


def test_a_new_version_is_of_the_same_dataset_and_of_no_larger_k(people: Cast) -> None:
    first = make_version(people.carol, person_column="id", k=2)
    contract = make_contract(people, first)
    wider = make_version(people.carol, dataset=first.dataset, person_column="id", k=3)
    narrower = make_version(people.carol, dataset=first.dataset, person_column="id", k=1)
    codes = []
    per_record = make_version(people.carol, dataset=first.dataset)
    for version in (make_version(people.carol), wider, per_record, first):
        with pytest.raises(Refused) as refusal:
            contracts.set_version(curator=people.carol, contract=contract, version=version, reason="yearly update")
        codes.append(refusal.value.code)
    assert codes == ["other_dataset", "k_too_large", "other_unit", "same_version"]
    cyril = person("cyril", Role.CURATOR)  # curates the contract, and does not look after its dataset
    contracts.add_member(curator=people.carol, contract=contract, user=cyril, role=Role.CURATOR)
    with pytest.raises(NotYours):
        contracts.set_version(curator=cyril, contract=contract, version=narrower, reason="yearly update")
    contracts.set_version(curator=people.carol, contract=contract, version=narrower, reason="yearly update")
    contract.refresh_from_db()
    assert contract.version == narrower and contract.k == 2
    assert chain_of(contract) == AuditEvent.objects.filter(kind="contract.version").get().chain


def test_who_does_not_look_after_the_data_changes_a_draft_and_never_its_version(people: Cast) -> None:
    """Or they would learn whether the records of the other version are like earlier ones."""
    version = make_version(people.carol)
    other = make_version(people.carol, dataset=version.dataset)
    contract = contracts.draft(curator=people.carol, version=version, name="x", rho_total=RHO)
    hal = person("hal", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=hal, role=Role.CURATOR)
    contracts.change_draft(curator=hal, contract=contract, version=version, name="y", rho_total=RHO)
    with pytest.raises(NotYours):
        contracts.change_draft(curator=hal, contract=contract, version=other, name="y", rho_total=RHO)
    page = browser_of(hal).get(f"/contracts/{contract.uid}/edit/").content.decode()
    assert (str(version.uid) in page, str(other.uid) in page) == (True, False)
