"""A contract that was closed or frozen stays so when an older copy of its record comes back: its receipts know."""

from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from curator import queue, tasks
from curator.mechanism.errors import Refused
from curator.models import AuditEvent, Contract, Hold, LedgerEntry, Query, Release
from curator.selectors.openness import held
from curator.services import contracts, execution, receipts
from curator.services.verification import verify
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.databases import TestDatabases
from tests.fixtures.figures import Figure
from tests.worker.backups import dump, restore
from tests.worker.scene import MEN, WOMEN, ask, at_once, check_books, elsewhere, is_final, places, state

pytestmark = pytest.mark.django_db
STOPS = {"closed": contracts.close, "frozen": contracts.freeze}


class Bells:
    """Stands for the broker: bells are heard when the test says so, in the worker's own function."""

    def __init__(self) -> None:
        self.rung: list[int] = []

    def ring(self, task: str, row_id: int) -> None:
        self.rung.append(row_id)

    def hear(self) -> None:
        while self.rung:
            tasks.run_controller(self.rung.pop())


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> Bells:
    made = Bells()
    monkeypatch.setattr(queue, "_send", made.ring)
    return made


@pytest.fixture
def people(bells: Bells) -> Cast:
    return cast()


def reconcile(contract: Contract, capsys: pytest.CaptureFixture[str]) -> str:
    call_command("reconcile", str(contract.uid), curator="carol", reason="the backup of Monday is back")
    return capsys.readouterr().out


def state_of(contract: Contract) -> str:
    return Contract.objects.values_list("state", flat=True).get(pk=contract.pk)


def is_revived(people: Cast, contract: Contract, bells: Bells, databases: TestDatabases, folder: Path, stop: str) -> bool:
    """Spend, copy, stop, restore the copy, ask: whether anything is released then."""
    ask(people.alice, contract, WOMEN, rho="0.1")
    bells.hear()
    copy = dump(folder / f"before-it-was-{stop}")
    STOPS[stop](curator=people.carol, contract=contract, reason="enough")
    bells.hear()
    restore(copy, databases)
    assert state_of(contract) == "open" and Release.objects.count() == 1
    ask(User.objects.get(username="bob"), contract, MEN, rho="0.1")
    for _ in range(3):
        tasks.sweep()
        bells.hear()
    return Release.objects.count() > 1


@pytest.mark.trust
@pytest.mark.parametrize("stop", STOPS)
def test_an_older_copy_opens_no_contract_that_was_stopped(
    people: Cast, bells: Bells, databases: TestDatabases, tmp_path: Path, capsys: pytest.CaptureFixture[str], figure: Figure,
    stop: str,
) -> None:  # fmt: skip
    contract = make_contract(people, rows=ROWS)
    assert not is_revived(people, contract, bells, databases, tmp_path, stop)
    assert Hold.objects.get().code == "record_behind_receipt"
    browser = Client()
    browser.force_login(User.objects.get(username="carol"), backend="django.contrib.auth.backends.ModelBackend")
    assert "is so again" in browser.get(reverse("control", args=[contract.uid])).content.decode()
    told = reconcile(contract, capsys)
    assert f"The contract is {stop} again." in told and "Charged as lost: 0 rho to answers" in told
    assert state_of(contract) == stop and not held(contract)
    bells.hear()
    assert Release.objects.count() == 1 and Query.objects.latest("pk").state in {"declined", "waiting"}
    check_books(contract)
    figure(row=13, n=1, seen=f"{stop} after the copy, copy restored: released 0, reconciled to {stop}")


@pytest.mark.trust
def test_without_a_receipt_of_the_closing_the_older_copy_would_be_open(
    people: Cast, bells: Bells, databases: TestDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    monkeypatch.setattr(receipts, "is_behind", lambda contract_id: False)
    assert is_revived(people, make_contract(people, rows=ROWS), bells, databases, tmp_path, "closed")
    figure(row=13, n=1, mutant="receipts of releases alone: a closed contract was open again, caught")


def test_a_place_that_was_taken_away_is_not_given_back_unnoticed(
    people: Cast, bells: Bells, databases: TestDatabases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever else a curator changed, the sweep has it noted: the older copy is held until a curator has looked."""
    contract = make_contract(people, rows=ROWS)
    tasks.sweep()
    bells.hear()
    copy = dump(tmp_path / "copy")
    contracts.remove_member(curator=people.carol, contract=contract, user=people.bob, role=Role.ANALYST)
    tasks.sweep()
    bells.hear()
    restore(copy, databases)
    asked = ask(User.objects.get(username="bob"), contract, WOMEN, rho="0.1")
    tasks.sweep()
    bells.hear()
    assert state(asked) == "waiting" and held(contract) == "record_behind_receipt"
    assert "look whether they are as they were" in reconcile(contract, capsys)
    bells.hear()
    assert state_of(contract) == "open" and state(asked) == "answered"


def test_nothing_is_charged_after_the_closing_and_its_receipt_has_all_that_was_before(people: Cast, bells: Bells) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.01") for where, _ in zip(places(), range(20), strict=False)]
    close = partial(contracts.close, curator=people.carol, contract=contract, reason="enough")
    at_once([partial(execution.run, contract.pk), close, *[partial(execution.run, contract.pk)] * 2])
    bells.hear()
    row, known = Contract.objects.get(pk=contract.pk), receipts.newest(contract.uid)
    assert known is not None and (known.state, known.spent) == ("closed", row.spent_bound)
    closing = AuditEvent.objects.get(chain=str(contract.uid), kind="contract.state").seq
    assert not LedgerEntry.objects.filter(contract=row, event_seq__gt=closing).exists() and is_final(*asked)
    check_books(contract)


def test_a_closing_that_was_taken_back_leaves_no_receipt(people: Cast, bells: Bells) -> None:
    contract = make_contract(people, rows=ROWS)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        contracts.close(curator=people.carol, contract=contract, reason="enough")
        assert elsewhere(partial(tasks.run_controller, contract.pk))
        _ = 1 / 0
    tasks.sweep()
    asked = ask(people.alice, contract, WOMEN, rho="0.1")
    bells.hear()
    assert state(asked) == "answered" and not held(contract)


def test_a_contract_that_was_opened_again_is_not_frozen_by_reconciling(
    people: Cast, bells: Bells, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newest receipt says frozen, and the record has that event and the one after it."""
    contract = make_contract(people, rows=ROWS)
    contracts.freeze(curator=people.carol, contract=contract, reason="for a while")
    bells.hear()
    contracts.reopen(curator=people.carol, contract=contract, reason="go on")
    bells.rung.clear()
    assert "again" not in reconcile(contract, capsys)
    assert state_of(contract) == "open"


def test_an_older_copy_that_is_closed_before_it_is_reconciled_is_told_and_charged_nothing(
    people: Cast, bells: Bells, databases: TestDatabases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = make_contract(people, rows=ROWS)
    copy = dump(tmp_path / "unspent")
    ask(people.alice, contract, WOMEN, rho="0.1")
    bells.hear()
    restore(copy, databases)
    contracts.close(curator=User.objects.get(username="carol"), contract=contract, reason="enough")
    bells.hear()
    assert held(contract) == "record_behind_receipt"
    assert "0.1 rho were spent, the contract was open" in reconcile(contract, capsys)
    assert not held(contract) and state_of(contract) == "closed"
    check_books(contract)


def test_a_frozen_copy_is_opened_first_where_something_is_to_be_charged(
    people: Cast, bells: Bells, databases: TestDatabases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = make_contract(people, rows=ROWS)
    contracts.freeze(curator=people.carol, contract=contract, reason="for a while")
    copy = dump(tmp_path / "frozen")
    contracts.reopen(curator=people.carol, contract=contract, reason="go on")
    ask(people.alice, contract, WOMEN, rho="0.1")
    bells.hear()
    contracts.close(curator=people.carol, contract=contract, reason="enough")
    bells.hear()
    restore(copy, databases)
    carol = User.objects.get(username="carol")
    with pytest.raises(Exception, match="contract_not_open"):
        reconcile(contract, capsys)
    contracts.reopen(curator=carol, contract=contract, reason="to charge what was lost")
    reconcile(contract, capsys)
    row = Contract.objects.get(pk=contract.pk)
    assert (row.state, row.spent_bound) == ("closed", units("0.1"))
    with pytest.raises(Refused):
        contracts.reopen(curator=carol, contract=contract, reason="?")
    assert verify([row]).ok
