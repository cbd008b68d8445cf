"""Whatever a page gives, the API gives: every page of the site has its calls, and those show what the page shows."""

import csv
import io
import json

import pytest
from django.urls import URLPattern, reverse

from accounts import urls as doors
from accounts.models import Role
from curator.api.urls import V1
from curator.models import Contract, Query
from curator.services import contracts
from curator.web import urls as pages
from tests.api.conftest import Caller, caller_for, decide
from tests.api.test_queries import OLD, ask
from tests.cast import Cast, make_version, person

CONTRACT, QUERY, UPLOAD, EXPERIMENT = (
    "contracts/<uuid:uid>/",
    "queries/<uuid:uid>/",
    "uploads/<uuid:uid>/",
    "experiments/<uuid:uid>/",
)
REQUEST, RAISE, INVITED = "budget-requests/<uuid:uid>/", "raises/<uuid:uid>/", "invitations/<uuid:uid>/"
PERSON = "people/<str:username>/"

#: The calls that do what a page does. A page that is not here, or a call that is none, fails below.
CALLS: dict[str, tuple[str, ...]] = {
    "home": ("contracts/",),
    "glossary": (),  # words
    "account": ("account/",),
    "keys": ("tokens/",),
    "key-revoke": ("tokens/<int:token_id>/revoke/",),
    "notices": ("notices/",),
    "notices-seen": ("notices/seen/",),
    "directory": ("people/", f"{PERSON}roles/", f"{PERSON}deactivate/", f"{PERSON}reactivate/"),
    "contract-new": ("contracts/", "contracts/preview/"),
    "contract-edit": (CONTRACT, f"{CONTRACT}state/"),
    "raises": (f"{CONTRACT}raises/", f"{CONTRACT}raise/", f"{RAISE}approve/", f"{RAISE}reject/"),
    "workspace": (CONTRACT, f"{CONTRACT}queries/", f"{CONTRACT}released/"),
    "ask": (f"{CONTRACT}quote/", f"{CONTRACT}queries/", f"{CONTRACT}rehearse/", f"{CONTRACT}saved/"),
    "quote": (f"{CONTRACT}quote/",),
    "saved": (f"{CONTRACT}saved/", "saved/<uuid:uid>/"),
    "released": (f"{CONTRACT}released/",),
    "compare": (f"{CONTRACT}comparison/",),
    "budget": (f"{CONTRACT}budget-requests/", CONTRACT, f"{CONTRACT}allotments/"),
    "control": (f"{CONTRACT}control/", f"{CONTRACT}members/", f"{CONTRACT}state/", f"{CONTRACT}end-date/", f"{CONTRACT}raise/"),
    "people": (
        f"{CONTRACT}members/", f"{CONTRACT}members/remove/", f"{CONTRACT}allotments/", f"{CONTRACT}invitations/",
        f"{INVITED}revoke/",
    ),
    "requests": (f"{CONTRACT}budget-requests/inbox/",),
    "request-decide": (f"{REQUEST}approve/", f"{REQUEST}reject/"),
    "laboratory": (f"{CONTRACT}experiments/",),
    "experiment": (EXPERIMENT, f"{EXPERIMENT}again/", f"{EXPERIMENT}result/", f"{EXPERIMENT}curves/"),
    "experiment-status": (EXPERIMENT,),
    "experiment-json": (f"{EXPERIMENT}result/",),
    "query": (QUERY,),
    "query-status": (QUERY,),
    "query-cancel": (f"{QUERY}cancel/",),
    "query-save": (f"{QUERY}save/",),
    "query-csv": (f"{QUERY}answer.csv/",),
    "query-json": (f"{QUERY}answer/",),
    "datasets": ("datasets/",),
    "dataset-new": ("datasets/", "datasets/<uuid:uid>/uploads/"),
    "dataset": ("datasets/<uuid:uid>/",),
    "version-new": ("datasets/<uuid:uid>/uploads/",),
    "upload": (UPLOAD, f"{UPLOAD}columns/", f"{UPLOAD}reading/", f"{UPLOAD}discard/"),
    "upload-column": (f"{UPLOAD}columns/<int:place>/", f"{UPLOAD}columns/"),
    "upload-suggest": (f"{UPLOAD}suggestions/",),
    "upload-freeze": (f"{UPLOAD}freeze/",),
    "version-use": (f"{CONTRACT}version/",),
    "version-overlap": ("versions/<uuid:uid>/overlap/",),
    "audit": ("audit/log/", "audit/kinds/", "audit/head/", "audit/"),
    "audit-verify": ("audit/verify/", "audit/verifications/"),
    "verification": ("audit/verifications/<uuid:uid>/",),
    "verification-status": ("audit/verifications/<uuid:uid>/",),
    "audit-receipts": ("audit/receipts/",),
    "audit-receipts-file": ("audit/anchor/",),
    "audit-export": ("audit/export/",),
    "audit-verifier": ("audit/verifier/",),
    "audit-balance": ("audit/balance/",),
    "audit-event": ("audit/events/<str:chain>/<int:seq>/",),
    "sign-in": ("session/",),
    "sign-out": ("session/end/",),
    "password": ("account/password/",),
    "password-forgotten": ("password/forgotten/",),
    "password-new": ("password/new/",),
    "invitation": ("invitations/look/", "invitations/join/", "invitations/accept/"),
    "invitation-kept": ("invitations/accept/",),
}  # fmt: skip


def test_every_page_has_its_calls() -> None:
    named = {str(each.name) for each in (*pages.urlpatterns, *doors.urlpatterns) if isinstance(each, URLPattern)}
    assert named == set(CALLS)
    assert {call for calls in CALLS.values() for call in calls} <= set(V1)


def test_my_contracts_say_what_each_means_for_me(alice: Caller, carol: Caller, contract: Contract) -> None:
    (mine,), (hers,) = alice.get("contracts/"), carol.get("contracts/")
    assert (mine["roles"], mine["available"], mine["requests"]) == (["analyst"], "1", 0)
    assert (hers["roles"], hers["available"], hers["dataset"]) == (["curator"], None, contract.dataset.name)


def test_a_quote_says_its_question_in_both_ways_of_writing(alice: Caller, contract: Contract) -> None:
    _, quote = alice.post(f"contracts/{contract.uid}/quote/", OLD)
    again = {**quote["question"], "accuracy": OLD["accuracy"]}
    assert alice.post(f"contracts/{contract.uid}/quote/", again)[1]["sql"] == quote["sql"]
    assert "age >= 40" in quote["sql"]


def test_an_answer_says_where_it_comes_from_as_its_page_does(alice: Caller, bob: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    decide(contract)
    query = Query.objects.get()
    found = alice.get(f"queries/{query.uid}/")
    assert [step["name"] for step in found["steps"]] == [
        "Needed from scratch", "Credited from history", "Residual", "Available", "Charged",
    ]  # fmt: skip
    assert found["steps"][-1]["rho"] == found["decision"]["charge"]
    (drawn,), (credit,) = found["drawn"], found["answers"][0]["certificate"]
    assert (drawn["release"], drawn["value"], drawn["drawn_here"]) == (credit["release"], found["answers"][0]["value"], True)
    page = json.loads(alice.client.get(reverse("query-json", args=[query.uid])).content)
    assert alice.get(f"queries/{query.uid}/answer/") == page
    table = alice.client.get(f"/api/v1/queries/{query.uid}/answer.csv/").content.decode()
    assert table == alice.client.get(reverse("query-csv", args=[query.uid])).content.decode()
    assert next(csv.DictReader(io.StringIO(table)))["value"] == str(found["answers"][0]["value"])
    assert bob.call("GET", f"queries/{query.uid}/answer/")[0] == 404
    ask(alice, contract, OLD, key="again")
    waiting = Query.objects.latest("id")
    assert alice.call("GET", f"queries/{waiting.uid}/answer/")[1]["code"] == "no_answer"


def test_a_question_that_was_asked_is_kept(alice: Caller, carol: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    query = Query.objects.get()
    status, kept = alice.post(f"queries/{query.uid}/save/", {"name": "The old"})
    assert (status, kept["name"]) == (201, "The old")
    assert alice.post(f"queries/{query.uid}/save/", {"name": "The old"})[1]["code"] == "name_taken"
    assert carol.post(f"queries/{query.uid}/save/", {})[0] == 404


def test_a_comparison_of_one_selection_has_its_curves(alice: Caller, bob: Caller, carol: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    ask(bob, contract, OLD)
    decide(contract)
    path = f"contracts/{contract.uid}/comparison/"
    whole = carol.get(f"{path}?whose=all")
    assert (whole["analyst"], whole["asked"], whole["curves"]["residual"]["question"]) == ("", 2, [1, 2])
    assert whole["curves"]["residual"]["spent"][-1] == whole["allocators"]["residual"]["spent"]
    assert alice.get(f"{path}?whose=all") == whole
    mine = bob.get(f"{path}?whose=mine")
    assert (mine["analyst"], mine["allocators"]["residual"]["spent"]) == ("bob", "0")
    assert carol.get(f"{path}?whose=bob") == mine == bob.get(f"{path}?whose=bob")
    assert alice.call("GET", f"{path}?whose=bob")[0] == 404
    assert carol.get(path)["by_analyst"]["bob"]["asked"] == 1


def test_the_inbox_says_what_granting_would_change(bob: Caller, carol: Caller, people: Cast, contract: Contract) -> None:
    contracts.set_allotment(curator=people.carol, contract=contract, analyst=people.bob, rho=10**11, reason="a tenth")
    _, asked = bob.post(f"contracts/{contract.uid}/budget-requests/", {"amount": "0.2", "reason": "Tables"})
    (waiting,) = carol.get(f"contracts/{contract.uid}/budget-requests/inbox/")["open"]
    assert (waiting["request"]["id"], waiting["effect"]["allotment"], waiting["effect"]["allotment_after"]) == (
        asked["id"], "0.1", "0.3",
    )  # fmt: skip
    assert bob.call("GET", f"contracts/{contract.uid}/budget-requests/inbox/")[0] == 404
    _, decided = carol.post(f"budget-requests/{asked['id']}/approve/", {"granted": "0.05"})
    assert (decided["decided_by"], decided["granted"]) == ("carol", "0.05")
    assert carol.get(f"contracts/{contract.uid}/control/")["open_requests"] == 0


def test_notices_say_what_they_are_about(alice: Caller, contract: Contract) -> None:
    ask(alice, contract, OLD)
    decide(contract)
    newest = alice.get("notices/")["results"][0]
    assert newest["leads"] == {"to": "query", "id": str(Query.objects.get().uid)}


def test_the_whole_record_in_one_list_and_one_event_with_its_reason(dora: Caller, alice: Caller, contract: Contract) -> None:
    log = dora.get("audit/log/")
    chains = {line["chain"] for line in log["results"]}
    assert chains == {str(contract.uid)}
    assert [line["seq"] for line in log["results"]] == sorted((line["seq"] for line in log["results"]), reverse=True)
    only = dora.get(f"audit/log/?chain={contract.uid}&kind=allotment.set")["results"]
    assert {line["kind"] for line in only} == {"allotment.set"}
    event = dora.get(f"audit/events/{contract.uid}/{only[0]['seq']}/")
    assert json.loads(event["body"])["seq"] == event["event"]["seq"] == only[0]["seq"]
    assert "allotment.set" in dora.get("audit/kinds/")["kinds"]
    for path in ("audit/log/", "audit/kinds/", f"audit/events/{contract.uid}/1/", "audit/head/", "audit/receipts/",
                 "audit/anchor/", "audit/export/", "audit/verifier/", "audit/verifications/"):  # fmt: skip
        assert alice.call("GET", path) == alice.call("GET", f"audit/events/{contract.uid}/9999/"), path


def test_verifying_all_there_is_and_anchoring_it(dora: Caller, contract: Contract) -> None:
    status, made = dora.post("audit/verify/", {})
    assert (status, made["chains"]) == (202, ["Site", contract.name])
    assert [each["id"] for each in dora.get("audit/verifications/")] == [made["id"]]
    anchor = dora.client.get("/api/v1/audit/anchor/").content.decode().splitlines()
    assert [json.loads(line)["chain"] for line in anchor] == ["site", str(contract.uid)]
    export = dora.client.get("/api/v1/audit/export/").getvalue().decode().splitlines()
    assert {json.loads(line)["chain"] for line in export} == {"site", str(contract.uid)}


def test_a_dataset_shows_its_schema_its_contracts_and_what_was_said_of_it(
    carol: Caller, people: Cast, contract: Contract
) -> None:
    other = make_version(people.carol, dataset=contract.dataset)
    said = {"other": str(contract.version.uid), "same_people": True, "reason": "The same panel"}
    carol.client.post(f"/api/v1/versions/{other.uid}/overlap/", json.dumps(said), "application/json")
    found = carol.get(f"datasets/{contract.dataset.uid}/")
    assert [each["id"] for each in found["contracts"]] == [str(contract.uid)]
    assert found["overlaps_said"] == [str(other.uid)]
    assert [column["name"] for column in found["versions"][0]["schema"]["columns"]] == ["age", "sex", "city", "member"]
    detail = carol.get(f"contracts/{contract.uid}/")["contract"]
    assert (detail["version_id"], detail["dataset_id"]) == (str(contract.version.uid), str(contract.dataset.uid))


def test_a_curator_of_the_contract_alone_says_nothing_of_the_dataset(people: Cast, contract: Contract) -> None:
    cyril = person("cyril", Role.CURATOR)
    contracts.add_member(curator=people.carol, contract=contract, user=cyril, role=Role.CURATOR)
    other = make_version(people.carol, dataset=contract.dataset)
    said = {"other": str(contract.version.uid), "same_people": True, "reason": "The same panel"}
    assert caller_for(cyril).post(f"versions/{other.uid}/overlap/", said)[0] == 404
    body = {"version": str(other.uid), "reason": "The second wave"}
    assert caller_for(cyril).post(f"contracts/{contract.uid}/version/", body)[0] == 404


def test_a_preview_says_what_the_settings_mean(carol: Caller, people: Cast) -> None:
    body = {"version": str(make_version(people.carol).uid), "name": "Survey", "rho_total": "1"}
    priced = carol.post("contracts/preview/", body)[1]
    assert len(priced["counts"]) == 3
    assert priced["meaning"]


@pytest.mark.parametrize("path", ["members/", "control/"])
def test_curators_see_how_each_analyst_stands(carol: Caller, alice: Caller, contract: Contract, path: str) -> None:
    ask(alice, contract, OLD)
    decide(contract)
    found = carol.get(f"contracts/{contract.uid}/{path}")
    if path == "control/":
        assert (found["gauge"]["unlimited"], found["gauge"]["over_allotted"]) == (2, "0")
    else:
        line = next(each for each in found if each["username"] == "alice")
        assert (line["asked"], line["met"], line["left"]) == (1, 1, None)
