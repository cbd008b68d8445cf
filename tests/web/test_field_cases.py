"""Faults that people met in systems of this kind, tried on the pages and their files: prices, names, limits."""

import csv
import io
import json
from typing import Any

import pytest

from curator.mechanism import rho
from curator.models import Answer, Contract, Decision, LedgerEntry, Query, Release
from curator.services import execution
from tests.cast import ROWS, Cast, make_contract, make_version, person, units
from tests.web.scene import ask, browser_of, within
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

EVERYBODY = "SELECT COUNT(*) FROM people"
FORM = {"view": "sql", "sql": EVERYBODY, "kind": "within", "amount": "25", "confidence": "95", "key": "form-1"}
AWKWARD = ("capital-gain", "a.b", "a b", "order", 'q"q', "100%", "年齢", "select", "Ærø", "x'y", "<b>", "a_b", "🙂")


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


def posted(people: Cast, contract: Contract, part: str = "quote", **form: str) -> tuple[int, str, str]:
    """What the site says to Alice's form: status, page, words."""
    answer = browser_of(people.alice).post(f"/contracts/{contract.uid}/{part}/", FORM | form)
    return answer.status_code, html(answer), text(answer)


def exact(page: str) -> list[str]:
    """The exact amounts of a page, in order."""
    return [piece.split('"')[0] for piece in page.split('<data class="num nowrap" value="')[1:]]


def test_ten_bins_each_by_itself_or_all_at_once_and_the_page_says_which(people: Cast, contract: Contract) -> None:
    bins = f"{EVERYBODY} GROUP BY BIN(age, 10)"
    _, page, told = posted(people, contract, sql=bins, amount="10")
    assert exact(page)[0] == "0.019207294104"
    assert "each bin is within 10 people" in told
    _, page, told = posted(people, contract, sql=bins, amount="10", simultaneous="yes")
    assert exact(page)[0].startswith("0.03939719")
    assert "all 10 bins are within 10 people of the true counts at once" in told
    row = ask(
        people, contract, "alice", {"sql": bins, "accuracy": {"within": 10, "confidence": "0.95", "simultaneous": True}}, key="k"
    )
    execution.run(contract.pk)
    shown = text(browser_of(people.alice).get(f"/queries/{row.uid}/"))
    assert "each bin by itself" not in shown
    assert LedgerEntry.objects.get().load == units(exact(page)[0])  # once, not ten times


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 20, 10**4, 10**9])
def test_what_is_reached_is_never_wider_than_what_was_asked(people: Cast, bound: int) -> None:
    contract = make_contract(people, rho_total="9", rows=ROWS)
    for wider in (3 * bound, bound):  # from scratch, and topped up
        if wider <= 10**9:
            row = ask(people, contract, "alice", within(wider, {"always": True}), key=str(wider))
            execution.run(contract.pk)
            assert Answer.objects.get(query=row).bound in range(1, wider + 1)


def test_a_bound_of_a_thousand_million_costs_one_unit_and_one_more_is_refused(people: Cast, contract: Contract) -> None:
    _, page, _ = posted(people, contract, amount="1000000000")
    assert exact(page)[0] == "0.000000000001"
    status, _, told = posted(people, contract, amount="1000000001")
    assert status == 400
    assert "from 1 to 1000000000" in told


def test_all_that_remains_can_be_asked_for_with_the_figure_on_the_page(people: Cast) -> None:
    contract = make_contract(people, rho_total="0.123456789012", rows=ROWS)
    ask(people, contract, "bob", within(25, {"column": "sex", "equals": "F"}), key="k")
    execution.run(contract.pk)
    contract.refresh_from_db()
    page = html(browser_of(people.alice).get(f"/contracts/{contract.uid}/ask/"))
    left = rho.short(contract.rho_ans - contract.spent_bound)
    assert left in page
    assert posted(people, contract, "ask", kind="rho", amount=left, do="ask")[0] == 303
    execution.run(contract.pk)
    assert Query.objects.latest("id").state == "answered"


def test_when_nothing_remains_not_even_the_smallest_noise_is_drawn(people: Cast, contract: Contract) -> None:
    ask(people, contract, "bob", {"sql": EVERYBODY, "accuracy": {"rho": "1"}}, key="all")
    execution.run(contract.pk)
    row = ask(people, contract, "alice", within(10**9, {"column": "sex", "equals": "F"}), key="k")
    execution.run(contract.pk)
    row.refresh_from_db()
    assert (row.state, Release.objects.count(), LedgerEntry.objects.count()) == ("declined", 1, 1)  # the first one's


NONSENSE = ("-5", "0", "-inf", "inf", "NaN", "1e309", "1.5", "5 people", "٥", "", "9" * 400)


@pytest.mark.parametrize("amount", NONSENSE)
def test_a_bound_that_is_none_is_said_at_its_field_and_nothing_is_stored(people: Cast, contract: Contract, amount: str) -> None:
    status, page, told = posted(people, contract, "ask", amount=amount, do="ask")
    assert status == 400
    assert 'aria-describedby="amount-problem"' in page
    assert "Nothing was charged" in told
    assert not Query.objects.exists()


@pytest.mark.parametrize("confidence", ["120", "50", "100", "-1", "NaN", "inf", "1e309", "x", ""])
def test_a_confidence_that_is_none_is_said_at_its_field(people: Cast, contract: Contract, confidence: str) -> None:
    status, page, _ = posted(people, contract, "ask", confidence=confidence, do="ask")
    assert status == 400
    assert 'aria-describedby="confidence-problem"' in page
    assert not Query.objects.exists()


@pytest.mark.parametrize("amount", ["1", "25", "1000", "999999999", "1000000000"])
def test_without_history_no_quote_is_nothing(people: Cast, contract: Contract, amount: str) -> None:
    _, page, told = posted(people, contract, amount=amount)
    assert rho.parse(exact(page)[0], field="x") >= 1
    assert ", free" not in told


@pytest.mark.parametrize("condition", ["age < 0", "age > 99", "age > 5 AND age < 5", "sex = 'F' AND sex = 'M'"])
def test_what_nobody_can_match_is_nought_free_and_touches_nothing(people: Cast, contract: Contract, condition: str) -> None:
    _, _, told = posted(people, contract, sql=f"{EVERYBODY} WHERE {condition}")
    assert "no record is looked at" in told
    row = ask(people, contract, "alice", {"sql": f"{EVERYBODY} WHERE {condition}", **accuracy()}, key="k")
    execution.run(contract.pk)
    assert (Answer.objects.get(query=row).value or 0, Decision.objects.get(query=row).load) == (0, 0)
    assert not Release.objects.exists()


def accuracy() -> dict[str, Any]:
    return {"accuracy": {"within": 25, "confidence": "0.95"}}


def test_a_histogram_and_the_count_of_all_are_both_priced_and_the_quote_lists_its_parts(people: Cast, contract: Contract) -> None:
    _, _, told = posted(people, contract, sql=f"{EVERYBODY} GROUP BY city")
    for label in ("Oslo", "Rome", "Lima", "missing"):
        assert label in told.partition("Parts of this question")[2]
    bodies = [{"sql": f"{EVERYBODY} GROUP BY city", **accuracy()}, {"sql": EVERYBODY, **accuracy()}]
    client = browser_of(people.alice)
    sent = client.post(
        f"/api/v1/contracts/{contract.uid}/queries/", json.dumps(bodies), "application/json", headers={"Idempotency-Key": "both"}
    )
    assert sent.status_code == 202
    execution.run(contract.pk)
    assert [row.load > 0 for row in Decision.objects.order_by("query_id")] == [True, True]


def test_declared_categories_that_nobody_has_are_noisy_counts_like_others(people: Cast) -> None:
    values = [f"town {number}" for number in range(10)]
    schema = {"columns": [{"name": "town", "kind": "category", "values": values, "missing": True}]}
    rows = [{"town": values[place % 3]} for place in range(12)]
    contract = make_contract(people, make_version(people.carol, rows=rows, schema=schema))
    row = ask(people, contract, "alice", {"group_by": [{"column": "town"}], **accuracy()}, key="k")
    execution.run(contract.pk)
    empty = [answer.value for answer in Answer.objects.filter(query=row).order_by("position")][3:10]
    assert len(set(empty)) > 1  # seven draws at a standard deviation of 13: never all alike
    page = text(browser_of(people.alice).get(f"/queries/{row.uid}/"))
    assert all(value in page for value in values)


def test_columns_of_any_name_are_usable_on_every_page_and_in_every_file(people: Cast) -> None:
    columns = [{"name": name, "kind": "category", "values": ["u", "v"], "out_of_domain": "other"} for name in AWKWARD]
    rows = [dict.fromkeys(AWKWARD, "u") for _ in range(5)]
    contract = make_contract(people, make_version(people.carol, rows=rows, schema={"columns": columns}))
    inside, alice = f"/contracts/{contract.uid}", browser_of(people.alice)
    for place, name in enumerate(AWKWARD):
        form = {"view": "conditions", "row-0-column": name, "row-0-test": "equals", "row-0-value": "u", "group-0-column": name,
                "group-0-how": "each", "kind": "within", "amount": "50", "confidence": "95", "key": f"form-{place}"}  # fmt: skip
        switched = alice.post(f"{inside}/ask/", form | {"do": "to-sql"})
        assert switched.status_code == 200, name
        assert "made-up people" in text(alice.post(f"{inside}/ask/", form | {"do": "rehearse"})), name
        assert alice.post(f"{inside}/ask/", form | {"do": "save"}).status_code == 303, name
        asked = alice.post(f"{inside}/ask/", form | {"do": "ask"})
        assert asked.status_code == 303, (name, text(asked))
        execution.run(contract.pk)
        page = asked.headers["Location"]
        assert alice.get(page).status_code == 200
        told = list(csv.DictReader(io.StringIO(html(alice.get(f"{page}download.csv")))))
        assert [line["bin"] for line in told] == ["u", "v"], name
        assert json.loads(html(alice.get(f"{page}download.json")))["state"] == "answered"
        found = alice.get(f"{inside}/released/", {"column": name})
        assert (found.status_code, "?release=" in html(found)) == (200, True), name
        again = alice.get(f"{inside}/ask/", {"from": page.split("/")[-2]})
        assert again.status_code == 200
    saved = html(alice.get(f"{inside}/saved/"))
    assert "<b> is" not in saved
    assert alice.get(f"{inside}/").status_code == 200


def test_names_differ_by_case_and_an_error_suggests_the_other(people: Cast) -> None:
    columns = [{"name": name, "kind": "integer", "low": 0, "high": 99, "out_of_domain": "clamp"} for name in ("AGE", "age")]
    contract = make_contract(
        people, make_version(people.carol, rows=[{"AGE": "1", "age": "90"}] * 3, schema={"columns": columns})
    )
    assert exact(posted(people, contract, sql=f"{EVERYBODY} WHERE AGE >= 40")[1])
    status, _, told = posted(people, contract, sql=f"{EVERYBODY} WHERE Age >= 40")
    assert status == 400
    assert "Did you mean &quot;AGE&quot;?" in told


def test_who_was_not_invited_finds_nothing_anywhere(people: Cast, contract: Contract) -> None:
    row = ask(people, contract, "alice", within(25, {"always": True}), key="k")
    execution.run(contract.pk)
    fay = browser_of(person("fay", "analyst"))
    inside, api = f"/contracts/{contract.uid}", f"/api/v1/contracts/{contract.uid}"
    for address in (f"{inside}/", f"{inside}/ask/", f"{inside}/released/", f"{inside}/saved/", f"{inside}/compare/", f"{api}/",
                    f"/queries/{row.uid}/", f"/queries/{row.uid}/download.csv", f"/queries/{row.uid}/download.json",
                    f"{api}/releases/", f"{api}/released/", f"{api}/queries/", f"{api}/saved/"):  # fmt: skip
        assert fay.get(address).status_code == 404, address
    for address, body in ((f"{inside}/ask/", FORM | {"do": "rehearse"}), (f"{inside}/ask/", FORM | {"do": "save"}),
                          (f"{inside}/quote/", FORM), (f"/queries/{row.uid}/save/", {})):  # fmt: skip
        assert fay.post(address, body).status_code == 404, address
    assert fay.post(f"{api}/rehearse/", json.dumps({"sql": EVERYBODY, **accuracy()}), "application/json").status_code == 404
