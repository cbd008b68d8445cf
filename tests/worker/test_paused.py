"""A worker that is paused (SIGSTOP) on the way, locks in hand: another takes over, and when it wakes nothing is doubled."""

import os
import signal
from multiprocessing.context import ForkServerProcess

import psutil
import pytest
from django.db import connection

from curator import queue
from curator.models import Decision, LedgerEntry, Release
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.worker import forked
from tests.worker.scene import MEN, WOMEN, ask, check_books, is_final, until

pytestmark = pytest.mark.django_db

PLACES = ("after_claim", "after_read", "after_draw", "before_commit", "after_commit")


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    return cast()


@pytest.mark.trust
@pytest.mark.parametrize("place", PLACES)
def test_a_paused_worker_is_passed_by_and_doubles_nothing_when_it_wakes(people: Cast, place: str, figure: Figure) -> None:
    contract = make_contract(people, rows=ROWS)
    asked = [ask(people.alice, contract, WOMEN, rho="0.01"), ask(people.bob, contract, MEN, rho="0.01")]
    child = forked.start(connection.settings_dict["NAME"], contract.pk, die_at=f"{place}:pause", silence=0.3)
    until(lambda: _is_paused(child))
    until(lambda: execution.run(contract.pk) >= 0 and is_final(*asked))
    seen = list(Release.objects.order_by("id").values_list("uid", "value"))
    until(lambda: _has_ended(child))
    assert list(Release.objects.order_by("id").values_list("uid", "value")) == seen
    assert Release.objects.count() == LedgerEntry.objects.count() == Decision.objects.count() == 2
    check_books(contract)
    figure(row=17, n=2, seen=f"worker paused {place.replace('_', ' ')}: served by another, doubled 0")


def _has_ended(child: ForkServerProcess) -> bool:
    """Wake the child, which may come past its failpoint once more, until it is done."""
    if child.exitcode is None and _is_paused(child):
        os.kill(child.pid or 0, signal.SIGCONT)
    return child.exitcode is not None


def _is_paused(child: ForkServerProcess) -> bool:
    return bool(psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
