"""Everyone sees only their own: every address, for every role, with one's own thing, somebody else's and a missing one."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, reverse

from accounts.models import Role, User
from curator.models import AuditEvent
from curator.services import denials
from curator.web import urls
from tests.cast import Cast, make_contract, person
from tests.fixtures.figures import Figure
from tests.uploads import sent
from tests.web.scene import Scene, ask, browser_of, make_scene, within

pytestmark = pytest.mark.usefixtures("db")

NOTHING = uuid4()
POSTED = {"quote", "query-cancel", "query-save", "request-decide", "key-revoke", "notices-seen"}
OPEN = {"glossary"}  # to whoever comes, signed in or not
MEMBERS = {"alice", "bob", "carol", "dora"}
#: Who may open each page of the scene; everybody who signs in may open the others.
ALLOWED: dict[str, set[str]] = {
    "workspace": {"alice", "bob"}, "ask": {"alice", "bob"}, "quote": {"alice", "bob"}, "budget": {"alice", "bob"},
    "saved": {"alice", "bob"}, "query-save": {"alice"},
    "released": MEMBERS, "compare": MEMBERS,
    "control": {"carol"}, "people": {"carol"}, "requests": {"carol"}, "request-decide": {"carol"},
    "query": {"alice", "carol", "dora"}, "query-status": {"alice", "carol", "dora"}, "query-cancel": {"alice"},
    "query-csv": {"alice", "carol", "dora"}, "query-json": {"alice", "carol", "dora"},
    "datasets": {"carol", "eve"}, "dataset-new": {"carol", "eve"}, "dataset": {"carol"}, "version-new": {"carol"},
    "upload": {"carol"}, "upload-column": {"carol"}, "upload-suggest": {"carol"}, "upload-freeze": {"carol"},
    "version-use": {"carol"}, "version-overlap": {"carol"},
    "contract-new": {"carol", "eve"}, "contract-edit": {"carol"}, "raises": {"carol"}, "directory": {"carol", "eve"},
    "key-revoke": set(),
    "laboratory": {"carol", "dora"}, "experiment": set(), "experiment-status": set(), "experiment-json": set(),
    "audit": {"carol", "dora", "eve"}, "audit-verify": {"carol", "dora", "eve"}, "audit-event": {"carol", "dora"},
    "audit-receipts": {"carol", "dora", "eve"}, "audit-receipts-file": {"carol", "dora", "eve"},
    "audit-export": {"carol", "dora", "eve"}, "audit-verifier": {"carol", "dora", "eve"}, "audit-balance": {"carol", "dora"},
    "verification": set(), "verification-status": set(),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Things:
    """The parameters of addresses: of the scene, of somebody else's, of nothing."""

    contract: UUID
    query: UUID
    request: UUID
    dataset: UUID
    upload: UUID
    version: UUID

    def of(self, kind: str) -> UUID:
        """What an address of this kind is about; there are no experiments here."""
        return {
            "datasets": self.dataset, "queries": self.query, "contracts": self.contract, "audit": self.contract,
            "experiments": NOTHING, "uploads": self.upload, "versions": self.version,
        }[kind]  # fmt: skip

    def address(self, pattern: URLPattern) -> str:
        """The address of a page about these."""
        name, route = pattern.name or "", str(pattern.pattern)
        given: dict[str, object] = {}
        if "<uuid:uid>" in route:
            given["uid"] = self.of(route.partition("/")[0])
        if "<uuid:request_uid>" in route:
            given["request_uid"] = self.request
        if "<int:place>" in route:
            given["place"] = 0
        if "<str:chain>" in route:
            given |= {"chain": self.contract, "seq": 1}
        if "<int:token_id>" in route:
            given["token_id"] = 1  # nobody here has a key
        return reverse(name, kwargs=given)


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


def own(scene: Scene) -> Things:
    contract = scene.contract
    upload = sent(scene.people.carol, name=str(uuid4()))
    return Things(contract.uid, scene.first.uid, scene.request.uid, contract.dataset.uid, upload.uid, contract.version.uid)


def missing() -> Things:
    return Things(uuid4(), uuid4(), uuid4(), uuid4(), uuid4(), uuid4())


def foreign() -> Things:
    """A contract of other people, in use."""
    people = Cast(
        alice=person("fay", Role.ANALYST), bob=person("gus", Role.ANALYST),
        carol=person("hal", Role.CURATOR), dora=person("ida", Role.AUDITOR),
    )  # fmt: skip
    contract = make_contract(people, allotments={"fay": "0.1"})
    query = ask(people, contract, "alice", within(25, {"column": "sex", "equals": "F"}), key="theirs")
    return Things(contract.uid, query.uid, uuid4(), contract.dataset.uid, sent(people.carol).uid, contract.version.uid)


def everybody(scene: Scene) -> dict[str, User]:
    people = {name: getattr(scene.people, name) for name in MEMBERS}
    return people | {"eve": person("eve", Role.ANALYST, Role.CURATOR, Role.AUDITOR)}


def patterns() -> list[URLPattern]:
    found = [pattern for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]
    assert {pattern.name for pattern in found} >= set(ALLOWED)
    return found


def visit(client: Client, pattern: URLPattern, things: Things) -> HttpResponseBase:
    address = things.address(pattern)
    return client.post(address) if pattern.name in POSTED else client.get(address)


def body(answer: HttpResponseBase) -> str:
    """The page without the parts that are random for everybody."""
    text = getattr(answer, "content", b"").decode()
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


@pytest.mark.trust
def test_each_role_opens_its_pages_and_no_others(scene: Scene, figure: Figure) -> None:
    checked = 0
    things = own(scene)
    for name, user in everybody(scene).items():
        client = browser_of(user)
        for pattern in patterns():
            allowed = name in ALLOWED.get(pattern.name or "", {name})
            status = visit(client, pattern, things).status_code
            assert (status != 404) is allowed, (name, pattern.name, status)
            checked += 1
    assert checked == 5 * len(urls.urlpatterns)
    figure(row=19, n=checked, seen="pages: 0 opened by a role that may not, 0 refused to one that may")


@pytest.mark.trust
def test_foreign_and_missing_are_one_answer(scene: Scene, figure: Figure) -> None:
    theirs, nothing = foreign(), missing()
    about = [pattern for pattern in patterns() if "<" in str(pattern.pattern)]
    compared = 0
    for user in everybody(scene).values():
        client = browser_of(user)
        for pattern in about:
            answers = [visit(client, pattern, things) for things in (theirs, nothing)]
            assert [answer.status_code for answer in answers] == [404, 404], pattern.name
            assert body(answers[0]) == body(answers[1]), pattern.name
            compared += 1
    assert compared == 5 * len(about) >= 80
    figure(row=19, n=compared, seen="pages: 0 answers about other people's things that differ from those about missing ones")


def test_whoever_is_not_signed_in_is_asked_to(scene: Scene) -> None:
    client = Client()
    for pattern in patterns():
        answer = visit(client, pattern, own(scene))
        if pattern.name in OPEN:
            assert answer.status_code == 200, pattern.name
            continue
        assert answer.status_code == 302, pattern.name
        assert str(answer.headers["Location"]).startswith("/sign-in/"), pattern.name


def test_a_fragment_sends_the_whole_page_to_sign_in(scene: Scene) -> None:
    answer = Client().get(reverse("query-status", args=[scene.first.uid]), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/sign-in/")


def test_denied_access_is_on_the_record(scene: Scene) -> None:
    browser_of(scene.people.bob).get(f"/contracts/{scene.contract.uid}/control/")
    denials.tell(datetime.now(UTC) + timedelta(minutes=1))
    event = AuditEvent.objects.filter(chain="site", kind="access.denied").latest("seq")
    assert event.actor == "bob"
    assert f"GET /contracts/{scene.contract.uid}/control/" in bytes(event.body).decode()


def test_an_analyst_sees_nobody_elses_questions_in_a_comparison(scene: Scene) -> None:
    address = f"/contracts/{scene.contract.uid}/compare/"
    assert browser_of(scene.people.alice).get(address, {"whose": "bob"}).status_code == 404
    assert browser_of(scene.people.alice).get(address, {"whose": "nobody"}).status_code == 404
    assert browser_of(scene.people.carol).get(address, {"whose": "bob"}).status_code == 200


def test_a_question_cannot_be_started_from_one_that_is_not_mine(scene: Scene) -> None:
    address = f"/contracts/{scene.contract.uid}/ask/"
    client = browser_of(scene.people.bob)
    for given in ({"from": str(scene.first.uid)}, {"from": str(uuid4())}, {"from": "x"}, {"release": "0" * 64}, {"release": "'"}):
        assert client.get(address, given).status_code == 404, given


def test_a_character_that_the_database_cannot_hold_is_refused_everywhere(scene: Scene) -> None:
    client = browser_of(scene.people.carol)
    inside = f"/contracts/{scene.contract.uid}"
    assert client.get(f"{inside}/released/", {"search": "a\x00"}).status_code == 400
    assert client.post(f"{inside}/people/", {"do": "remove", "username": "bob\x00"}).status_code == 400
    assert Client().post("/sign-in/", {"username": "bob\x00", "password": "x"}).status_code == 400
