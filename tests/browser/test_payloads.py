"""Names, categories, labels and notes are text on every page: nothing that people type is ever run."""

from typing import TYPE_CHECKING, Any

import pytest
from django.template import engines

from curator.models import Contract, Dataset, Query
from curator.services import budget_requests, contracts, execution
from tests.browser.people import let_in
from tests.cast import Cast, cast, make_contract, make_version, units
from tests.fixtures.figures import Figure
from tests.web.scene import accuracy, ask

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]

PAYLOADS = (
    "<img src=x onerror=window.ran=1>",
    '"><script>window.ran=1</script>',
    "</script><script>window.ran=1</script>",
    "'-window.ran=1-'",
    "<svg/onload=window.ran=1>",
    "javascript:window.ran=1",
    "{{ 7*7 }}{% debug %}",
    "<a href=javascript:window.ran=1>click</a>",
    "<b>bold</b>&lt;i&gt;",
)


def schema() -> dict[str, Any]:
    """Every payload as a category, one as a column's name, one as a title."""
    return {
        "columns": [
            {"name": PAYLOADS[1], "kind": "category", "values": list(PAYLOADS), "missing": True, "title": PAYLOADS[0]},
            {"name": "age", "kind": "integer", "low": 0, "high": 99, "title": PAYLOADS[2]},
        ]
    }


def staged() -> tuple[Cast, Contract, list[Query]]:
    """A contract in which everything that can be named is named by a payload."""
    people = cast()
    rows = [{PAYLOADS[1]: payload, "age": str(20 + place)} for place, payload in enumerate(PAYLOADS)]
    dataset = Dataset.objects.create(name=PAYLOADS[0], description=PAYLOADS[1], source=PAYLOADS[2], owner=people.carol)
    version = make_version(people.carol, rows=rows, schema=schema(), dataset=dataset)
    contract = make_contract(people, version, allotments={"alice": "0.1", "bob": "0.01"})
    asked = [
        ask(people, contract, "alice", {"group_by": [{"column": PAYLOADS[1]}], "label": PAYLOADS[2], **accuracy(20)}, key="h"),
        ask(people, contract, "bob", {"where": {"column": PAYLOADS[1], "in": list(PAYLOADS[:3])}, **accuracy(2)}, key="c"),
    ]
    execution.run(contract.pk)
    first = budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason=PAYLOADS[0])
    budget_requests.reject(curator=people.carol, request=first, note=PAYLOADS[1])
    budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason=PAYLOADS[2])
    contracts.raise_total(curator=people.carol, contract=contract, rho_total=units("2") or 0, reason=PAYLOADS[4])
    return people, contract, asked


def addresses(contract: Contract, asked: list[Query]) -> dict[str, list[str]]:
    inside, questions = f"/contracts/{contract.uid}", [f"/queries/{query.uid}/" for query in asked]
    again = [f"{inside}/ask/?from={query.uid}" for query in asked]
    return {
        "alice": ["/", f"{inside}/", f"{inside}/released/?search=%3Cimg", f"{inside}/compare/", questions[0], again[0]],
        "bob": [f"{inside}/budget/", questions[1], again[1]],
        "carol": ["/", f"{inside}/control/", f"{inside}/people/", f"{inside}/requests/", "/datasets/", "/contracts/new/",
                  f"/datasets/{contract.dataset.uid}/", f"{inside}/laboratory/", *questions],
        "dora": ["/audit/", *(f"/audit/{contract.uid}/{seq}/" for seq in range(1, 16))],
    }  # fmt: skip


@pytest.mark.trust
def test_nothing_that_people_type_is_run(page: "Page", site: str, figure: Figure) -> None:
    people, contract, asked = staged()
    opened = 0
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for who, pages in addresses(contract, asked).items():
        let_in(page, site, getattr(people, who))
        for address in pages:
            answer = page.goto(address)
            assert answer
            assert answer.ok, address
            if page.locator("figure.chart").count():
                page.locator(".chart-plot .main-svg").first.wait_for()
            assert page.evaluate("window.ran") is None, address
            assert "49" not in page.title()
            opened += 1
    assert not dialogs
    assert opened > 30
    figure(row=21, n=opened, seen=f"0 executions of {len(PAYLOADS)} payloads on as many pages in Chromium")


@pytest.fixture
def unescaped(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Templates write what people typed as it is."""
    monkeypatch.setattr(engines["django"].engine, "autoescape", False)  # type: ignore[attr-defined]  # one of Django's own
    return settings


@pytest.fixture
def unguarded(unescaped: Any) -> None:
    """And no policy says what may be run."""
    unescaped.MIDDLEWARE = [each for each in unescaped.MIDDLEWARE if "csp" not in each]


def named(contract: Contract) -> list[str]:
    """Pages on which the dataset's name, an image that is none, stands as a heading or in a table."""
    return ["/datasets/", f"/datasets/{contract.dataset.uid}/"]


@pytest.mark.trust
def test_without_escaping_and_policy_it_would_be_run(unguarded: None, page: "Page", site: str, figure: Figure) -> None:
    people, contract, _ = staged()
    let_in(page, site, people.carol)
    for address in named(contract):
        page.goto(address)
        page.wait_for_function("window.ran === 1")
    figure(row=21, n=2, mutant="without escaping and policy: run on 2 of 2 pages, caught")


@pytest.mark.trust
def test_where_escaping_was_forgotten_the_policy_still_stops_it(unescaped: Any, page: "Page", site: str, figure: Figure) -> None:
    people, contract, _ = staged()
    let_in(page, site, people.carol)
    for address in named(contract):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert page.locator("img[src=x]").count()
        assert page.evaluate("window.ran") is None, address
    figure(row=21, n=2, seen="by the policy alone, escaping switched off: 0 executions")


def test_a_payload_survives_as_text(page: "Page", site: str) -> None:
    people, _, asked = staged()
    let_in(page, site, people.alice)
    page.goto(f"/queries/{asked[0].uid}/")
    shown = page.locator("tbody th[scope=row]").all_inner_texts()
    assert shown[: len(PAYLOADS)] == list(PAYLOADS)
    page.locator(".chart-plot .main-svg").first.wait_for()
    assert PAYLOADS[-1] in page.locator(".chart-plot .xtick text").all_text_contents()
