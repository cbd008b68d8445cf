"""Asking over JSON: the quote is what is charged, the second asker pays nothing, bad input charges nothing."""

from typing import Any

import pytest

from curator.models import Contract, LedgerEntry, Query, Release
from tests.api.conftest import Caller, decide
from tests.cast import Cast

OLD = {"sql": "SELECT COUNT(*) FROM people WHERE age >= 40 AND sex = 'F'", "accuracy": {"within": 20, "confidence": 0.95}}
OLD_IN_OTHER_WORDS = {
    "where": {"all": [{"column": "sex", "in": ["F"]}, {"not": {"column": "age", "less_than": 40}}]},
    "accuracy": {"within": 20, "confidence": 0.95},
}


def ask(caller: Caller, contract: Contract, body: object, key: str = "k") -> tuple[int, Any]:
    return caller.post(f"contracts/{contract.uid}/queries/", body, **{"Idempotency-Key": key})


def test_alice_pays_what_the_quote_said_and_bob_has_it_for_nothing(alice: Caller, bob: Caller, contract: Contract) -> None:
    status, quote = alice.post(f"contracts/{contract.uid}/quote/", OLD)
    assert (status, quote["rho_new"], quote["rho_hist"]) == (200, "0.00480182", "0") or quote["rho_new"].startswith("0.00480182")
    status, submitted = ask(alice, contract, OLD)
    assert status == 202
    decide(contract)
    answer = alice.get(f"queries/{submitted['id']}/")
    assert answer["state"] == "answered"
    assert answer["decision"]["charge"] == quote["charge"] == answer["baseline"]["charge"]
    assert answer["answers"][0]["bound"] <= 20

    _, quote = bob.post(f"contracts/{contract.uid}/quote/", OLD_IN_OTHER_WORDS)
    assert (quote["charge"], quote["regime"]) == ("0", "history")
    _, submitted = ask(bob, contract, OLD_IN_OTHER_WORDS)
    decide(contract)
    again = bob.get(f"queries/{submitted['id']}/")
    assert again["decision"]["charge"] == "0"
    assert again["baseline"]["charge"] == answer["decision"]["charge"]
    assert again["answers"][0]["value"] == answer["answers"][0]["value"]


def test_a_list_is_decided_in_its_order(alice: Caller, contract: Contract) -> None:
    status, submitted = ask(alice, contract, [OLD, OLD])
    assert status == 202
    decide(contract)
    first, second = (alice.get(f"queries/{row['id']}/")["decision"]["charge"] for row in submitted)
    assert first != "0" and second == "0"


def test_the_same_key_gives_the_same_question_and_another_body_is_refused(alice: Caller, contract: Contract) -> None:
    first, again = ask(alice, contract, OLD), ask(alice, contract, OLD)
    assert first == again
    status, error = ask(alice, contract, {**OLD, "accuracy": {"within": 5}})
    assert (status, error["code"]) == (409, "key_reused")
    assert Query.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"accuracy": {"within": 0}}, "accuracy.within", "bad_bound"),
        ({"accuracy": {"within": -5}}, "accuracy.within", "bad_bound"),
        ({"accuracy": {"within": 2.5}}, "accuracy.within", "bad_bound"),
        ({"accuracy": {"within": "NaN"}}, "accuracy.within", "bad_number"),
        ({"accuracy": {"within": 20, "confidence": 1.2}}, "accuracy.confidence", "bad_confidence"),
        ({"accuracy": {"within": 20, "confidence": 0.5}}, "accuracy.confidence", "bad_confidence"),
        ({"accuracy": None}, "accuracy", None),
        ({"sql": "SELECT COUNT(*) FROM people WHERE ages > 3"}, None, "unknown_column"),
        ({"sql": "SELECT COUNT(*) FROM people WHERE sex = 'X'"}, None, "out_of_domain"),
        ({"sql": "SELECT AVG(age) FROM people"}, None, None),
        ({"sql": "DROP TABLE people"}, None, None),
        ({"where": {"all": []}, "sql": None}, None, None),
        ({"colour": "red"}, "colour", "unknown_field"),
    ],
)
def test_bad_input_names_the_field_and_charges_nothing(
    alice: Caller, contract: Contract, change: dict[str, Any], field: str | None, code: str | None
) -> None:
    body = {name: value for name, value in {**OLD, **change}.items() if value is not None}
    for status, error in (ask(alice, contract, body), alice.post(f"contracts/{contract.uid}/quote/", body)):
        assert status == 400, error
        assert set(error) == {"code", "detail", "field"} and error["detail"]
        assert field is None or error["field"] == field
        assert code is None or error["code"] == code
    assert not Query.objects.exists() and not LedgerEntry.objects.exists() and not Release.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[" * 5000, 413),
        (b'{"accuracy": {"within": NaN}}', 400),
        (b'{"accuracy": {"within": 1e400}}', 400),
        (b'{"label": "' + b"x" * 70_000 + b'"}', 413),
        (b"3", 400),
        (b"[]", 400),
    ],
)
def test_a_body_that_is_no_request_is_refused_before_it_is_parsed(
    alice: Caller, contract: Contract, body: bytes, status: int
) -> None:
    found, error = alice.call("POST", f"contracts/{contract.uid}/queries/", body, **{"Idempotency-Key": "k"})
    assert found == status, error
    assert not Query.objects.exists()


def test_asking_without_a_key_is_refused(alice: Caller, contract: Contract) -> None:
    status, error = alice.post(f"contracts/{contract.uid}/queries/", OLD)
    assert (status, error["code"]) == (400, "missing_key")


def test_alice_takes_a_waiting_question_back_and_pays_nothing(alice: Caller, bob: Caller, contract: Contract) -> None:
    _, submitted = ask(alice, contract, OLD)
    assert bob.post(f"queries/{submitted['id']}/cancel/")[0] == 404
    assert alice.post(f"queries/{submitted['id']}/cancel/") == (200, {"id": submitted["id"], "state": "cancelled"})
    decide(contract)
    assert alice.get(f"queries/{submitted['id']}/")["state"] == "cancelled"
    assert alice.post(f"queries/{submitted['id']}/cancel/")[0] == 409
    assert not LedgerEntry.objects.exists()


def test_a_closed_contract_takes_no_question(alice: Caller, carol: Caller, contract: Contract) -> None:
    path = f"contracts/{contract.uid}/state/"
    assert alice.post(path, {"state": "closed", "reason": "mine"})[0] == 404
    assert carol.post(path, {"state": "closed", "reason": "the year is over"})[0] == 200
    status, error = ask(alice, contract, OLD)
    assert (status, error["code"]) == (409, "contract_not_open")


def test_the_transcript_and_the_comparison_say_what_was_spent(
    alice: Caller, bob: Caller, carol: Caller, contract: Contract
) -> None:
    ask(alice, contract, OLD)
    ask(bob, contract, OLD_IN_OTHER_WORDS)
    decide(contract)
    releases = bob.get(f"contracts/{contract.uid}/releases/")
    assert len(releases["results"]) == 1 and releases["next"] is None
    found = carol.get(f"contracts/{contract.uid}/comparison/")
    whole = found["contract"]["allocators"]
    assert float(whole["budget_partition"]["spent"]) == pytest.approx(2 * float(whole["residual"]["spent"]), rel=1e-9)
    assert set(found["by_analyst"]) == {"alice", "bob"}
    assert "by_analyst" not in alice.get(f"contracts/{contract.uid}/comparison/")


def test_people_without_a_place_get_the_same_404_as_for_nothing_at_all(people: Cast, contract: Contract, alice: Caller) -> None:
    from tests.api.conftest import caller_for
    from tests.cast import person

    _, submitted = ask(alice, contract, OLD)
    mallory = caller_for(person("mallory", "analyst", "curator", "auditor"))
    nothing = "00000000-0000-4000-8000-000000000000"
    for pattern, real in (("contracts/{}/", contract.uid), ("contracts/{}/releases/", contract.uid),
                          ("contracts/{}/comparison/", contract.uid), ("queries/{}/", submitted["id"])):  # fmt: skip
        assert mallory.call("GET", pattern.format(real)) == mallory.call("GET", pattern.format(nothing))
        assert mallory.call("GET", pattern.format(real))[0] == 404
