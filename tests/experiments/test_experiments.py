"""Carol replays the live transcript and workload files; nothing is read, nothing is spent, nobody else sees it."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.mechanism.errors import BadInput, TooMany
from curator.models import AuditEvent, Contract, Experiment, LedgerEntry
from curator.selectors.comparison import comparison
from curator.services import execution, queries
from tests.cast import ROWS, Cast, cast, make_contract

WORKLOAD = """
{"allotment": "a1", "rho": "0.5"}
{"allotment": "a2", "rho": "0.5"}
{"analyst": "a1", "query": "q7", "rho_min": "0.3"}
{"analyst": "a2", "query": "q7", "rho_min": "0.3"}
"""


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def ask(people: Cast, contract: Contract) -> None:
    for key, analyst in enumerate((people.alice, people.bob)):
        body = {"sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "accuracy": {"within": 20}}
        queries.submit(analyst=analyst, contract=contract, body=body, key=str(key))
    execution.run(contract.pk)


def replayed(experiment: Experiment) -> Experiment:
    running.run(experiment.pk)
    experiment.refresh_from_db()
    return experiment


def allocators(experiment: Experiment) -> dict[str, Any]:
    assert experiment.result is not None
    return dict(experiment.result["report"]["allocators"])


def test_the_live_transcript_under_its_own_settings_is_what_the_compare_page_says(people: Cast, contract: Contract) -> None:
    ask(people, contract)
    ledger, events = LedgerEntry.objects.count(), AuditEvent.objects.count()
    done = replayed(running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract)))
    assert done.state == "done" and (done.done, done.total) == (2, 2)
    found = comparison(contract)
    assert found is not None
    for rule in found.rules:
        shown = allocators(done)[rule.name]
        assert (int(Decimal(shown["spent"]) * 10**12), shown["met"]) == (rule.spent, rule.met)
    assert (LedgerEntry.objects.count(), AuditEvent.objects.count()) == (ledger, events)


def test_a_smaller_total_declines_what_the_real_one_answered(people: Cast, contract: Contract) -> None:
    ask(people, contract)
    chosen = Chosen(
        rho_total=1_000_000,
        xi=Decimal(0),
        kappa=Decimal(0),
        alpha=Decimal(1),
        beta=Decimal(1),
        k=1,
        split=Chosen.of(contract).split,
    )
    done = replayed(running.start(owner=people.carol, contract=contract, chosen=chosen))
    assert allocators(done)["residual"]["met"] == 0


def test_a_workload_file_through_the_pages(people: Cast, contract: Contract) -> None:
    carol = client_of(people.carol)
    form = {"rho_total": "1", "xi": "0", "kappa": "0.02", "alpha": "1", "beta": "1", "k": "1", "split": "as_given"}
    sent = carol.post(
        reverse("laboratory", args=[contract.uid]), {**form, "file": SimpleUploadedFile("w.jsonl", WORKLOAD.encode())}
    )
    assert sent.status_code in (302, 303), sent.content.decode()
    row = Experiment.objects.get()
    assert carol.get(reverse("experiment", args=[row.uid])).status_code == 200
    replayed(row)
    status = carol.get(reverse("experiment-status", args=[row.uid]))
    assert status.headers["HX-Refresh"] == "true"
    page = carol.get(reverse("experiment", args=[row.uid])).content.decode()
    assert "Ratio to the optimum" in page
    found = json.loads(carol.get(reverse("experiment-json", args=[row.uid])).content)
    assert found["allocators"]["residual"]["spent"] == "0.3"
    assert found["allocators"]["budget_partition"]["spent"] == "0.6"
    assert found["saved_against_partition"] == "0.3"


@pytest.mark.parametrize(
    "line", ["not json", '{"analyst": "a", "query": "q", "rho_min": "0.3", "weight": -1}', '{"analyst": "a"}']
)
def test_a_line_that_does_not_parse_is_refused_with_its_number(people: Cast, contract: Contract, line: str) -> None:
    with pytest.raises(BadInput, match="line 6"):
        running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract), workload=f"{WORKLOAD}{line}\n")
    assert not Experiment.objects.exists()


def test_a_late_line_that_does_not_parse_ends_the_experiment_with_its_number(people: Cast, contract: Contract) -> None:
    late = WORKLOAD.strip() + '\n{"analyst": "a1", "query": "q8", "rho_min": "0.1"}' * 400 + "\nnot json\n"
    done = replayed(running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract), workload=late))
    assert done.state == "refused" and "line 405" in done.detail


def test_only_curators_and_auditors_of_the_contract_get_in_and_see_their_own(people: Cast, contract: Contract) -> None:
    row = running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract))
    assert client_of(people.alice).get(reverse("laboratory", args=[contract.uid])).status_code == 404
    for person in (people.alice, people.dora):
        assert client_of(person).get(reverse("experiment", args=[row.uid])).status_code == 404
    assert client_of(people.dora).get(reverse("laboratory", args=[contract.uid])).status_code == 200


def test_settings_out_of_range_name_their_field(people: Cast, contract: Contract) -> None:
    form = {"rho_total": "1", "xi": "1.5", "kappa": "-1", "alpha": "x", "beta": "1", "k": "0", "split": "as_given"}
    page = client_of(people.carol).post(reverse("laboratory", args=[contract.uid]), form)
    assert page.status_code == 400
    assert not Experiment.objects.exists()


def test_a_person_has_at_most_a_few_waiting(people: Cast, contract: Contract) -> None:
    for _ in range(running.MAX_WAITING):
        running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract))
    with pytest.raises(TooMany):
        running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract))


def test_an_experiment_that_ends_its_worker_twice_is_refused(people: Cast, contract: Contract) -> None:
    row = running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract))
    Experiment.objects.filter(pk=row.pk).update(attempts=running.MAX_ATTEMPTS)
    assert replayed(row).state == "refused"
