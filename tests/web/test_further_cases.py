"""Further inputs of the kinds that went wrong for people elsewhere, on pages and over JSON: names, bins, amounts, days."""

import csv
import io
import json
import re
import tracemalloc
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from curator.models import Answer, Contract, Decision, Query
from curator.services import execution
from tests.api.conftest import Caller
from tests.cast import ROWS, Cast, make_contract, make_version
from tests.web.curator import new_contract
from tests.web.scene import browser_of
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")

NAMES = (
    "capital-gain", "a.b", "a b", "order", '"q"', "100%", "年齢", "__proto__", "constructor", "count(*)", "-- x", "; DROP TABLE",
    "0", "-1", "null", "NaN", "true", "Σ", "a\\b", "{x}", "%s", "${x}", "..", "/", "#", "?a=1&b", "'", "`", "\u00df", "x" * 200,
)  # fmt: skip


def over_named(people: Cast, names: tuple[str, ...]) -> Contract:
    """A contract over one yes-or-no column of each name."""
    columns = [{"name": name, "kind": "category", "values": ["u", "v"], "out_of_domain": "other"} for name in names]
    rows = [dict.fromkeys(names, "u") for _ in range(5)]
    return make_contract(people, make_version(people.carol, rows=rows, schema={"columns": columns}), rho_total="10")


def test_columns_of_any_name_are_asked_for_in_every_way_and_told_in_every_form(people: Cast) -> None:
    """SQL and JSON are one question, quoted and asked; table, chart, CSV and JSON of it hold the same bins."""
    contract = over_named(people, (*NAMES, "plain"))
    alice, client = Caller(browser_of(people.alice)), browser_of(people.alice)
    path, asked = f"contracts/{contract.uid}/", []
    for place, name in enumerate(NAMES):
        quoted = '"' + name.replace('"', '""') + '"'
        same: list[dict[str, Any]] = [
            {"sql": f"SELECT plain, COUNT(*) FROM people WHERE {quoted} = 'u' GROUP BY plain"},
            {"where": {"column": name, "equals": "u"}, "group_by": [{"column": "plain"}]},
            {"sql": f"SELECT {quoted}, COUNT(*) FROM people GROUP BY {quoted}"}, {"group_by": [{"column": name}]},
        ]  # fmt: skip
        bodies = [{**body, "accuracy": {"within": 300}} for body in same]
        assert [alice.post(f"{path}quote/", body)[0] for body in bodies[::3]] == [200, 200], name
        status, told = alice.post(f"{path}queries/", bodies, **{"Idempotency-Key": f"k{place}"})
        assert status == 202, (name, told)
        asked.append([each["id"] for each in told])
        execution.run(contract.pk)  # one person may let only so many wait
    for name, uids in zip(NAMES, asked, strict=True):
        charges = Decision.objects.filter(query__uid__in=uids).order_by("query_id").values_list("load", flat=True)
        assert [charge > 0 for charge in charges] == [True, False, True, False], name
        told_alike(client, uids[2])
        assert client.get(f"/contracts/{contract.uid}/ask/", {"from": uids[0]}).status_code == 200, name


def told_alike(client: Client, uid: str) -> None:
    """The bins of a histogram are the same on its page, in its chart and in its files."""
    page = html(client.get(f"/queries/{uid}/"))
    chart = json.loads(re.findall(r'id="histogram-data"[^>]*>(.*?)</script>', page)[0])
    rows = list(csv.DictReader(io.StringIO(html(client.get(f"/queries/{uid}/download.csv")))))
    told = json.loads(html(client.get(f"/queries/{uid}/download.json")))
    assert [row["bin"] for row in rows] == chart["bars"][0]["x"] == [answer["bin"][0] for answer in told["answers"]]
    assert chart["bars"][0]["x"] == ["u", "v", "other"]


def bins(people: Cast, count: int) -> tuple[int, dict[str, Any], int, str]:
    """What the API and the form say to so many equal bins over 20 to 75."""
    schema = {"columns": [{"name": "age", "kind": "integer", "low": 20, "high": 75, "out_of_domain": "clamp"}]}
    contract = make_contract(people, make_version(people.carol, rows=[{"age": row["age"]} for row in ROWS], schema=schema))
    caller = Caller(browser_of(people.alice))
    body = {"group_by": [{"column": "age", "bins": count}], "accuracy": {"within": 50}}
    status, told = caller.post(f"contracts/{contract.uid}/queries/", body, **{"Idempotency-Key": "k"})
    form = {"view": "conditions", "group-0-column": "age", "group-0-how": "bins", "group-0-text": str(count), "kind": "within",
            "amount": "50", "confidence": "95", "key": "form-1", "do": "ask"}  # fmt: skip
    answer = caller.client.post(f"/contracts/{contract.uid}/ask/", form)
    execution.run(contract.pk)
    return status, told, answer.status_code, text(answer)


@pytest.mark.parametrize("count", [55, 56])
def test_as_many_bins_as_there_are_ages_are_answered(people: Cast, count: int) -> None:
    status, _, page, _ = bins(people, count)
    assert (status, page) == (202, 303)
    assert Answer.objects.filter(query=Query.objects.earliest("pk")).count() == count


@pytest.mark.parametrize("count", [57, 10**6])
def test_one_more_is_refused_with_the_maximum_and_no_work(people: Cast, count: int) -> None:
    tracemalloc.start()
    status, told, page, words = bins(people, count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (status, page, told["code"], told["field"]) == (400, 400, "too_many_bins", "group_by[0].bins")
    assert "at most 56 bins" in told["detail"]
    assert "at most 56 bins" in words
    assert not Query.objects.exists()
    assert peak < 40 << 20  # bytes: a million bins are never made, only counted


AMOUNTS = ("-1", "-0.0001", "NaN", "-inf", "inf", "1e309", "1e-400x", "0x1", "１", "1,500", "1.5,0", "- 1", "9" * 400)


def test_an_amount_that_is_none_is_refused_in_every_form_of_a_curator(carol: Client, people: Cast) -> None:
    contract = make_contract(people, allotments={"alice": "0.5", "bob": "0.05"})
    inside, version = f"/contracts/{contract.uid}", str(contract.version.uid)
    api, bob = Caller(carol), browser_of(people.bob)
    for amount in AMOUNTS:
        forms: list[tuple[str, dict[str, str]]] = [
            *(
                ("/contracts/new/", new_contract(version=version) | {name: amount})
                for name in ("query_cap", "rho_total", "rho_d")
            ),
            (f"{inside}/people/", {"do": "allot", "username": "bob", "rho": amount, "reason": "x"}),
            (f"{inside}/people/", {"do": "invite", "invite-role": "analyst", "invite-allotment": amount, "invite-days": "7"}),
            (f"{inside}/raises/", {"do": "raise", "raise-rho_total": amount, "raise-reason": "x"}),
        ]
        assert {carol.post(address, form).status_code for address, form in forms} == {400}, amount
        for name in ("query_cap", "rho_total", "rho_d"):
            body = {"version": version, "name": "x", "rho_total": "1", "open": True} | {name: amount}
            assert api.post("contracts/", body)[0] == 400, (name, amount)
        assert bob.post(f"{inside}/budget/", {"amount": amount, "reason": "x"}).status_code == 400, amount
    assert Contract.objects.count() == 1


def test_no_header_makes_somebody_of_a_stranger_or_another_of_bob(people: Cast) -> None:
    make_contract(people)
    for header in ("X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Auth-Request-Email", "X-Forwarded-Email"):
        assert Client().get("/", headers={header: "alice"}).status_code == 302
        assert "Signed in as bob" in text(browser_of(people.bob).get("/", headers={header: "alice"}))


@pytest.mark.parametrize("days", [0, 1, 366])
def test_a_last_day_is_through_its_end(carol: Client, people: Cast, days: int) -> None:
    version = str(make_version(people.carol, rows=ROWS).uid)
    last = timezone.now().date() + timedelta(days=days)
    assert carol.post("/contracts/new/", new_contract(version=version, ends_on=str(last))).status_code == 303
    contract = Contract.objects.get()
    carol.post(f"/contracts/{contract.uid}/people/", {"do": "add", "username": "alice", "role": "analyst", "allotment": ""})
    body = {"where": {"always": True}, "accuracy": {"within": 30}}
    caller = Caller(browser_of(people.alice))
    assert caller.post(f"contracts/{contract.uid}/queries/", body, **{"Idempotency-Key": "k"})[0] == 202
    execution.run(contract.pk)
    assert Query.objects.get().state == "answered"


def test_a_last_day_that_is_none_or_gone_is_refused(carol: Client, people: Cast) -> None:
    version = str(make_version(people.carol).uid)
    for day in ("2026-02-30", "31.12.2099", "2099-13-01", "0000-00-00", "tomorrow", "2001-01-01"):
        assert carol.post("/contracts/new/", new_contract(version=version, ends_on=day)).status_code == 400, day
    assert not Contract.objects.exists()
