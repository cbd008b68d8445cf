"""Answer pages: every state says what was given, what it cost and why, so that the arithmetic can be done again by hand."""

import re
from decimal import Decimal
from typing import Any

import pytest

from curator.models import Answer, Contract, Decision, Query
from curator.services import execution
from tests.cast import ROWS, Cast, make_contract
from tests.web.scene import accuracy, ask, browser_of, make_scene, within
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

OLD = {"column": "age", "at_least": "40"}


def answered(people: Cast, contract: Contract, body: dict[str, Any], who: str = "alice") -> tuple[Query, str]:
    """Ask, let it be decided, and open the page."""
    row = ask(people, contract, who, body, key=f"k{Query.objects.count()}")
    execution.run(contract.pk)
    row.refresh_from_db()
    return row, html(browser_of(getattr(people, who)).get(f"/queries/{row.uid}/"))


def digits(page: str) -> dict[str, Decimal]:
    """The figures under "every digit", by their names."""
    found = re.findall(r"<dt>([^<]+)</dt>\s*<dd>(?:<code>)?(?:<data[^>]*>)?([\d.]+)", page)
    return {name: Decimal(figure) for name, figure in found}


def test_only_an_answer_with_a_history_says_that_it_was_fused(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    assert "fused" not in answered(people, contract, within(25, OLD))[1]
    assert "one new release, fused with history" in answered(people, contract, within(10, OLD))[1]


def test_a_scarce_answer_can_be_computed_again_by_hand(people: Cast) -> None:
    contract = make_contract(people, xi="0.05", kappa="0.01", rows=ROWS, allotments={"alice": "0.05"})
    row, page = answered(people, contract, within(4, OLD))
    told = digits(page)
    assert row.state == "partial"
    assert told["Residual"] == told["Needed from scratch"] - told["Credited from history"]
    aim = told["Price of scarcity μ"] / (2 * told["Weight w"])
    assert abs(told["Shortfall aimed at"] - aim) < Decimal("1e-11")
    given = max(Decimal(0), min(told["Available"], told["Residual"] - aim))
    assert abs(told["Given"] - given) <= Decimal("1e-11")
    assert told["Charged"] == told["Given"]
    assert told["Shortfall"] == told["Residual"] - told["Given"]
    assert told["Contract spent after"] - told["Contract spent before"] == told["Charged"]


def test_a_partial_answer_states_the_accuracy_reached_and_what_to_do_next(people: Cast) -> None:
    contract = make_contract(people, kappa="0", rows=ROWS, allotments={"alice": "0.05"})
    row, page = answered(people, contract, within(2, OLD))
    answer = Answer.objects.get(query=row)
    shown = text(browser_of(people.alice).get(f"/queries/{row.uid}/"))
    assert f"reached ±{answer.bound}" in shown
    assert "This did not reach the accuracy asked for" in shown
    assert f"/contracts/{contract.uid}/budget/" in page
    assert "Ask again" in shown


def test_all_or_nothing_spends_nothing_and_says_so(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0.05"})
    row, page = answered(people, contract, within(2, OLD, under_scarcity="all_or_nothing"))
    assert row.state == "declined"
    assert "all or nothing was asked for" in page
    assert "no answer" in page
    assert Decision.objects.get(query=row).load == 0


def test_what_cannot_match_anybody_is_nought_and_free(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    _, page = answered(people, contract, within(3, {"column": "age", "more_than": "99"}))
    assert "the answer is exact and free" in page
    assert "Tighten" not in page


def test_a_share_of_too_small_a_group_is_declined_with_its_reason(people: Cast) -> None:
    contract = make_contract(people, xi="0.05", rows=ROWS)
    row, page = answered(people, contract, {"where": OLD, "accuracy": {"relative": "0.05", "confidence": "0.95"}})
    assert row.state == "declined"
    assert "too small" in page
    assert "no price could be told" in page


def test_a_histogram_is_a_table_and_a_chart_of_the_same_figures(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    row, page = answered(people, contract, {"group_by": [{"column": "city"}], **accuracy(12)})
    values = list(Answer.objects.filter(query=row).order_by("position").values_list("value", flat=True))
    chart = re.search(r'<script id="histogram-data" type="application/json">(.*?)</script>', page)
    assert chart
    assert f'"y": {values}' in chart[1]
    assert len(re.findall(r'<th scope="row">', page)) >= len(values) == 5


def test_a_negative_count_stays_and_is_explained(people: Cast) -> None:
    contract = make_contract(people, rows=[])
    pages = [answered(people, contract, within(3000, {"column": "age", "equals": str(age)}))[1] for age in range(12)]
    below = [page for page in pages if re.search(r'<p class="answer">\N{MINUS SIGN}\d', page)]
    assert 0 < len(below) < 12  # odds of all on one side: 2 in 4,096
    assert all("A count below zero is noise" in page for page in below)


def test_a_waiting_question_tells_its_place_and_asks_again_only_for_news(people: Cast) -> None:
    scene = make_scene_of(people)
    alice = browser_of(people.alice)
    row = Query.objects.get(state="waiting")
    status = f"/queries/{row.uid}/status/"
    assert "Next in line" in html(alice.get(status))
    assert alice.get(status, {"place": "1"}).status_code == 204
    assert "hx-get" in html(alice.get(status))
    execution.run(scene.pk)
    final = html(alice.get(status, {"place": "1"}))
    assert "hx-get" not in final
    assert 'id="announce"' in final


def make_scene_of(people: Cast) -> Contract:
    contract = make_contract(people, rows=ROWS)
    ask(people, contract, "alice", within(25, OLD), key="w")
    return contract


def test_a_waiting_question_is_taken_back_once(people: Cast) -> None:
    make_scene_of(people)
    row = Query.objects.get()
    alice = browser_of(people.alice)
    assert alice.post(f"/queries/{row.uid}/cancel/").status_code == 303
    assert "Taken back" in html(alice.get(f"/queries/{row.uid}/"))
    assert alice.post(f"/queries/{row.uid}/cancel/", follow=True).status_code == 200
    row.refresh_from_db()
    assert row.state == "cancelled"


def test_an_answer_opened_twice_is_the_same_answer(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    row, page = answered(people, contract, within(25, OLD))
    alice = browser_of(people.alice)
    again = [re.search(r'<p class="answer">[^<]+', html(alice.get(f"/queries/{row.uid}/"))) for _ in range(3)]
    assert {found[0] for found in again if found} == {re.search(r'<p class="answer">[^<]+', page)[0]}  # type: ignore[index]  # it is there
    assert Decision.objects.count() == 1


def test_curator_and_auditor_read_it_without_the_askers_buttons() -> None:
    scene = make_scene()
    for who in (scene.people.carol, scene.people.dora):
        page = text(browser_of(who).get(f"/queries/{scene.tighter.uid}/"))
        assert "Asked by alice" in page
        assert "Tighten" not in page
        assert "Spending of alice so far" in page


def test_who_asked_before_is_nowhere_on_an_analysts_page() -> None:
    scene = make_scene()
    page = html(browser_of(scene.people.bob).get(f"/queries/{scene.repeat.uid}/"))
    assert "alice" not in page.lower()
