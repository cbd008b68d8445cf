"""Everything that can happen to a contract, in any order, on a real PostgreSQL: after each step the books agree.

Asked, taken back, approved, delivered, delivered twice, lost, killed on the way, restored from an older copy, raised, left: the
invariants are looked at after each of them. Runs are forked children where they die, this process where they do not.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from accounts.models import Role, User
from curator import queue
from curator.mechanism.errors import Refused
from curator.mechanism.rho import UNITS_PER_RHO
from curator.models import Answer, BudgetRequest, Contract, LedgerEntry, Query, Release
from curator.selectors.openness import held
from curator.services import budget_requests, contracts, execution, queries, reconciling
from tests.cast import ROWS, cast, make_contract, make_version, units
from tests.databases import TestDatabases
from tests.fixtures.figures import Figure
from tests.worker import forked
from tests.worker.backups import dump, restore
from tests.worker.scene import at_once, body, check_books, places

WHERE = [where for where, _ in zip(places(), range(6), strict=False)]
AMOUNTS = ("0.001", "0.01", "0.05", "0.2")
PLACES = ("after_claim", "after_draw", "before_commit", "after_commit", "after_receipt")

Seen = dict[tuple[int, int], tuple[Any, ...]]


class Machine(RuleBasedStateMachine):
    """One contract and everybody around it; `databases` is the session's, set by the test."""

    databases: TestDatabases
    steps = 0

    @initialize(xi=st.sampled_from(["0", "0.2"]))
    def begin(self, xi: str) -> None:
        self.name = self.databases.clone()
        self.folder = tempfile.TemporaryDirectory()
        self.contract = make_contract(cast(), rows=ROWS, rho_total="0.5", xi=xi, allotments={"alice": "0.2"})
        self.answers: Seen = {}
        self.copy: tuple[Path, Seen] | None = None
        self.keys: list[tuple[str, dict[str, Any]]] = []
        self.most = 0

    def teardown(self) -> None:
        if hasattr(self, "name"):
            self.databases.drop(self.name)
            self.folder.cleanup()

    def user(self, name: str) -> User:
        return User.objects.get(username=name)

    @rule(who=st.sampled_from(["alice", "bob"]), where=st.sampled_from(WHERE), rho=st.sampled_from(AMOUNTS), some=st.booleans())
    def submit(self, who: str, where: dict[str, Any], rho: str, some: bool) -> None:
        asked = body(where, rho=rho, under_scarcity="partial" if some else "all_or_nothing")
        self.keys.append((who, asked))
        self._submit(len(self.keys) - 1)

    @precondition(lambda self: self.keys)
    @rule(data=st.data())
    def submit_again(self, data: st.DataObject) -> None:
        self._submit(data.draw(st.integers(0, len(self.keys) - 1)))

    def _submit(self, number: int) -> None:
        who, asked = self.keys[number]
        submit = partial(queries.submit, analyst=self.user(who), contract=self.contract, body=asked, key=f"key {number}")
        first, second = ([query.pk for query in submit()] for _ in range(2))
        assert first == second

    @rule()
    def deliver(self) -> None:
        execution.run(self.contract.pk)

    @rule()
    def deliver_doubled(self) -> None:
        at_once([partial(execution.run, self.contract.pk)] * 3)

    @rule(place=st.sampled_from(PLACES))
    def crash(self, place: str) -> None:
        forked.wait(forked.start(connection.settings_dict["NAME"], self.contract.pk, die_at=place))

    @rule(place=st.sampled_from(PLACES[:-1]))
    def lose_the_database(self, place: str) -> None:
        forked.wait(forked.start(connection.settings_dict["NAME"], self.contract.pk, die_at=f"{place}:sever"))
        Query.objects.filter(outages__gt=0, state="waiting").update(claimed_at=None)  # no rest: the machine has no patience

    @rule()
    def cancel(self) -> None:
        for query in Query.objects.filter(contract=self.contract, state="waiting")[:1]:
            queries.cancel(analyst=query.analyst, query=query)

    @rule(percent=st.sampled_from([10, 50]))
    def ask_for_more_and_approve(self, percent: int) -> None:
        amount = percent * UNITS_PER_RHO // 1000
        try:
            budget_requests.request(analyst=self.user("alice"), contract=self.contract, amount=amount, reason="more")
            request = BudgetRequest.objects.filter(contract=self.contract, state="open").latest("pk")
            budget_requests.approve(curator=self.user("carol"), request=request, granted=amount, note="")
        except Refused as refusal:
            assert refusal.code in {"request_open", "no_limit", "not_a_member"}, refusal.code

    @rule()
    def raise_total(self) -> None:
        self.contract.refresh_from_db()
        more = self.contract.rho_total + UNITS_PER_RHO // 10
        contracts.raise_total(curator=self.user("carol"), contract=self.contract, rho_total=more, reason="more")

    @rule(served=st.booleans())
    def freeze_and_open_again(self, served: bool) -> None:
        contracts.freeze(curator=self.user("carol"), contract=self.contract, reason="for a while")
        if served:
            execution.run(self.contract.pk)  # leaves a receipt of it, and declines what waits
        contracts.reopen(curator=self.user("carol"), contract=self.contract, reason="go on")

    @rule()
    def leave_and_come_back(self) -> None:
        carol, alice = self.user("carol"), self.user("alice")
        contracts.remove_member(curator=carol, contract=self.contract, user=alice, role=Role.ANALYST)
        execution.run(self.contract.pk)
        contracts.add_member(curator=carol, contract=self.contract, user=alice, role=Role.ANALYST, allotment=units("0.5"))

    @rule()
    def upload_the_same_file_again(self) -> None:
        carol = self.user("carol")
        version = make_version(carol, rows=list(reversed(ROWS)), dataset=self.contract.dataset)
        contracts.set_version(curator=carol, contract=self.contract, version=version, reason="again")
        self.contract.refresh_from_db()

    @rule()
    def copy_the_database(self) -> None:
        self.copy = dump(Path(self.folder.name) / f"copy-{Query.objects.count()}"), dict(self.answers)

    @precondition(lambda self: self.copy)
    @rule()
    def restore_the_copy(self) -> None:
        assert self.copy is not None
        path, answers = self.copy
        restore(path, self.databases)
        self.contract = Contract.objects.get(pk=self.contract.pk)
        released = Release.objects.count()
        execution.run(self.contract.pk)
        if self._total() < self.most:
            assert held(self.contract) == "record_behind_receipt" and Release.objects.count() == released
        self._reconcile()
        self.answers = answers
        self.keys = self.keys[: len(self.keys)]

    def _reconcile(self) -> None:
        if not held(self.contract):
            return
        carol, most = self.user("carol"), self.most
        if self.contract.rho_total < most:
            contracts.raise_total(curator=carol, contract=self.contract, rho_total=most, reason="it was raised before")
        self.contract.refresh_from_db()
        reconciling.reconcile(curator=carol, contract=self.contract, reason="an older copy is back")
        self.contract.refresh_from_db()
        if self.contract.state == Contract.State.FROZEN:  # it was when the newest receipt was left
            contracts.reopen(curator=carol, contract=self.contract, reason="as it was")
        execution.run(self.contract.pk)
        assert not held(self.contract)

    def _total(self) -> int:
        row = Contract.objects.get(pk=self.contract.pk)
        return row.spent_bound + row.est_spent

    @invariant()
    def books_agree_and_nothing_said_is_unsaid(self) -> None:
        if not hasattr(self, "name"):
            return
        type(self).steps += 1
        check_books(self.contract)
        rows = Answer.objects.filter(query__contract=self.contract)
        now = {(row.query_id, row.position): (row.value, row.rho_eff, row.bound) for row in rows}
        assert self.answers.items() <= now.items(), "an answer has changed or gone"
        self.answers = now
        assert self._total() >= self.most, "budget has come back"
        self.most = self._total()
        assert LedgerEntry.objects.filter(account="ans", query__isnull=False).count() == len(_charged(self.contract))


def _charged(contract: Contract) -> set[int]:
    """The questions that released something: each is charged once."""
    return set(Release.objects.filter(contract=contract, account="ans").values_list("query_id", flat=True))


@pytest.fixture
def machine(databases: TestDatabases, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Machine]]:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    Machine.databases, Machine.steps = databases, 0
    with django_db_blocker.unblock():
        yield Machine


def run(machine: type[Machine], *, examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.trust
def test_whatever_happens_in_whatever_order_the_books_agree(machine: type[Machine], figure: Figure) -> None:
    run(machine, examples=2, steps=12)
    figure(row=2, n=machine.steps, seen=SEEN)


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
def test_whatever_happens_for_longer_the_books_agree(machine: type[Machine], figure: Figure) -> None:
    run(machine, examples=25, steps=30)
    figure(row=2, n=machine.steps, seen=SEEN)


SEEN = (
    "asked, doubled, killed, severed, restored, raised, frozen, left in any order: after each step the books agree, answers stand"
)
