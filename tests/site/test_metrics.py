"""Numbers for those who keep the site running: for whoever has the token, and about nobody's records."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from curator.models import Contract, Query
from curator.selectors.operations import alerts, site_state
from rdp_site.environment import ROOT
from tests.cast import Cast, cast, make_contract
from tests.record.verified import verify_for
from tests.worker.scene import ask

TOKEN = {"authorization": "Bearer a-token"}


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people)


def samples(client: Client) -> dict[str, float]:
    with override_settings(METRICS_TOKEN="a-token"):
        text = client.get("/metrics", headers=TOKEN).content.decode()
    return {sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples}


@pytest.mark.parametrize(
    ("token", "headers"), [("", {}), ("", TOKEN), ("a-token", {}), ("a-token", {"authorization": "Bearer other"})]
)
def test_without_the_token_there_is_no_such_page(token: str, headers: dict[str, Any], db: None, client: Client) -> None:
    with override_settings(METRICS_TOKEN=token):
        answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 404
    assert answer.content == client.get("/no-such-page").content


def test_what_waits_is_counted_and_timed(people: Cast, contract: Contract, client: Client) -> None:
    ask(people.alice, contract)
    found = samples(client)
    assert found["residual_queries_waiting"] == 1
    assert found["residual_oldest_query_seconds"] >= 0
    assert found["residual_contract_left_ratio"] == 1
    assert "residual_record_consistent" not in found


def test_the_latest_verification_is_told(people: Cast, contract: Contract, client: Client) -> None:
    verify_for(people.dora, [contract])
    assert samples(client)["residual_record_consistent"] == 1


def test_each_alert_is_raised_by_what_it_is_about(people: Cast, contract: Contract) -> None:
    now = timezone.now()
    assert alerts(site_state(now, None), patience=180) == ()
    ask(people.alice, contract)
    later = now + timedelta(hours=1)
    assert [alert.code for alert in alerts(site_state(later, 181.0), patience=180)] == ["worker_silent", "queue_old"]
    Query.objects.update(state=Query.State.CANCELLED)
    Contract.objects.update(spent_bound=int(contract.rho_ans * 0.91))
    assert [alert.code for alert in alerts(site_state(later, 1.0), patience=180)] == ["budget_low"]
    verify_for(people.dora, [contract])  # the total that was just changed by hand is found
    assert [alert.code for alert in alerts(site_state(later, 1.0), patience=180)] == ["budget_low", "record_broken"]
    with pytest.raises(CommandError, match="record_broken"):
        call_command("alerts")


def test_every_metric_of_the_rules_is_one_that_is_given(people: Cast, contract: Contract, client: Client) -> None:
    ask(people.alice, contract)
    verify_for(people.dora, [contract])
    rules = (ROOT / "rdp_site" / "deploy" / "alerts.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"residual_\w+", rules)) - {"residual_worker_silence_seconds"}  # there only once a worker has run
    assert named
    assert named <= set(samples(client))
