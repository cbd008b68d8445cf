"""Amounts look alike everywhere: three digits with all of them on hover, and epsilon beside every total."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from curator.mechanism import rho
from curator.models import AuditEvent, Contract
from curator.selectors import formatting
from curator.services import contracts
from curator.templatetags.figures import amounts
from tests.browser.pictured import Pictured, make_pictured, pages
from tests.cast import Cast, make_contract
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

#: Where every digit stands on purpose, or where it is not the page that speaks: what was typed, what is hashed, what is drawn.
APART = {"script", "style", "pre", "textarea", "time", "option", "title"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
BLOCKS = {"p", "dd", "div", "li", "h1", "h2", "span"}
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
IN_RHO = re.compile(r"\d\s*ρ")


@dataclass(slots=True)
class Element:
    """An element with its attributes, and the pieces of text and elements in it."""

    tag: str
    attrs: dict[str, str]
    parent: "Element | None" = None
    inside: list["Element | str"] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.words for piece in self.inside)

    @property
    def kinds(self) -> set[str]:
        return set(self.attrs.get("class", "").split())

    def all(self) -> Iterator["Element"]:
        for piece in self.inside:
            if isinstance(piece, Element):
                yield piece
                yield from piece.all()

    def bare(self) -> str:
        """The text that stands outside of what marks a figure."""
        found = []
        for piece in self.inside:
            if isinstance(piece, str):
                found.append(piece)
            elif piece.tag not in APART and piece.tag != "data":
                found.append(piece.bare())
        return " ".join(found)


class Reader(HTMLParser):
    """A page as a tree."""

    def __init__(self) -> None:
        super().__init__()
        self.root = self.at = Element("html", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.inside.append(made)
        if tag not in VOID:
            self.at = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.inside.append(Element(tag, {name: value or "" for name, value in attrs}, self.at))

    def handle_endtag(self, tag: str) -> None:
        while self.at.parent is not None:
            done, self.at = self.at, self.at.parent
            if done.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        self.at.inside.append(data)


def read(page: str) -> Element:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader.root


def looked_at(scene: Pictured) -> Iterator[tuple[str, Element]]:
    """Every page of the pictures, as a tree, with who looks at what."""
    for who, addresses in pages(scene).items():
        client = Client() if who == "nobody" else browser_of(getattr(scene.people, who))
        for name, address in addresses.items():
            yield f"{who} {name}", read(client.get(address).content.decode())


def misshapen(element: Element) -> str:
    """What is wrong with the form of one marked figure; empty where nothing is."""
    value, shown = element.attrs.get("value", ""), element.words
    if "epsilon" in element.kinds:
        good = re.fullmatch(r"ε (0|\d[\d.]*) at δ \S+", shown) and element.attrs.get("title") == f"ε {value}"
        return "" if good else f"epsilon {shown}"
    units = rho.parse(value, field="value")
    if "whole" in element.kinds:
        return "" if shown == value == rho.text(units) else f"whole {shown}"
    forms = {formatting.amount(units, price=price) for price in (False, True)}
    good = shown.removesuffix(" ρ") in forms and element.attrs.get("title") == f"{rho.text(units)} ρ"
    return "" if good else f"amount {shown} for {value}"


def test_amounts_look_alike_on_every_page() -> None:
    """One walk through all pictured pages: each amount in its form, none outside it, totals with epsilon, charts like pages."""
    scene = make_pictured()
    trees = dict(looked_at(scene))
    figures = [(place, each) for place, tree in trees.items() for each in tree.all() if each.tag == "data"]
    wrong = [f"{place}: {fault}" for place, each in figures if (fault := misshapen(each))]
    assert not wrong, "\n".join(wrong)
    long = {value for _, each in figures if len((value := each.attrs["value"]).replace(".", "").strip("0")) > 3}
    loose = [f"{place}: {found}" for place, tree in trees.items() for found in outside(tree, long)]
    assert not loose, "\n".join(loose)
    totals = {rho.text(row.rho_total) for row in Contract.objects.all()} | {rho.text(scene.contract.spent_bound)}
    alone = [f"{place}: {each.words}" for place, each in figures if is_total(place, each, totals) and not has_epsilon(each)]
    assert not alone, "\n".join(alone)
    charts = [chart for tree in trees.values() for chart in charts_of(tree)]
    assert not [chart for chart in charts if not tells_amounts(chart)]
    seen = (len(figures), len(long), sum(is_total(place, each, totals) for place, each in figures), len(charts))
    assert all(found > least for found, least in zip(seen, (500, 50, 10, 5), strict=True)), seen


def outside(tree: Element, long: set[str]) -> Iterator[str]:
    """Amounts in a page's words that are not marked: long exact ones, numbers of ρ, cells in columns of ρ."""
    text = tree.bare()
    yield from (f"{found[0]} stands alone" for found in DECIMAL.finditer(text) if found[0] in long)
    yield from (f"…{text[max(0, found.start() - 30) : found.end()]}" for found in IN_RHO.finditer(text))
    yield from (f"{cell} in a column of ρ" for cell in unmarked_cells(tree))


def unmarked_cells(tree: Element) -> Iterator[str]:
    """Figures in columns whose head says ρ that are not marked as amounts."""
    for table in (each for each in tree.all() if each.tag == "table"):
        rows = [[cell for cell in row.inside if isinstance(cell, Element)] for row in table.all() if row.tag == "tr"]
        heads = [cell.words for cell in rows[0]] if rows else []
        for row in rows[1:]:
            if len(row) == len(heads):  # a cell over several columns says why there is no figure
                yield from (
                    cell.words for head, cell in zip(heads, row, strict=True) if "ρ" in head and re.search(r"\d", cell.bare())
                )


def is_total(place: str, figure: Element, totals: set[str]) -> bool:
    """What a contract may spend in all, or has spent; in tables of single charges and on events amounts stand alone."""
    apart = figure.kinds & {"epsilon", "whole"} or within(figure, {"table", "details"}) or "event" in place
    return figure.attrs["value"] in totals and not apart


def within(element: Element | None, tags: set[str]) -> bool:
    return element is not None and (element.tag in tags or within(element.parent, tags))


def has_epsilon(figure: Element) -> bool:
    """In the same line, behind the figure, or in the next line where no other figure is named."""
    line = figure.parent
    while line is not None and line.tag not in BLOCKS:
        line = line.parent
    if line is None or line.parent is None:
        return False
    lines = [each for each in line.parent.inside if isinstance(each, Element)]
    after = lines[next(place for place, each in enumerate(lines) if each is line) + 1 :]
    if after and after[0].tag == "dt" and not after[0].words.strip():
        after = after[1:]  # a line of a list without a name goes on with the one before
    return any(follows(one, figure) for one in (line, *after[:1]))


def follows(line: Element, figure: Element) -> bool:
    """Whether the first figure of a line, or the one behind this figure, is an epsilon."""
    found = [each for each in line.all() if each.tag == "data"]
    place = next((place + 1 for place, each in enumerate(found) if each is figure), 0)
    return len(found) > place and "epsilon" in found[place].kinds


def charts_of(tree: Element) -> Iterator[dict[str, Any]]:
    """The charts of amounts of a page."""
    found = (json.loads(each.words) for each in tree.all() if each.attrs.get("type") == "application/json")
    yield from (chart for chart in found if "ρ" in chart.get("y_title", ""))


def tells_amounts(chart: dict[str, Any]) -> bool:
    """Whoever points at a chart reads each amount in the form of the table below it."""
    series = [*chart.get("lines", []), *chart.get("bars", []), *chart.get("points", [])]
    told = [(each, height) for one in series for each, height in zip(one["told"], one["y"], strict=True)]
    return all(
        re.fullmatch(r"(0|\d[\d.]*) ρ", each) and abs(float(each[:-2]) - height) <= height / 100 + 1e-12 for each, height in told
    )


def test_a_price_in_a_sentence_is_rounded_up_and_what_people_typed_stays_as_it_is() -> None:
    assert "0.00124 ρ" in text_of(amounts(f"first {formatting.spoken(1_239_999_999, price=True)}, from"))
    assert "0.00123 ρ" in text_of(amounts(f"first {formatting.spoken(1_239_999_999)}, from"))
    for typed in ("9999999\u00a0ρ", "12345678\u00a0ρ", "1.0000000000001\u00a0ρ", "<b>1e400\u00a0ρ"):
        assert text_of(amounts(typed)) == typed


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def test_no_reason_makes_the_record_unreadable_or_is_shown_otherwise_than_typed(people: Cast) -> None:
    contract = make_contract(people)
    reason = "more than 9999999\u00a0ρ and 1.00001\u00a0ρ, <data>7</data>"
    contracts.freeze(curator=people.carol, contract=contract, reason=reason)
    event = AuditEvent.objects.filter(chain=str(contract.uid)).latest("seq")
    dora = browser_of(people.dora)
    for address in (f"/audit/?chain={contract.uid}", f"/audit/{contract.uid}/{event.seq}/"):
        answer = dora.get(address)
        assert answer.status_code == 200
        assert reason in html.unescape(answer.content.decode())
