"""Markup that people type into whatever can be named is text wherever it comes out: pages, mails, files, JSON, the record."""

import csv
import io
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from django.core import mail
from django.test import override_settings

from accounts import invitations, tokens
from accounts.models import ApiToken, Role
from curator.models import Contract, Dataset, Query, Upload
from curator.services import budget_requests, contracts, datasets, execution, mailing, raises, saved
from tests.cast import Cast, make_contract, make_version, person, units
from tests.fixtures.figures import Figure
from tests.privacy import addresses
from tests.uploads import sent
from tests.web.crawling import Answer, crawl
from tests.web.scene import accuracy, ask

pytestmark = pytest.mark.usefixtures("db")

MARKUP = "<img src=x onerror=alert(1)>"
OTHERS = ('"><svg/onload=alert(1)>', "</script><script>alert(1)</script>", "' autofocus onfocus=alert(1) x='", "&lt;b&gt;")
FILES = {"text/csv", "application/json", "application/jsonl", "application/x-ndjson", "text/x-python", "text/plain"}
VALUES = (MARKUP, *OTHERS, "{{ 7*7 }}", "=1+1")


@dataclass(slots=True)
class Read(HTMLParser):
    """What a browser makes of a page: what could run, and the words."""

    runs: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    script: str = ""

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.script = tag if tag in ("script", "style") else ""
        local = str(given.get("src", "")).startswith("/static/") or given.get("type") == "application/json"
        if tag in ("img", "iframe", "object", "embed", "style") or (tag == "script" and not local):
            self.runs.append(f"<{tag}>")
        self.runs += [f"{tag} {name}={value}" for name, value in attrs if name.startswith("on") or name == "style"]
        self.runs += [f"{tag} {value}" for value in given.values() if str(value).strip().lower().startswith("javascript:")]
        self.words += [str(value) for name, value in attrs if name in ("value", "title", "aria-label", "placeholder")]

    def handle_endtag(self, tag: str) -> None:
        self.script = ""

    def handle_data(self, data: str) -> None:
        self.words += [] if self.script else [data]


def named_by_markup(people: Cast) -> tuple[Contract, Query]:
    """A contract in use in which everything that can be called something is called so."""
    dataset = datasets.create_dataset(curator=people.carol, name=MARKUP, description=MARKUP, source=MARKUP)
    columns = [
        {"name": MARKUP, "kind": "category", "values": list(VALUES), "missing": True, "title": MARKUP},
        {"name": OTHERS[0], "kind": "integer", "low": 0, "high": 9, "title": OTHERS[1]},
    ]
    rows = [{MARKUP: value, OTHERS[0]: "3"} for value in VALUES]
    version = make_version(people.carol, rows=rows, schema={"columns": columns}, dataset=dataset)
    contract = make_contract(people, version, allotments={"alice": "0.4", "bob": "0.01"}, name=MARKUP)
    query = ask(people, contract, "alice", {"group_by": [{"column": MARKUP}], "label": MARKUP, **accuracy(20)}, key=MARKUP)
    ask(people, contract, "bob", {"where": {"column": MARKUP, "in": [MARKUP]}, "label": MARKUP, **accuracy(2)}, key="scarce")
    execution.run(contract.pk)
    saved.save_query(owner=people.alice, query=query, name=MARKUP)
    tokens.issue(user=people.alice, name=MARKUP, scope=ApiToken.Scope.READ, days=9)
    requests_and_reasons(people, contract)
    ask(people, contract, "alice", {"where": {"always": True}, "label": MARKUP, **accuracy(9)}, key="waiting")
    return contract, query


def requests_and_reasons(people: Cast, contract: Contract) -> None:
    """Whatever people explain to each other, and a file of a name of its own."""
    first = budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason=MARKUP)
    budget_requests.reject(curator=people.carol, request=first, note=MARKUP)
    budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.1") or 0, reason=MARKUP)
    for step in (contracts.freeze, contracts.reopen):
        step(curator=people.carol, contract=contract, reason=MARKUP)
    contracts.add_member(curator=people.carol, contract=contract, user=person("cyril", Role.CURATOR), role=Role.CURATOR)
    contracts.set_allotment(curator=people.carol, contract=contract, analyst=people.alice, rho=units("0.5"), reason=MARKUP)
    raises.raise_total(curator=people.carol, contract=contract, rho_total=units("3") or 0, reason=MARKUP)
    contracts.draft(curator=people.carol, version=contract.version, name=MARKUP, rho_total=units("1") or 0, kappa=Decimal(0))
    invitations.invite(curator=people.carol, contract=contract, role=Role.AUDITOR)
    sent(people.carol, f"{MARKUP};x\n{MARKUP};1\n", name=f"{MARKUP} again")


def checked(answer: Answer) -> bool:
    """Assert that nothing in an answer could run; whether the markup is there, as text."""
    assert answer.status < 500, answer.address
    assert answer.headers["X-Content-Type-Options"] == "nosniff", answer.address
    if answer.kind == "text/html":
        page = Read()
        page.feed(answer.text)
        page.close()
        assert page.runs == [], answer.address
        return any(MARKUP in word for word in page.words)
    assert answer.kind in FILES, answer.address
    if not answer.address.startswith("/api/"):
        assert answer.headers["Content-Disposition"].startswith("attachment"), answer.address
    return MARKUP in answer.text or MARKUP in json.dumps(answer.text)


def calls(contract: Contract) -> list[str]:
    """Every call of the API that only looks."""
    about: dict[str, list[object]] = {
        "contracts": [contract.uid],
        "uploads": uids(Upload),
        "datasets": uids(Dataset),
        "queries": uids(Query),
    }
    values: dict[str, list[object]] = defaultdict(list, about)
    found = addresses.looked_at(values)
    mine = [route for route in found if route.startswith("api/v1/") and route not in addresses.POSTED]
    return [address for route in mine for address in found[route]]


def uids(model: type[Upload] | type[Dataset] | type[Query]) -> list[object]:
    return list(model.objects.values_list("uid", flat=True))


@pytest.mark.trust
def test_markup_is_text_wherever_links_lead(people: Cast, figure: Figure) -> None:
    contract, _ = named_by_markup(people)
    api = calls(contract)
    looked = 0
    for name, least in (("alice", 35), ("bob", 30), ("carol", 70), ("dora", 45)):
        answers = list(crawl(getattr(people, name), *api))
        shown = [answer.address for answer in answers if checked(answer)]
        assert len(shown) >= least, (name, shown)
        looked += len(answers)
    figure(row=21, n=looked, seen="pages, files and API answers: 0 in which markup that people typed is more than text")


def test_the_files_hold_it_as_a_cell_and_as_a_string(people: Cast) -> None:
    _, query = named_by_markup(people)
    got = {answer.address: answer for answer in crawl(people.alice)}
    rows = list(csv.DictReader(io.StringIO(got[f"/queries/{query.uid}/download.csv"].text)))
    assert [row["bin"] for row in rows][: len(VALUES)] == [f"'{value}" if value[0] == "=" else value for value in VALUES]
    told = json.loads(got[f"/queries/{query.uid}/download.json"].text)
    assert told["label"] == MARKUP
    assert told["answers"][0]["bin"] == [MARKUP]
    export = next(answer for answer in crawl(people.dora) if answer.kind == "application/x-ndjson")
    bodies = [json.loads(line).get("body", {}) for line in export.text.splitlines()]
    kinds = {body["kind"] for body in bodies if MARKUP in json.dumps(body)}
    assert kinds >= {"query.submitted", "contract.state", "allotment.set"}


def test_mails_are_plain_text_whatever_they_tell_of(people: Cast) -> None:
    with override_settings(MAIL_AFTER=0.0, SITE_URL="https://counts.example.org"):
        contract, _ = named_by_markup(people)
        invitations.invite(curator=people.carol, contract=contract, role=Role.AUDITOR, email="nina@example.org")
        assert mailing.deliver() >= 3
    told = 0
    for message in mail.outbox:
        assert message.message().get_content_type() == "text/plain"
        assert "<" not in message.subject
        told += MARKUP in message.body
    assert told >= 3
