"""Downloads: the figures of the page, numbers as numbers, and no cell that a spreadsheet would run."""

import csv
import io
import json
import re

import pytest

from curator.selectors import spreadsheet
from curator.selectors.spreadsheet import safe, safe_row
from curator.services import execution
from tests.cast import ROWS, cast, make_contract, make_version
from tests.fixtures.figures import Figure
from tests.web.scene import accuracy, ask, browser_of, make_scene
from tests.web.test_asking import html

FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1+1",
    "＝1",
    '=HYPERLINK("http://x")',
    "-",
    "--1",
    "-1e5x",
)
NUMBERS = ("-3", "0", "12.5", "-0.25", "1874")


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_cell_that_starts_like_a_formula_is_neutralised(cell: str) -> None:
    assert safe(cell) == f"'{cell}"


@pytest.mark.trust
def test_the_whole_corpus_in_one_figure(figure: Figure) -> None:
    assert (unsafe(), changed()) == ([], [])
    figure(row=21, n=len(FORMULAS) + len(NUMBERS), seen="0 unsafe cells, 0 numbers turned into text")


def unsafe() -> list[str]:
    return [cell for cell in FORMULAS if safe_row([cell]) == [cell]]


def changed() -> list[str]:
    return [cell for cell in NUMBERS if safe_row([cell]) != [cell]]


@pytest.mark.trust
def test_cells_as_they_are_and_an_apostrophe_before_every_sign_are_both_found(
    monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(spreadsheet, "STARTS", ())
        assert unsafe() == list(FORMULAS)
    monkeypatch.setattr(spreadsheet, "NUMBER", re.compile("never"))
    assert changed() == ["-3", "-0.25"]
    told = f"cells as they are: {len(FORMULAS)} formulas, caught; an apostrophe before every sign: 2 numbers spoilt, caught"
    figure(row=21, n=len(FORMULAS) + len(NUMBERS), mutant=told)


@pytest.mark.parametrize("cell", NUMBERS)
def test_numbers_stay_numbers(cell: str) -> None:
    assert safe_row([cell, int(float(cell)), None]) == [cell, int(float(cell)), None]


@pytest.mark.usefixtures("db")
def test_the_files_say_what_the_page_says() -> None:
    scene = make_scene()
    client = browser_of(scene.people.alice)
    page = html(client.get(f"/queries/{scene.tighter.uid}/"))
    rows = list(csv.DictReader(io.StringIO(html(client.get(f"/queries/{scene.tighter.uid}/download.csv")))))
    told = json.loads(html(client.get(f"/queries/{scene.tighter.uid}/download.json")))
    assert len(rows) == 1
    answer = told["answers"][0]
    assert int(rows[0]["value"]) == answer["value"]
    assert f"{answer['value']:,}".replace("-", "−") in page
    assert answer["rho_min"] == rows[0]["rho_min"] == "0.019207294104"
    assert told["decision"]["charge"] in page
    assert [release["rho"] for release in told["releases"]] == ["0.016134127047", "0.003073167057"]
    assert told["receipt"]["head"] in page


@pytest.mark.usefixtures("db")
def test_a_category_that_is_a_formula_is_text_in_the_file() -> None:
    people = cast()
    schema = {"columns": [{"name": "city", "kind": "category", "values": ["=1+1", "@x", "Rome"], "missing": True}]}
    rows = [{"city": str(row["city"])} for row in ROWS]
    contract = make_contract(people, make_version(people.carol, rows=rows, schema=schema))
    query = ask(people, contract, "alice", {"group_by": [{"column": "city"}], **accuracy(25)}, key="k")
    execution.run(contract.pk)
    text = html(browser_of(people.alice).get(f"/queries/{query.uid}/download.csv"))
    labels = [row["bin"] for row in csv.DictReader(io.StringIO(text))]
    assert labels[:3] == ["'=1+1", "'@x", "Rome"]


@pytest.mark.usefixtures("db")
def test_a_waiting_question_has_nothing_to_download() -> None:
    scene = make_scene()
    assert browser_of(scene.people.alice).get(f"/queries/{scene.waiting.uid}/download.csv").status_code == 409
