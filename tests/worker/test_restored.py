"""Five ways in which budget might come back, and none in which it does: an older copy of the record is told by its receipts."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Role, User
from curator import queue
from curator.mechanism.errors import Refused
from curator.mechanism.rho import UNITS_PER_RHO
from curator.models import AuditEvent, Contract, Hold, LedgerEntry, Query, Release
from curator.selectors.openness import held
from curator.services import contracts, execution, failpoints, receipts, reconciling
from tests.cast import ROWS, Cast, cast, make_contract, make_version, units
from tests.databases import TestDatabases
from tests.fixtures.figures import Figure
from tests.worker.backups import dump, restore
from tests.worker.scene import ask, check_books, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


def spend(people: Cast, contract: Contract, percent: int, *, first: int = 0) -> list[Query]:
    """Ask for so many hundredths of the budget, one by one, from the `first` place on."""
    where = list(places())[first : first + percent]
    asked = [ask(people.alice, contract, each, rho="0.01") for each in where]
    execution.run(contract.pk)
    return asked


def total(contract: Contract) -> int:
    row = Contract.objects.get(pk=contract.pk)
    return row.spent_bound + row.est_spent


def reconcile(contract: Contract, **more: Any) -> None:
    call_command("reconcile", str(contract.uid), curator="carol", reason="the disk broke; the backup of Monday is back", **more)


@pytest.mark.trust
def test_a_record_restored_from_an_older_copy_releases_nothing_until_what_is_missing_is_charged(
    people: Cast, databases: TestDatabases, tmp_path: Path, figure: Figure
) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract, 20)
    copy = dump(tmp_path / "at-20-percent")
    spend(people, contract, 60, first=20)
    assert total(contract) == units("0.8")
    restore(copy, databases)
    people = Cast(*(User.objects.get(username=name) for name in ("alice", "bob", "carol", "dora")))
    asked = ask(people.bob, contract, {"column": "sex", "equals": "F"}, rho="0.01")
    for _ in range(3):
        assert execution.run(contract.pk) == 0
    assert state(asked) == "waiting" and Query.objects.get(pk=asked.pk).attempts == 0
    assert Release.objects.count() == 20 and Hold.objects.get().code == "record_behind_receipt"
    reconcile(contract)
    assert total(contract) == units("0.8")
    execution.run(contract.pk)
    assert state(asked) == "answered" and not held(contract)
    assert total(contract) == units("0.81")
    lost = LedgerEntry.objects.get(query=None)
    assert (lost.load, lost.quota, lost.analyst) == (units("0.6"), 0, None)
    _check_verified(contract)
    figure(row=13, n=1, seen="dump at 20 %, restored after 80 %: 0 released until 0.6 rho was charged as lost, regained 0")


def _check_verified(contract: Contract) -> None:
    from curator.services.verification import verify

    report = verify([Contract.objects.get(pk=contract.pk)])
    assert report.ok, report.first_difference


def test_an_older_copy_that_has_grown_past_the_receipts_place_is_told_by_its_head(
    people: Cast, databases: TestDatabases, tmp_path: Path
) -> None:
    """Questions that arrive after the restore bring the chain to the same length: only the head differs."""
    contract = make_contract(people, rows=ROWS)
    copy = dump(tmp_path / "unspent")
    spend(people, contract, 5)
    restore(copy, databases)
    alice = User.objects.get(username="alice")
    asked = [ask(alice, contract, where, rho="0.01") for where, _ in zip(places(), range(40), strict=False)]
    assert execution.run(contract.pk) == 0
    assert {state(query) for query in asked} == {"waiting"}
    assert Hold.objects.get().code == "record_behind_receipt"


def test_a_raise_that_was_lost_with_the_copy_has_to_be_made_again_first(
    people: Cast, databases: TestDatabases, tmp_path: Path
) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.1", xi="0.2", rho_d=units("0.001"))
    copy = dump(tmp_path / "before-the-raise")
    contracts.raise_total(curator=people.carol, contract=contract, rho_total=UNITS_PER_RHO, reason="more")
    spend(people, contract, 30)
    restore(copy, databases)
    carol = User.objects.get(username="carol")
    assert execution.run(contract.pk) == 0
    ask(User.objects.get(username="bob"), contract, rho="0.01")
    assert execution.run(contract.pk) == 0
    with pytest.raises(CommandError, match="raise the total"):
        reconcile(contract)
    contracts.raise_total(curator=carol, contract=contract, rho_total=UNITS_PER_RHO, reason="again")
    reconcile(contract)
    assert total(contract) == units("0.3")
    assert execution.run(contract.pk) == 1
    _check_verified(contract)


def test_lost_receipts_hold_a_contract_that_has_spent_until_a_curator_vouches_for_the_record(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract, 3)
    receipts.path_of(contract.uid).unlink()
    asked = ask(people.bob, contract, rho="0.01")
    assert execution.run(contract.pk) == 0 and state(asked) == "waiting"
    assert Hold.objects.get().code == "receipts_missing"
    with pytest.raises(CommandError, match="receipts_missing"):
        reconcile(contract)
    reconcile(contract, without_receipts=True)
    assert execution.run(contract.pk) == 1 and total(contract) == units("0.04")
    event = AuditEvent.objects.get(kind="contract.reconciled")
    assert json.loads(bytes(event.body))["data"]["receipt"] is None
    check_books(contract)


def test_a_reconciliation_that_died_half_way_is_repeated(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract, 3)

    class Dead(BaseException):
        """What a killed process is to the one who started it."""

    def die(place: str) -> None:
        if place == "receipts_aside":
            raise Dead

    with monkeypatch.context() as patch, pytest.raises(Dead):
        patch.setattr(failpoints, "reach", die)
        reconcile(contract)
    reconcile(contract)
    assert total(contract) == units("0.03")
    asked = ask(people.bob, contract, rho="0.01")
    assert execution.run(contract.pk) == 1 and state(asked) == "answered"
    _check_verified(contract)


@pytest.mark.parametrize(("spoil", "code"), [(b"{}\n", "receipts_unreadable"), (None, "receipts_unwritable")])
def test_receipts_that_cannot_be_read_or_written_stop_releases(
    people: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any, spoil: bytes | None, code: str
) -> None:
    contract = make_contract(people, rows=ROWS)
    if spoil is None:
        (tmp_path / "a file").touch()
        settings.RECEIPTS_DIR = tmp_path / "a file" / "receipts"
    else:
        receipts.note(contract.pk)
        receipts.path_of(contract.uid).write_bytes(spoil)
    asked = ask(people.alice, contract, rho="0.01")
    assert execution.run(contract.pk) == 0 and state(asked) == "waiting"
    assert Hold.objects.get().code == code
    settings.RECEIPTS_DIR = tmp_path / "receipts"
    assert execution.run(contract.pk) == 1 and not held(contract)


def test_nobody_else_reconciles(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    spend(people, contract, 1)
    with pytest.raises(Refused):
        reconciling.reconcile(curator=people.dora, contract=contract, reason="mine")
    with pytest.raises(CommandError, match="no such"):
        call_command("reconcile", "nothing", curator="carol", reason="?")


@pytest.mark.trust
def test_four_more_ways_give_no_budget_back(people: Cast, figure: Figure) -> None:
    """The file uploaded again, the account made again, the version replaced, the contract closed and a new one opened."""
    contract = make_contract(people, rows=ROWS, allotments={"alice": "0.5"})
    spend(people, contract, 20)
    spent = total(contract)
    contracts.remove_member(curator=people.carol, contract=contract, user=people.alice, role=Role.ANALYST)
    contracts.add_member(curator=people.carol, contract=contract, user=people.alice, role=Role.ANALYST, allotment=units("0.5"))
    assert total(contract) == spent and contract.budgets.get(analyst=people.alice).spent == spent
    again = make_version(people.carol, rows=list(reversed(ROWS)), dataset=contract.dataset)
    contracts.set_version(curator=people.carol, contract=contract, version=again, reason="the same file once more")
    contract.refresh_from_db()
    spend(people, contract, 20)  # nothing is credited across versions: the same questions cost again
    assert total(contract) == 2 * spent
    contracts.close(curator=people.carol, contract=contract, reason="done")
    new = make_contract(people, again)
    spend(people, new, 5)
    assert total(contract) == 2 * spent and total(new) == units("0.05")
    with pytest.raises(Refused):
        contracts.reopen(curator=people.carol, contract=contract, reason="?")
    for each in (contract, new):
        check_books(each)
    figure(row=13, n=4, seen="member removed and added, same file again, version replaced, closed and opened anew: regained 0")
