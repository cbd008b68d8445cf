"""Alice and Bob ask under Carol's contract; the controller is run in the test's own process."""

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from curator.engine import counts
from curator.mechanism import rho
from curator.models import Contract, Query, Release
from tests.cast import ROWS, Cast, make_contract, make_version, units
from tests.services.serving import decision, run, served, spent
from tests.worker.scene import MEN, MIDDLE_AGED, WOMEN, answer, ask, draws, places, state

pytestmark = pytest.mark.django_db

#: rho_min in units at 95 %: z * z / (2 * E * E).
AT_10, AT_5 = 19_207_294_104, 76_829_176_414


def reached(query: Query) -> int:
    bound = answer(query).bound
    assert bound is not None
    return bound


def test_the_papers_two_questions_cost_07_and_then_03(people: Cast, contract: Contract) -> None:
    first = ask(people.alice, contract, MIDDLE_AGED, rho="0.7")
    second = ask(people.bob, contract, MIDDLE_AGED, rho="1")
    one, two = served(contract, first, second)
    assert (rho.text(one.load), rho.text(two.load)) == ("0.7", "0.3")
    assert answer(second).rho_eff == units("1")
    assert spent(contract) == units("1")


def test_releases_100_and_110_fuse_to_103(people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    draws(monkeypatch, 100, 110)
    first, second = ask(people.alice, contract, rho="0.7"), ask(people.alice, contract, rho="1")
    run(contract)
    assert (answer(first).value, answer(second).value) == (100, 103)
    assert [part[1] for part in answer(second).certificate] == [units("0.7"), units("0.3")]
    assert answer(second).bound == 2  # ceil(1.96 / sqrt(2 * 1.0))


def test_thresholds_in_all_24_orders_cost_what_the_tightest_costs(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="2")
    orders = list(zip(permutations((20, 10, 15, 5)), places(), strict=False))
    asked = {order: [ask(people.alice, contract, where, within=bound) for bound in order] for order, where in orders}
    run(contract)
    assert len(asked) == 24
    for order, mine in asked.items():
        assert sum(decision(query).load for query in mine) == AT_5
        assert all(reached(query) <= bound for query, bound in zip(mine, order, strict=True))
    assert f"{Decimal(AT_5) / 10**12:.8f}" == "0.07682918"


def test_an_answer_is_kept_and_costs_nothing_to_look_at_or_to_run_again(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, MIDDLE_AGED)
    run(contract)
    before = list(Release.objects.values()), answer(query).value, spent(contract)
    run(contract)
    run(contract)
    assert (list(Release.objects.values()), answer(query).value, spent(contract)) == before


def test_bobs_repeat_in_other_words_is_free(people: Cast, contract: Contract) -> None:
    first = ask(people.alice, contract, {"all": [WOMEN, MIDDLE_AGED]})
    again = ask(people.bob, contract, {"all": [{"column": "age", "in": list(range(40, 60))}, {"not": {"not": WOMEN}}]})
    one, two = served(contract, first, again)
    assert (one.kind, two.kind, two.load) == ("measure", "reuse", 0)
    assert answer(again).value == answer(first).value
    assert not Release.objects.filter(query=again).exists()


def test_eleven_elevenths_pass_when_they_fit(people: Cast, contract: Contract) -> None:
    where = places()
    asked = [ask(people.alice, contract, next(where), rho="0.090909090909") for _ in range(11)]
    assert {each.kind for each in served(contract, *asked)} == {"measure"}
    over = [ask(people.alice, contract, next(where), rho="0.090909090909", under_scarcity="all_or_nothing")]
    assert served(contract, *over)[0].reason == "contract_exceeded"


def test_the_eleventh_of_eleven_rounded_up_lacks_exactly_the_rounding(people: Cast, contract: Contract) -> None:
    where = places()
    share = str(Decimal(1) / 11)
    asked = [ask(people.alice, contract, next(where), rho=share, under_scarcity="all_or_nothing") for _ in range(11)]
    *ten, last = served(contract, *asked)
    assert {each.kind for each in ten} == {"measure"}
    assert (last.kind, last.available) == ("decline", ten[0].load - 10)


def test_all_that_remains_as_the_page_shows_it_can_be_spent(people: Cast, contract: Contract) -> None:
    where = places()
    ask(people.alice, contract, next(where), rho="0.333333333331")
    run(contract)
    shown = rho.short(contract.rho_ans - spent(contract))
    query = ask(people.alice, contract, next(where), rho=shown, under_scarcity="all_or_nothing")
    assert served(contract, query)[0].kind == "measure"


def test_dust_is_refused_once_nothing_remains(people: Cast, contract: Contract) -> None:
    ask(people.alice, contract, WOMEN, rho="1")
    run(contract)
    dust = ask(people.alice, contract, MEN, within=10**9)
    told = served(contract, dust)[0]
    assert (told.kind, told.load, told.available) == ("decline", 0, 0)
    assert answer(dust).value is None and not Release.objects.filter(query=dust).exists()


def test_dust_costs_at_least_a_unit(people: Cast, contract: Contract) -> None:
    dust = ask(people.alice, contract, MEN, within=10**9)
    assert served(contract, dust)[0].load >= 1


def test_an_allotment_of_nothing_lets_reuse_through(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0"})
    refused = ask(people.alice, contract, WOMEN)
    run(contract)
    ask(people.bob, contract, WOMEN)
    run(contract)
    free = ask(people.alice, contract, WOMEN)
    run(contract)
    assert (decision(refused).kind, decision(refused).reason) == ("decline", "allotment_exceeded")
    assert (decision(free).kind, decision(free).load) == ("reuse", 0)


def test_no_limit_of_ones_own_is_another_state_than_nothing(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"bob": "0"})
    query = ask(people.alice, contract, WOMEN, rho="1")
    assert served(contract, query)[0].kind == "measure"


def test_an_allotment_binds_before_the_contract_does(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0.1"})
    where = places()
    asked = [ask(people.alice, contract, next(where), rho="0.04", under_scarcity="all_or_nothing") for _ in range(3)]
    assert [each.kind for each in served(contract, *asked)] == ["measure", "measure", "decline"]
    assert decision(asked[2]).limit == "allotment"


def test_too_little_left_gives_what_there_is_with_its_figures(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.005", kappa="0")
    query = ask(people.alice, contract, WOMEN, within=5)
    told = served(contract, query)[0]
    assert (told.kind, told.regime, told.load) == ("partial", "scarce", units("0.005"))
    assert state(query) == "partial"
    assert answer(query).bound == 20 and not answer(query).met  # ceil(1.96 / sqrt(2 * 0.005))


def test_all_or_nothing_spends_nothing_and_gives_what_history_knows(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.005")
    ask(people.alice, contract, WOMEN, rho="0.001")
    query = ask(people.alice, contract, WOMEN, within=5, under_scarcity="all_or_nothing")
    told = served(contract, query)[0]
    assert (told.kind, told.load, state(query)) == ("decline", 0, "declined")
    assert answer(query).value is not None and answer(query).bound == 44  # from rho 0.001


def test_a_partial_release_is_credited_later(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.002", kappa="0")
    ask(people.alice, contract, WOMEN, within=5)
    run(contract)
    again = ask(people.alice, contract, WOMEN, within=5)
    run(contract)
    assert answer(again).rho_hist == units("0.002")
    assert decision(again).kind == "decline"


def test_a_cap_limits_one_question(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, query_cap=units("0.05"), kappa="0")
    query = ask(people.alice, contract, WOMEN, within=5)
    told = served(contract, query)[0]
    assert (told.limit, told.reason, told.load) == ("cap", "cap_exceeded", units("0.05"))
    assert answer(query).bound == 7  # the smallest bound that 0.05 pays for at 95 %


def test_nobody_can_be_there_is_known_from_the_schema_alone(
    people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "count", _must_not_count)
    query = ask(people.alice, contract, {"all": [{"column": "age", "less_than": 10}, {"column": "age", "at_least": 10}]})
    told = served(contract, query)[0]
    known = answer(query)
    assert (told.load, known.value, known.bound, known.met, known.rho_eff) == (0, 0, 0, True, 0)


def test_reuse_reads_no_data(people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(people.alice, contract, WOMEN)
    run(contract)
    monkeypatch.setattr(counts, "count", _must_not_count)
    query = ask(people.bob, contract, WOMEN, within=30)
    assert served(contract, query)[0].kind == "reuse"


def _must_not_count(*_: Any) -> Any:
    raise AssertionError("data were touched")


def test_a_histogram_and_the_overall_count_are_both_priced(people: Cast, contract: Contract) -> None:
    by_sex = ask(people.alice, contract, group_by=[{"column": "sex"}], within=10)
    overall = ask(people.alice, contract, within=10)
    assert [each.load for each in served(contract, by_sex, overall)] == [AT_10, AT_10]
    assert by_sex.aggregate == "histogram" and overall.aggregate == "count"


def test_ten_disjoint_bins_are_charged_once(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, group_by=[{"column": "age", "bins": 10}], within=10)
    assert served(contract, query)[0].load == AT_10
    assert query.answers.count() == 10
    assert Release.objects.filter(query=query).values("group").distinct().count() == 1


def test_bins_and_counts_credit_each_other(people: Cast, contract: Contract) -> None:
    ask(people.alice, contract, group_by=[{"column": "sex"}], within=10)
    women = ask(people.bob, contract, WOMEN, within=10)
    assert served(contract, women)[0].kind == "reuse"
    assert answer(women).rho_hist == AT_10


def test_all_bins_at_once_costs_more(people: Cast, contract: Contract) -> None:
    query = ask(people.alice, contract, group_by=[{"column": "age", "bins": 10}], within=10, simultaneous=True)
    assert f"{Decimal(served(contract, query)[0].load) / 10**12:.8f}" == "0.03939719"
    assert {each.bound for each in query.answers.all()} == {10}


def test_with_two_records_a_person_the_two_dearest_bins_are_charged(people: Cast) -> None:
    rows = [{**row, "person": str(number // 2)} for number, row in enumerate(ROWS)]
    version = make_version(people.carol, rows=rows, person_column="person", k=2)
    contract = make_contract(people, version)
    query = ask(people.alice, contract, group_by=[{"column": "sex"}], within=10)
    assert served(contract, query)[0].load == 2 * AT_10
