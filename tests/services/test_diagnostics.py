"""Diagnostics: taken only where a decision hangs on them, charged to their own account, committed before it, kept for ever."""

from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from accounts.models import Membership
from curator.mechanism.qif import Diagnostic as Measured
from curator.mechanism.qif import qif, weight
from curator.models import AnalystBudget, AuditEvent, Contract, Decision, Diagnostic, LedgerEntry, Query, Release
from curator.services import contracts, diagnostics, execution, failpoints, pending, queries, settling
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.worker.scene import MEN, MIDDLE_AGED, WOMEN, answer, ask, check_books, draws, once, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


def run(contract: Contract) -> None:
    execution.run(contract.pk)
    check_books(contract)


def decision(query: Query) -> Decision:
    return Decision.objects.get(query=query)


def scarce(people: Cast, **settings: Any) -> Contract:
    """A contract of 0.1 rho, a fifth of it for diagnostics, on which a question at +-1 is always scarce."""
    return make_contract(people, **{"rows": ROWS, "rho_total": "0.1", "xi": "0.2", **settings})


def test_none_is_taken_while_everything_is_feasible(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, xi="0.2")
    ask(people.alice, contract, WOMEN)
    run(contract)
    assert not Diagnostic.objects.exists()


@pytest.mark.parametrize("settings", [{"kappa": "0"}, {"alpha": Decimal(0)}], ids=str)
def test_none_is_taken_where_no_weight_could_matter(people: Cast, settings: dict[str, Any]) -> None:
    contract = scarce(people, **settings)
    ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    assert not Diagnostic.objects.exists()


def test_none_is_taken_for_all_or_nothing_or_with_nothing_left(people: Cast) -> None:
    contract = scarce(people, allotments={"bob": "0"})
    ask(people.alice, contract, WOMEN, within=1, under_scarcity="all_or_nothing")
    ask(people.bob, contract, MEN, within=1)
    run(contract)
    assert not Diagnostic.objects.exists()


def test_a_scarce_question_takes_one_of_its_region_and_one_of_everybody(people: Cast) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    contract.refresh_from_db()
    assert Diagnostic.objects.count() == 2
    assert contract.est_spent == 2 * contract.rho_d == LedgerEntry.objects.get(account="est").load
    assert AnalystBudget.objects.get(analyst=people.alice).est_spent == 2 * contract.rho_d
    assert decision(query).kind == "partial"


def test_its_event_comes_before_the_decision_that_uses_it(people: Cast) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    kinds = AuditEvent.objects.filter(query=query.uid).order_by("seq").values_list("kind", flat=True)
    assert list(kinds) == ["query.submitted", "diagnostic.released", "query.decided"]


def test_the_weight_is_the_one_of_the_released_sizes(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = scarce(people)
    draws(monkeypatch, 400)
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    size = Measured(400, contract.rho_d)
    assert answer(query).weight == weight(qif(size, size, beta=contract.beta), contract.alpha)


def test_one_is_kept_and_reused_whoever_asks_next(people: Cast) -> None:
    contract = scarce(people)
    ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    before = list(Diagnostic.objects.values_list("descriptor", "release"))
    ask(people.bob, contract, WOMEN, within=1)
    run(contract)
    assert list(Diagnostic.objects.values_list("descriptor", "release")) == before


def test_one_is_never_fused_into_an_answer(people: Cast) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    est = {str(uid) for uid in Release.objects.filter(account="est").values_list("uid", flat=True)}
    assert len(est) == 2
    assert not est & {uid for uid, _ in answer(query).certificate}
    assert answer(query).rho_eff == answer(query).rho_new


def test_a_histogram_pays_for_its_disjoint_bins_once(people: Cast) -> None:
    contract = scarce(people)
    ask(people.alice, contract, group_by=[{"column": "age", "bins": 10}], within=1)
    run(contract)
    contract.refresh_from_db()
    assert Diagnostic.objects.count() == 11
    assert contract.est_spent == 2 * contract.rho_d


def test_everybody_is_measured_once_also_when_everybody_is_asked_about(people: Cast) -> None:
    contract = scarce(people)
    ask(people.alice, contract, within=1)
    run(contract)
    contract.refresh_from_db()
    assert (Diagnostic.objects.count(), contract.est_spent) == (1, contract.rho_d)


def test_an_analyst_who_has_used_up_their_share_goes_unweighed_and_the_decision_says_so(people: Cast) -> None:
    contract = scarce(people, rho_d=units("0.008"))  # est is 0.02, a share of it 0.01
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    assert not Diagnostic.objects.exists()
    assert decision(query).kind == "partial" and answer(query).weight == 1
    told = AuditEvent.objects.get(kind="query.decided", query=query.uid)
    assert b'"unweighed":[0]' in bytes(told.body)


def test_a_weighed_decision_says_that_nothing_was_missing(people: Cast) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    assert b'"unweighed":[]' in bytes(AuditEvent.objects.get(kind="query.decided", query=query.uid).body)


def test_shares_follow_allotments(people: Cast) -> None:
    contract = scarce(people, rho_d=units("0.004"), allotments={"alice": "0.06", "bob": "0.02"})  # shares 0.015 and 0.005
    ask(people.bob, contract, WOMEN, within=1)
    run(contract)
    assert not Diagnostic.objects.exists()
    ask(people.alice, contract, WOMEN, within=1)
    run(contract)
    assert Diagnostic.objects.count() == 2


def test_the_account_is_never_overdrawn_whoever_asks(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.1", xi="0.2", kappa="0.5", rho_d=units("0.0021"))
    for where, n in zip(places(), range(24), strict=False):
        ask((people.alice, people.bob)[n % 2], contract, where, within=1)
    run(contract)
    contract.refresh_from_db()
    share = contract.rho_est // 2
    assert 0 < contract.est_spent <= contract.rho_est
    assert all(each.est_spent <= share for each in AnalystBudget.objects.all())


def test_two_workers_who_want_the_same_one_take_it_once(people: Cast) -> None:
    contract = scarce(people)
    batch = pending.load([ask(people.alice, contract, WOMEN, within=1).pk])
    wanted = settling.settle(contract.pk, batch, {}).wanted
    assert wanted is not None
    assert diagnostics.take(contract.pk, batch, wanted, {}) and diagnostics.take(contract.pk, batch, wanted, {})
    assert Diagnostic.objects.count() == 2 and LedgerEntry.objects.filter(account="est").count() == 1
    run(contract)


def test_a_relative_target_is_promised_where_the_group_is_large_enough(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS, xi="0.2")
    draws(monkeypatch, 1000)
    query = ask(people.alice, contract, WOMEN, relative="0.1")
    run(contract)
    assert (decision(query).kind, state(query)) == ("measure", "answered")
    assert Diagnostic.objects.count() == 1  # nobody needs the size of the population here
    told = answer(query)
    assert told.rho_min is not None and told.bound is not None
    assert 80 < told.bound <= 100  # a tenth of the lower bound of 1000


def test_a_relative_target_of_a_small_group_is_refused_with_the_reason_and_the_diagnostic_stays_paid(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = make_contract(people, rows=ROWS, xi="0.2")
    draws(monkeypatch, 12)
    query = ask(people.alice, contract, WOMEN, relative="0.05")
    run(contract)
    told = decision(query)
    assert (told.kind, told.reason, told.load, state(query)) == ("decline", "population_too_small", 0, "declined")
    contract.refresh_from_db()
    assert contract.est_spent == contract.rho_d
    assert answer(query).value is None


def test_a_relative_target_without_diagnostic_budget_is_refused_and_history_given(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, xi="0")
    ask(people.bob, contract, WOMEN, within=10)
    query = ask(people.alice, contract, WOMEN, relative="0.05")
    run(contract)
    assert (decision(query).reason, decision(query).load) == ("no_diagnostic", 0)
    assert answer(query).value is not None and answer(query).rho_min is None


def test_a_relative_target_that_is_scarce_takes_everybodys_size_too(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = scarce(people)
    draws(monkeypatch, 300)
    query = ask(people.alice, contract, WOMEN, relative="0.01")
    run(contract)
    assert Diagnostic.objects.count() == 2
    assert decision(query).regime == "scarce"
    assert LedgerEntry.objects.filter(account="est", query=query).count() == 2


@pytest.mark.parametrize("moment", ["before it is found wanting", "between that and taking it"])
def test_a_contract_frozen_before_the_diagnostic_spends_nothing(
    people: Cast, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, relative="0.05")
    freeze = partial(contracts.freeze, curator=people.carol, contract=contract, reason="wait")
    take = diagnostics.take
    if moment.startswith("before"):
        monkeypatch.setattr(failpoints, "reach", once("after_read", freeze))
    else:
        monkeypatch.setattr(diagnostics, "take", lambda *given: (freeze(), take(*given))[1])
    run(contract)
    assert (decision(query).reason, Diagnostic.objects.count()) == ("contract_not_open", 0)


def test_diagnostics_in_the_middle_of_a_batch_keep_the_order(people: Cast) -> None:
    contract = scarce(people)
    where = places()
    asked = [ask(people.alice, contract, next(where), rho="0.03") for _ in range(5)]
    asked.append(ask(people.bob, contract, MIDDLE_AGED, within=50))
    run(contract)
    order = Decision.objects.order_by("event_seq").values_list("query_id", flat=True)
    assert list(order) == [query.pk for query in asked]
    assert {"measure", "partial"} <= set(Decision.objects.values_list("kind", flat=True))


def test_a_question_taken_back_between_settling_and_its_diagnostic_is_not_charged(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    take = diagnostics.take

    def taken_back_first(*args: Any) -> bool:
        queries.cancel(analyst=people.alice, query=query)
        return take(*args)

    monkeypatch.setattr(diagnostics, "take", taken_back_first)
    run(contract)
    assert state(query) == "cancelled"
    assert not Diagnostic.objects.exists() and not LedgerEntry.objects.exists()


def test_somebody_who_left_causes_no_diagnostic(people: Cast) -> None:
    contract = scarce(people)
    query = ask(people.alice, contract, WOMEN, within=1)
    Membership.objects.filter(contract=contract, user=people.alice).update(active=False)
    execution.run(contract.pk)
    assert state(query) == "declined"
    assert not Diagnostic.objects.exists() and not LedgerEntry.objects.exists()
