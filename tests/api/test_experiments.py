"""Carol replays transcripts and workloads by program, as on the laboratory's page; nobody else sees them."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from curator.experiments import running
from curator.models import AuditEvent, Contract, Experiment, LedgerEntry
from tests.api.conftest import Caller, decide
from tests.api.test_queries import OLD, ask
from tests.experiments.test_experiments import WORKLOAD


def send(caller: Caller, contract: Contract, lines: bytes, **settings: str) -> tuple[int, Any]:
    kind = "application/x-ndjson"
    answer = caller.client.generic(
        "POST", f"/api/v1/contracts/{contract.uid}/experiments/", lines, kind, query_params=settings, CONTENT_TYPE=kind
    )
    return answer.status_code, json.loads(answer.content)


def run(made: dict[str, Any]) -> None:
    running.run(Experiment.objects.get(uid=made["id"]).pk)


def test_the_transcript_is_replayed_under_other_settings(alice: Caller, carol: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    decide(contract)
    before = (LedgerEntry.objects.count(), AuditEvent.objects.count())
    status, made = carol.post(f"contracts/{contract.uid}/experiments/", {"rho_total": "0.001", "kappa": 0, "split": "none"})
    assert (status, made["state"], made["live"]) == (202, "waiting", True)
    assert (made["settings"]["rho_total"], made["settings"]["split"], float(made["settings"]["alpha"])) == ("0.001", "none", 1)
    waiting = carol.call("GET", f"experiments/{made['id']}/result/")
    assert (waiting[0], waiting[1]["code"]) == (409, "no_result")
    run(made)
    found = carol.get(f"experiments/{made['id']}/")
    assert (found["state"], found["done"], found["total"]) == ("done", 1, 1)
    assert carol.get(f"experiments/{made['id']}/result/")["allocators"]["residual"]["met"] == 0
    assert (LedgerEntry.objects.count(), AuditEvent.objects.count()) == before


def test_a_workload_is_sent_as_lines_and_gives_what_the_page_gives(carol: Caller, contract: Contract) -> None:
    status, made = send(carol, contract, WORKLOAD.encode(), rho_total="1", xi="0", split="as_given", title="Two who ask alike")
    assert (status, made["live"], made["title"]) == (202, False, "Two who ask alike")
    run(made)
    result = carol.get(f"experiments/{made['id']}/result/")
    page = carol.client.get(reverse("experiment-json", args=[made["id"]]))
    assert result == json.loads(page.content)
    assert (result["allocators"]["residual"]["spent"], result["saved_against_partition"]) == ("0.3", "0.3")
    assert carol.get(f"experiments/{made['id']}/curves/")["spend"]["residual"]["y"][-1] == 0.3
    status, again = carol.post(f"experiments/{made['id']}/again/", {"rho_total": "0.1"})
    assert (status, again["settings"]["rho_total"], again["title"]) == (202, "0.1", "Two who ask alike")
    listed = carol.get(f"contracts/{contract.uid}/experiments/")
    assert [(each["id"], each["spent"]) for each in listed["results"]] == [(again["id"], None), (made["id"], "0.3")]
    assert listed["next"] is None


def test_a_short_workload_may_stand_in_the_body(carol: Caller, contract: Contract) -> None:
    status, made = carol.post(f"contracts/{contract.uid}/experiments/", {"workload": WORKLOAD})
    assert (status, made["live"]) == (202, False)


def test_a_long_list_goes_on(carol: Caller, people: Any, contract: Contract) -> None:
    rows = [Experiment(contract=contract, owner=people.carol, title=str(i), scenario={}, state="refused") for i in range(15)]
    Experiment.objects.bulk_create(rows)
    first = carol.get(f"contracts/{contract.uid}/experiments/")
    rest = carol.get(f"contracts/{contract.uid}/experiments/?before={first['next']}")
    titles = [each["title"] for page in (first, rest) for each in page["results"]]
    assert (titles, rest["next"]) == ([str(i) for i in reversed(range(15))], None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rho_total": "0"}, "rho_total"), ({"rho_total": "1000001"}, "rho_total"), ({"rho_total": "NaN"}, "rho_total"),
        ({"xi": "1"}, "xi"), ({"xi": -0.1}, "xi"), ({"kappa": "101"}, "kappa"), ({"alpha": "eleven"}, "alpha"),
        ({"beta": True}, "beta"), ({"k": 0}, "k"), ({"k": "1.5"}, "k"), ({"k": 1001}, "k"), ({"split": "unfair"}, "split"),
        ({"split": ["none"]}, "split"), ({"rho": "1"}, "rho"), ({"workload": 7}, "workload"),
        ({"workload": "not json"}, "line 1"), ({"workload": WORKLOAD, "title": "a\u202eb"}, "title"),
    ],
)  # fmt: skip
def test_a_setting_that_makes_no_sense_is_refused_with_its_field(
    carol: Caller, contract: Contract, body: dict[str, object], field: str
) -> None:
    status, told = carol.post(f"contracts/{contract.uid}/experiments/", body)
    assert (status, told["field"]) == (400, field)
    assert not Experiment.objects.exists()


@pytest.mark.parametrize("lines", [b"", b" \n", b"\xff\xfe{", b'{"analyst": "a"}', WORKLOAD.encode() + b"not json"])
def test_lines_that_are_none_are_refused(carol: Caller, contract: Contract, lines: bytes) -> None:
    assert send(carol, contract, lines)[0] == 400
    assert not Experiment.objects.exists()


def test_only_curators_and_auditors_start_one_and_each_sees_their_own(
    alice: Caller, carol: Caller, dora: Caller, contract: Contract
) -> None:
    missing = alice.call("GET", f"experiments/{uuid4()}/")
    _, made = carol.post(f"contracts/{contract.uid}/experiments/", {})
    for other in (alice, dora):
        for method, path in (("GET", ""), ("GET", "result/"), ("GET", "curves/"), ("POST", "again/")):
            assert other.call(method, f"experiments/{made['id']}/{path}", {}) == missing
    for method in ("GET", "POST"):
        assert alice.call(method, f"contracts/{contract.uid}/experiments/", {}) == missing
    assert send(alice, contract, b"not json") == missing
    assert dora.post(f"contracts/{contract.uid}/experiments/", {})[0] == 202
    assert len(dora.get(f"contracts/{contract.uid}/experiments/")["results"]) == 1
