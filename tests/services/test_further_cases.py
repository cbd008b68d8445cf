"""Further inputs of the kinds that went wrong for people elsewhere: money, the queue, and what history is credited with."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from curator import queue
from curator.mechanism import rho
from curator.mechanism.errors import BadInput
from curator.models import Contract, LedgerEntry, Release
from curator.services import budget_requests, contracts, memberships
from rdp_site.environment import ROOT
from tests.cast import ROWS, Cast, make_contract, make_version, units
from tests.services.serving import decision, run, served, spent
from tests.worker.scene import MEN, WOMEN, answer, ask, draws, places, state

pytestmark = pytest.mark.django_db

Where = dict[str, Any]
ROME: Where = {"column": "city", "equals": "Rome"}
FROM_30: Where = {"column": "age", "at_least": 30}
NO_MEMBER: Where = {"column": "member", "equals": False}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)


@pytest.mark.parametrize(("parts", "lacking"), [(3, 2), (7, 6), (9, 8), (13, 12), (30, 20)])
def test_so_many_equal_parts_rounded_up_lack_exactly_what_was_rounded(
    people: Cast, contract: Contract, parts: int, lacking: int
) -> None:
    where, share = places(), str(Decimal(1) / parts)
    asked = [ask(people.alice, contract, next(where), rho=share, under_scarcity="all_or_nothing") for _ in range(parts)]
    *paid, last = served(contract, *asked)
    assert {each.kind for each in paid} == {"measure"}
    assert (last.kind, last.load) == ("decline", 0)
    assert paid[0].load - last.available == lacking == parts * paid[0].load - 10**12


def test_the_very_last_unit_can_be_asked_for_and_then_nothing(people: Cast, contract: Contract) -> None:
    where = places()
    ask(people.alice, contract, next(where), rho="0.999999999999")
    run(contract)
    shown = rho.short(contract.rho_ans - spent(contract))
    last = ask(people.bob, contract, next(where), rho=shown, under_scarcity="all_or_nothing")
    none = ask(people.bob, contract, next(where), rho="0.000000000001", under_scarcity="all_or_nothing")
    told = served(contract, last, none)
    assert (shown, [each.load for each in told], told[1].kind) == ("0.000000000001", [1, 0], "decline")


MIXED: tuple[dict[str, Any], ...] = (
    {"within": 11},
    {"standard_error": "4"},
    {"rho": "0.02"},
    {"within": 7, "confidence": "0.99"},
)


def test_targets_of_every_kind_in_any_order_cost_what_the_dearest_costs(people: Cast) -> None:
    contract, where = make_contract(people, rows=ROWS, rho_total="3"), places()
    for order in permutations(MIXED):
        place = next(where)
        mine = [ask(people.alice, contract, place, **target) for target in order]
        run(contract)
        assert sum(decision(query).load for query in mine) == decision_of_dearest()
    assert len(set(LedgerEntry.objects.values_list("query__contract", flat=True))) == 1


def decision_of_dearest() -> int:
    """±7 at 99 %: z = 2.5758293, z² / (2 · 49), rounded up to a unit."""
    return 67_703_026_542


@pytest.mark.parametrize("amount", [-1, 0, -(10**12), 2**63])
def test_amounts_that_are_none_enter_by_no_service(people: Cast, contract: Contract, amount: int) -> None:
    acts: list[Callable[[], object]] = [
        lambda: contracts.draft(curator=people.carol, version=contract.version, name="x", rho_total=amount),
        lambda: budget_requests.request(analyst=people.bob, contract=contract, amount=amount, reason="x"),
    ]
    if amount:  # a cap or an allotment of nothing is one
        acts.append(
            partial(contracts.draft, curator=people.carol, version=contract.version, name="x", rho_total=10**12, query_cap=amount)
        )
        acts.append(
            lambda: contracts.set_allotment(curator=people.carol, contract=contract, analyst=people.bob, rho=amount, reason="x")
        )
    for act in acts:
        with pytest.raises(BadInput):
            act()
    assert Contract.objects.count() == 1


def test_somebody_who_comes_and_goes_three_times_has_spent_all_of_it(people: Cast) -> None:
    contract, where = make_contract(people, rows=ROWS, allotments={"alice": "0.03"}), places()
    for _ in range(3):
        paid = ask(people.alice, contract, next(where), rho="0.01")
        assert served(contract, paid)[0].load == units("0.01")
        memberships.remove_member(curator=people.carol, contract=contract, user=people.alice, role="analyst")
        contracts.add_member(curator=people.carol, contract=contract, user=people.alice, role="analyst", allotment=units("0.03"))
    last = ask(people.alice, contract, next(where), rho="0.01", under_scarcity="all_or_nothing")
    assert served(contract, last)[0].reason == "allotment_exceeded"


@pytest.mark.parametrize("needy", [2, 3, 5])
def test_of_several_that_need_the_rest_the_first_gets_it(people: Cast, needy: int) -> None:
    contract, where = make_contract(people, rows=ROWS, rho_total="0.02"), places()
    asked = [ask((people.alice, people.bob)[n % 2], contract, next(where), within=10) for n in range(needy)]
    first, *others = served(contract, *asked)
    assert (first.kind, {each.kind for each in others} <= {"partial", "decline"}) == ("measure", True)
    assert spent(contract) <= contract.rho_ans
    assert state(asked[0]) == "answered"


def test_any_number_of_bells_for_two_contracts_in_any_order_draw_once_each(people: Cast, contract: Contract) -> None:
    other = make_contract(people, rows=ROWS)
    for each in (contract, other):
        ask(people.alice, each, WOMEN, rho="0.1")
    for each in (contract, other, other, contract, other, contract, contract):
        run(each)
    assert sorted(Release.objects.values_list("contract", flat=True)) == sorted([contract.pk, other.pk])


RESEEDED = """
import json, random
import numpy
from curator.mechanism.noise import ExactCount, release
drawn = []
for _ in range(6):
    random.seed(7); numpy.random.seed(7); numpy.random.default_rng(7)
    drawn.append(release(ExactCount(0), 10**4).value)
print(json.dumps(drawn))
"""


def test_seeds_set_before_every_draw_repeat_nothing() -> None:
    """Standard deviation 7,071: six draws that are all alike happen by no chance."""
    words, drawn = [sys.executable, "-c", RESEEDED], []
    for seed in ("0", "1", "random"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        drawn.append(json.loads(done.stdout))
    assert all(len(set(each)) > 1 for each in drawn)
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"column": "age", "between": [30, 39]}, {"all": [FROM_30, {"not": {"column": "age", "at_least": 40}}]}),
        ({"not": {"all": [WOMEN, ROME]}}, {"any": [{"not": WOMEN}, {"not": ROME}]}),
        ({"all": [WOMEN, ROME, WOMEN]}, {"not": {"any": [{"not": ROME}, {"not": WOMEN}]}}),
        ({"column": "age", "in": [5, 4, 4, "6", Decimal("5.0")]}, {"column": "age", "between": ["4.0", 6]}),
        ({"column": "member", "equals": True}, {"all": [{"column": "member", "in": ["true"]}, {"not": NO_MEMBER}]}),
    ],
    ids=["range", "de Morgan", "doubled", "list", "truth"],
)  # fmt: skip
def test_other_words_for_the_same_cells_are_credited_both_ways(
    people: Cast, contract: Contract, one: Where, other: Where
) -> None:
    for first, second in ((one, other), (other, one)):
        fresh = make_contract(people, contract.version)
        told = served(fresh, ask(people.alice, fresh, first, rho="0.01"), ask(people.bob, fresh, second, rho="0.01"))
        assert [each.load for each in told] == [units("0.01"), 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"column": "age", "at_most": 30}, {"column": "age", "less_than": 30}),
        ({"not": ROME}, {"not": {"any": [ROME, {"column": "city", "is_missing": True}]}}),
        ({"column": "sex", "in": ["F", "M"]}, {"always": True}),
        ({"any": [WOMEN, MEN]}, {"any": [WOMEN, {"column": "sex", "is_other": True}]}),
    ],
    ids=["at most", "other", "outside the domain", "a part"],
)  # fmt: skip
def test_what_differs_by_a_cell_that_nobody_is_in_is_not_credited(
    people: Cast, contract: Contract, one: Where, other: Where
) -> None:
    told = served(contract, ask(people.alice, contract, one, rho="0.01"), ask(people.bob, contract, other, rho="0.01"))
    same = one == {"not": ROME}
    assert [each.load for each in told] == [units("0.01"), 0 if same else units("0.01")]


@pytest.mark.parametrize("first", ["bins", "count"])
def test_a_bin_and_the_same_span_as_a_count_are_credited_whichever_came_first(
    people: Cast, contract: Contract, first: str
) -> None:
    """The bin from 30 to below 40 of a histogram, and the people of at least 30 and less than 40."""
    span: Where = {"all": [FROM_30, {"column": "age", "less_than": 40}]}
    asks = {
        "bins": lambda: ask(people.alice, contract, FROM_30, group_by=[{"column": "age", "edges": [30, 40, 99]}], rho="0.01"),
        "count": lambda: ask(people.bob, contract, span, rho="0.01"),
    }
    queries = [asks[name]() for name in sorted(asks, key=lambda name: name != first)]
    served(contract, *queries)
    later = queries[1].answers.get(position=0)
    assert (later.rho_hist, later.rho_new, later.release) == (units("0.01"), 0, None)


def test_three_releases_weigh_as_their_amounts(people: Cast, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    draws(monkeypatch, 90, 100, 120)
    asked = [ask(people.alice, contract, rho=total) for total in ("0.2", "0.5", "1")]
    run(contract)
    assert [answer(query).value for query in asked] == [90, 96, 108]  # 18 + 30 + 60


def test_going_back_to_the_first_version_finds_its_history_again(people: Cast, contract: Contract) -> None:
    first = contract.version
    second = make_version(people.carol, rows=ROWS[:6], dataset=contract.dataset)
    loads = []
    for version in (None, second, first, second):
        if version is not None:
            contracts.set_version(curator=people.carol, contract=contract, version=version, reason="Compared")
            contract.refresh_from_db()
        loads.append(served(contract, ask(people.alice, contract, WOMEN, rho="0.1"))[0].load)
    assert loads == [units("0.1"), units("0.1"), 0, 0]
    assert spent(contract) == units("0.2")


def test_partial_releases_add_up_until_the_question_is_met(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, kappa="0", allotments={"alice": "0.002"})
    loads = []
    for allotment in ("0.002", "0.006", "0.02"):
        contracts.set_allotment(
            curator=people.carol, contract=contract, analyst=people.alice, rho=units(allotment), reason="More"
        )
        query = ask(people.alice, contract, WOMEN, rho="0.01")
        loads.append(served(contract, query)[0].load)
    assert loads == [units(amount) for amount in ("0.002", "0.004", "0.004")]
    assert (state(query), answer(query).rho_eff) == ("answered", units("0.01"))
