"""Whatever the OpenAPI document allows, and much that it does not, is answered without a server error and leaves sound books."""

import json
from collections import Counter
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, GenerationMode
from schemathesis.core.result import Ok

from accounts import tokens
from accounts.models import Throttle, User
from curator.experiments.scenarios import Chosen
from curator.models import Contract, Experiment
from curator.services import budget_requests, saved
from curator.services.verification import verify
from tests.cast import Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.uploads import sent
from tests.worker.scene import ask

Operation = APIOperation[Any, Any, Any, Any]
QUIETLY = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def operations() -> list[Operation]:
    document = json.loads(Client().get("/api/schema/", headers={"accept": "application/vnd.oai.openapi+json"}).content)
    found = list(schemathesis.openapi.from_dict(document).get_all_operations())
    assert all(isinstance(result, Ok) for result in found)
    return [result.ok() for result in found if isinstance(result, Ok)]


def key_of(user: User) -> str:
    return tokens.issue(user=user, name="for a program", scope="ask", days=1)[1]


def things(people: Cast) -> dict[str, str]:
    """Something real of every kind, by the first part of the addresses about it."""
    contract = make_contract(people, allotments={"alice": "0.1"})
    request = budget_requests.request(analyst=people.alice, contract=contract, amount=10**10, reason="more")
    query = ask(people.alice, contract)
    kinds = {"contracts": contract.uid, "queries": query.uid, "budget-requests": request.uid, "datasets": contract.dataset.uid}
    kinds["saved"] = saved.save_query(owner=people.alice, query=query, name="").uid
    kinds["experiments"] = Experiment.objects.create(
        owner=people.carol, contract=contract, title="refused", scenario=Chosen.of(contract).to_json(), state="refused"
    ).uid
    return {kind: str(uid) for kind, uid in kinds.items()}


def tried(operation: Operation, people: Cast, keys: list[str], examples: int, *, afresh: bool) -> Counter[int]:
    """Call one operation in many ways, about real things and made-up ones; how often each status came back."""
    seen: Counter[int] = Counter()
    kind = operation.path.removeprefix("/api/v1/").split("/")[0]
    named = f"{operation.method} {operation.path}"
    known = str(sent(people.carol, name=named).uid) if kind == "uploads" else things(people).get(kind)
    client = Client(raise_request_exception=False)

    def call(case: Any, key: str) -> None:
        parts = dict(case.path_parameters or {}) | ({"uid": known} if known else {})
        given_path = operation.path.format(**{name: quote(str(value), safe="") for name, value in parts.items()})
        body = b"" if isinstance(case.body, schemathesis.core.NotSet) else _bytes(case)
        answer = client.generic(
            str(case.method), given_path, body, case.media_type or "application/json", query_params=dict(case.query or {}),
            headers={"Authorization": f"Bearer {key}", "Idempotency-Key": str(len(seen))},
        )  # fmt: skip
        assert answer.status_code < 500, (case.method, given_path, case.query, body, answer.content[:500])
        if answer.status_code >= 400:
            assert set(json.loads(answer.content)) == {"code", "detail", "field"}, (given_path, answer.content[:500])
        seen[answer.status_code] += 1

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        cases = operation.as_strategy(generation_mode=mode)
        run = settings(
            max_examples=examples,
            deadline=None,
            derandomize=not afresh,
            database=None,
            suppress_health_check=QUIETLY,
            phases=[Phase.generate],
        )
        run(given(case=cases, key=st.sampled_from(keys))(call))()
    return seen


def test_what_is_no_address_is_told_in_json(people: Cast) -> None:
    client = Client(headers={"Authorization": f"Bearer {key_of(people.alice)}"})
    for method in ("GET", "POST", "DELETE", "HEAD"):
        answer = client.generic(method, "/api/v1/no-such/")
        assert answer.status_code == 404
        assert method == "HEAD" or answer.json()["code"] == "not_found"


def _bytes(case: Any) -> bytes:
    """Lines go as they are, anything else as JSON."""
    if isinstance(case.body, str) and case.media_type == "application/x-ndjson":
        return case.body.encode("utf-8", "replace")
    return case.body if isinstance(case.body, bytes) else json.dumps(case.body, default=str).encode()


def call_everything(people: Cast, examples: int, *, afresh: bool) -> Counter[int]:
    """Every operation by an analyst, a curator and an auditor; the books agree afterwards."""
    keys = [key_of(user) for user in (people.alice, people.carol, people.dora)]
    seen: Counter[int] = Counter()
    for operation in operations():
        Throttle.objects.all().delete()  # so many calls of so few people would be told to come back later
        seen += tried(operation, people, keys, examples, afresh=afresh)
    assert verify(list(Contract.objects.all())).ok
    return seen


@pytest.mark.trust
def test_no_call_is_a_server_error(people: Cast, figure: Figure) -> None:
    seen = call_everything(people, examples=6, afresh=False)
    assert sum(seen.values()) > 400
    assert seen[200] + seen[201] + seen[202] > 20, seen
    figure(row=9, n=sum(seen.values()), seen="0 server errors of as many generated API calls, books sound afterwards")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_call_is_a_server_error_whatever_is_drawn(people: Cast) -> None:
    assert sum(call_everything(people, examples=20, afresh=True).values()) > 1_000
