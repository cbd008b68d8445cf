"""A workload of 500 counts by four analysts, asked through the API and decided by a real worker.

The workload lies outside the project; where it is missing this case is skipped. `RDP_WORKLOADS` names its folder.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accounts.models import Role
from bench import exact, people, questions
from curator.mechanism import rho
from curator.models import Contract, LedgerEntry, Query
from curator.selectors.comparison import comparison
from curator.services import contracts, ingestion, memberships
from curator.services.datasets import PrivacyUnit
from curator.services.verification import verify
from rdp_site.environment import ROOT
from tests.api.conftest import caller_for
from tests.cast import Cast, person
from tests.cast import cast as make_cast
from tests.fixtures.worker import Worker

FOLDER = Path(os.environ.get("RDP_WORKLOADS") or ROOT.parent / "shared" / "bench")
N = 50_000


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()


@pytest.fixture
def lines(tmp_path: Path) -> list[questions.Line]:
    if not (FOLDER / "gen_workload.py").exists():
        pytest.skip(f"no workload in {FOLDER}")
    subprocess.run([sys.executable, str(FOLDER / "gen_workload.py"), str(tmp_path)], check=True, capture_output=True)
    return questions.read(tmp_path / "workload.jsonl")


def test_500_counts_by_four_analysts_cost_what_the_residual_rule_says(
    cast: Cast, lines: list[questions.Line], worker: Worker, tmp_path: Path
) -> None:
    contract = open_contract(cast, tmp_path)
    callers = {}
    for name in ("ana", "ben", "chi", "dee"):
        user = person(name, Role.ANALYST)
        memberships.add_member(curator=cast.carol, contract=contract, user=user, role=Role.ANALYST, allotment=rho.UNITS_PER_RHO)
        callers[name] = caller_for(user)
    for place, line in enumerate(lines):
        path = f"contracts/{contract.uid}/queries/"
        status, answer = callers[line["analyst"]].post(path, questions.request(line), **{"Idempotency-Key": f"w {place}"})
        assert status == 202, answer
    wait_for_all(contract)
    rows = list(Query.objects.filter(contract=contract).select_related("decision").prefetch_related("answers").order_by("pk"))
    charged = sum(row.decision.load for row in rows)
    assert {row.state for row in rows} == {"answered"}
    assert rho.text(charged)[:8] == "0.346211"
    assert sum(row.decision.load == 0 for row in rows) == 188
    found = comparison(contract)
    assert found is not None and rho.text(found.partition.spent or 0)[:8] == "0.487433"
    truth, _ = exact.counts(exact.prepared(people.people(N)), [line["conds"] for line in lines])
    shown = [row.answers.all()[0].value or 0 for row in rows]
    close = sum(abs(value - count) <= line["E"] for value, count, line in zip(shown, truth, lines, strict=True))
    assert close >= 0.93 * len(rows)
    assert sum(entry.load for entry in LedgerEntry.objects.filter(contract=contract)) == charged
    assert verify([contract]).first_difference is None
    sys.stdout.write(f"charged {rho.text(charged)}, free 188 of 500, within E {close} of {len(rows)}\n")


def open_contract(cast: Cast, folder: Path) -> Contract:
    path = people.write(N, folder / "people.parquet")
    schema = json.dumps(people.SCHEMA)
    version = ingestion.load(path, curator=cast.carol, name="people", schema_text=schema, unit=PrivacyUnit())
    return contracts.open_contract(curator=cast.carol, version=version, name="W", stands=True, rho_total=rho.UNITS_PER_RHO)


def wait_for_all(contract: Contract) -> None:
    deadline = time.monotonic() + 200
    while Query.objects.filter(contract=contract, state=Query.State.WAITING).exists():
        assert time.monotonic() < deadline, "the worker is not done"
        time.sleep(0.1)
