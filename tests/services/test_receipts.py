"""Receipts outside the database: one after each release, in order, whole, and made good after a crash."""

import stat
from collections.abc import Callable
from dataclasses import replace
from errno import ENOSPC
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from curator import queue
from curator.mechanism.receipts import line, read
from curator.models import Contract, Decision, Query, Release
from curator.services import execution, receipts
from tests.cast import ROWS, Cast, cast, make_contract, units
from tests.worker import forked
from tests.worker.scene import MEN, MIDDLE_AGED, WOMEN, ask, at_once, check_books, places, state

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


def kept(contract: Contract) -> list[int]:
    """What the receipts of a contract say was spent, oldest first."""
    with receipts.path_of(contract.uid).open("rb") as file:
        return [receipt.spent for receipt in read(file)]


def total(contract: Contract) -> int:
    return Contract.objects.get(pk=contract.pk).spent_bound


def test_each_release_leaves_a_receipt_of_chain_and_spending(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, xi="0.5", query_cap=units("0.001"), rho_d=units("0.0001"))
    query = ask(people.alice, contract, WOMEN, within=1)  # scarce: diagnostics first
    execution.run(contract.pk)
    row, known = Contract.objects.get(pk=contract.pk), receipts.newest(contract.uid)
    assert known is not None and row.est_spent > 0
    assert (known.seq, known.head) == Decision.objects.values_list("event_seq", "head").get(query=query)
    assert known.spent == row.spent_bound + row.est_spent
    assert kept(contract) == [0, row.est_spent, known.spent]
    path = receipts.path_of(contract.uid)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]


def test_a_crash_before_the_commit_leaves_no_receipt_and_one_after_it_is_made_good_by_the_next_run(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    for place, where, released, receipted in (
        ("before_commit", WOMEN, 0, 0),
        ("after_commit", MEN, 1, 0),
        ("after_receipt", MIDDLE_AGED, 1, 1),
    ):
        before = total(contract)
        ask(people.alice, contract, where, rho="0.01")
        forked.wait(forked.start(connection.settings_dict["NAME"], contract.pk, die_at=place))
        assert total(contract) - before == released * units("0.01")  # type: ignore[operator]  # an amount
        assert kept(contract)[-1] - before == receipted * units("0.01")  # type: ignore[operator]  # an amount
        execution.run(contract.pk)  # what waited is served, what was not noted is noted
        ask(people.bob, contract, where, rho="0.01")
        execution.run(contract.pk)
        assert kept(contract)[-1] == total(contract) == before + (units("0.01") or 0)
    check_books(contract)


def test_a_line_that_was_half_written_is_replaced(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN, rho="0.01")
    execution.run(contract.pk)
    with receipts.path_of(contract.uid).open("ab") as file:
        file.write(b'{"at": "2030-')
    ask(people.alice, contract, rho="0.01")
    assert execution.run(contract.pk) == 1
    assert kept(contract)[-1] == units("0.02")


@pytest.mark.parametrize("rows", [ROWS, []], ids=["answers", "diagnostics"])
def test_a_receipt_that_cannot_be_left_costs_no_question_an_attempt(
    people: Cast, monkeypatch: pytest.MonkeyPatch, rows: list[object]
) -> None:
    contract = make_contract(people, rows=ROWS, xi="0.5", query_cap=units("0.001"), rho_d=units("0.0001"))
    asked = [ask(people.alice, contract, where, within=1 if not rows else 40) for where in (WOMEN, MEN, MIDDLE_AGED)]
    for _ in range(4):
        with monkeypatch.context() as patch:
            patch.setattr(receipts, "_append", full_after(1))
            execution.run(contract.pk)
    waiting = Query.objects.filter(pk__in=[query.pk for query in asked], state="waiting")
    assert not waiting.filter(attempts__gt=0).exists() and not Query.objects.filter(state="failed").exists()
    execution.run(contract.pk)
    assert {state(query) for query in asked} <= {"answered", "partial", "declined"}
    check_books(contract)


def full_after(good: int) -> Callable[[receipts.Recorded], None]:
    """A disk that takes so many receipts and no more."""
    left, append = [good], receipts._append

    def full(recorded: receipts.Recorded) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(ENOSPC, "No space left on device")
        append(recorded)

    return full


def test_many_writers_keep_the_file_in_order_and_whole(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, where, rho="0.001") for where, _ in zip(places(), range(30), strict=False)]
    works = [partial(execution.run, contract.pk)] * 4 + [partial(receipts.note, contract.pk)] * 8
    at_once(works)
    execution.run(contract.pk)
    assert {state(query) for query in asked} == {"answered"}
    assert kept(contract) == sorted(kept(contract)) and kept(contract)[-1] == units("0.03")


def test_a_declined_question_and_a_free_one_leave_the_spending_as_it_was(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS, rho_total="0.01")
    ask(people.alice, contract, WOMEN, rho="0.01")
    ask(people.bob, contract, WOMEN, rho="0.01")
    ask(people.bob, contract, rho="0.01", under_scarcity="all_or_nothing")
    execution.run(contract.pk)
    assert Release.objects.count() == 1 and kept(contract)[-1] == units("0.01")


def test_verify_compares_the_record_with_the_receipts_that_are_on_this_machine(people: Cast) -> None:
    contract = make_contract(people, rows=ROWS)
    ask(people.alice, contract, WOMEN, rho="0.01")
    execution.run(contract.pk)
    said = StringIO()
    call_command("verify", "--contract", str(contract.uid), stdout=said)
    assert "compared with the receipts of 1 contracts" in said.getvalue()
    path = receipts.path_of(contract.uid)
    known = receipts.newest(contract.uid)
    assert known is not None
    with path.open("ab") as file:  # as if more had been released than the record tells of
        file.write(line(replace(known, seq=known.seq + 5, spent=known.spent + 1)))
    with pytest.raises(CommandError, match="a receipt of"):
        call_command("verify", "--contract", str(contract.uid))
    path.unlink()
    call_command("verify", "--contract", str(contract.uid), stdout=said)
    assert "no receipts are kept on this machine" in said.getvalue()
