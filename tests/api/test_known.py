"""What can be had for nothing, over JSON: rehearsals, kept questions, answers already released."""

from uuid import uuid4

import pytest

from curator.models import AuditEvent, Contract, LedgerEntry, Query
from tests.api.conftest import Caller, decide
from tests.api.test_queries import OLD, ask

GROUPED = {"group_by": [{"column": "city"}], "accuracy": {"within": 20, "confidence": 0.95}}


def test_a_rehearsal_says_that_it_is_made_up_and_leaves_no_trace(alice: Caller, contract: Contract) -> None:
    events = AuditEvent.objects.count()
    status, found = alice.post(f"contracts/{contract.uid}/rehearse/", OLD)
    assert (status, found["made_up"], found["people"], found["bins"], len(found["draws"])) == (200, True, 1000, 1, 20)
    assert found["tried"][0]["bound"] == 20
    status, found = alice.post(f"contracts/{contract.uid}/rehearse/", GROUPED)
    assert [bin_["label"] for bin_ in found["tried"]] == [["Oslo"], ["Rome"], ["Lima"], ["other"], ["missing"]]
    assert (AuditEvent.objects.count(), Query.objects.count(), LedgerEntry.objects.count()) == (events, 0, 0)


def test_a_question_is_kept_asked_again_renamed_and_forgotten(alice: Caller, contract: Contract) -> None:
    status, kept = alice.post(f"contracts/{contract.uid}/saved/", OLD | {"label": "Women over forty"})
    assert (status, kept["name"]) == (201, "Women over forty")
    status, _ = ask(alice, contract, kept["request"])
    assert status == 202
    assert Query.objects.get().label == "Women over forty"
    assert alice.get(f"contracts/{contract.uid}/saved/") == [kept]
    status, renamed = alice.call("PATCH", f"saved/{kept['id']}/", {"name": "Older women"})
    assert (status, renamed["name"]) == (200, "Older women")
    assert alice.get(f"saved/{kept['id']}/")["name"] == "Older women"
    assert alice.client.delete(f"/api/v1/saved/{kept['id']}/").status_code == 204
    assert alice.get(f"contracts/{contract.uid}/saved/") == []


def test_refusals_name_the_field(alice: Caller, contract: Contract) -> None:
    alice.post(f"contracts/{contract.uid}/saved/", OLD | {"label": "Twice"})
    status, refused = alice.post(f"contracts/{contract.uid}/saved/", OLD | {"label": "Twice"})
    assert (status, refused["code"], refused["field"]) == (409, "name_taken", "label")
    status, refused = alice.post(f"contracts/{contract.uid}/saved/", {"sql": "SELECT 1", "accuracy": {"within": 5}})
    assert (status, refused["field"]) == (400, "sql")
    kept = alice.get(f"contracts/{contract.uid}/saved/")[0]
    for body in ({"name": ""}, {"name": 5}, {}, {"name": "x", "sql": "y"}):
        assert alice.call("PATCH", f"saved/{kept['id']}/", body)[0] == 400, body


def test_nobody_else_sees_or_changes_it(alice: Caller, bob: Caller, carol: Caller, dora: Caller, contract: Contract) -> None:
    _, kept = alice.post(f"contracts/{contract.uid}/saved/", OLD)
    for other in (bob, carol, dora):
        missing = other.call("GET", f"saved/{uuid4()}/")
        for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
            assert other.call(method, f"saved/{kept['id']}/", body) == missing
    assert missing[0] == 404
    assert bob.get(f"contracts/{contract.uid}/saved/") == []
    for other in (carol, dora):
        assert other.call("GET", f"contracts/{contract.uid}/saved/")[0] == 404
        assert other.post(f"contracts/{contract.uid}/rehearse/", OLD)[0] == 404


def test_released_answers_are_searched_by_column_text_and_bound(alice: Caller, dora: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    ask(alice, contract, GROUPED, key="k2")
    decide(contract)
    address = f"contracts/{contract.uid}/released/"
    everything = dora.get(address)["results"]
    assert len(everything) == 6
    assert {line["condition"] for line in alice.get(f"{address}?column=age")["results"]} == {"age >= 40 AND sex = 'F'"}
    assert len(alice.get(f"{address}?search=rome")["results"]) == 1
    assert alice.get(f"{address}?within=19")["results"] == []
    assert all(line["free_within"] == 20 for line in alice.get(f"{address}?within=20")["results"])
    assert alice.get(f"{address}?within=20&confidence=0.99")["results"] == []


@pytest.mark.parametrize(
    ("search", "field"),
    [
        ("within=-5", "accuracy.within"), ("within=NaN", "accuracy.within"), ("within=1e309", "accuracy.within"),
        ("confidence=1.2", "accuracy.confidence"), ("confidence=-inf", "accuracy.confidence"), ("after=x", "after"),
        ("search=%00", "search"), ("column=AGE", None),
    ],
)  # fmt: skip
def test_a_search_that_makes_no_sense_is_refused_with_its_field(
    alice: Caller, contract: Contract, search: str, field: str | None
) -> None:
    status, refused = alice.call("GET", f"contracts/{contract.uid}/released/?{search}")
    assert (status, refused["field"]) == (400, field)
