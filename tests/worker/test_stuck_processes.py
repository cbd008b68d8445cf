"""Real workers whose process hangs, runs out of memory or aborts on one question: that one fails, the others are served."""

from collections.abc import Callable
from time import monotonic

import pytest

from curator import queue
from curator.models import Descriptor, LedgerEntry, Query
from curator.services import claiming
from rdp_site.celery import app
from tests.cast import ROWS, cast, make_contract
from tests.fixtures.figures import Figure
from tests.fixtures.worker import Worker
from tests.worker.scene import WOMEN, ask, check_books, is_final, places, state, until

pytestmark = pytest.mark.django_db


def sweeping(condition: Callable[[], bool]) -> Callable[[], bool]:
    """The condition, with the clock's sweep every half second, as `make run` has it."""
    last = [0.0]

    def look() -> bool:
        if monotonic() - last[0] > 0.5:
            last[0] = monotonic()
            app.send_task(queue.SWEEP)
        return condition()

    return look


@pytest.mark.trust
@pytest.mark.parametrize("how", [pytest.param("hang", marks=pytest.mark.slow), "memory", "abort"])
def test_a_question_that_stops_its_process_fails_after_two_attempts_and_the_others_are_served(
    start_worker: Callable[..., Worker], how: str, figure: Figure
) -> None:
    people = cast()
    contract = make_contract(people, rows=ROWS)
    poison = ask(people.alice, contract, WOMEN)
    others = [ask(people.bob, contract, where, rho="0.01") for where, _ in zip(places(), range(5), strict=False)]
    region = bytes(Descriptor.objects.get(pk=poison.bins.get().descriptor_id).region).hex()
    patience = {"hang": "10"}.get(how, "150")  # enough for the first count of a fresh process
    variables = {"RDP_POISON": how, "RDP_POISON_REGION": region, "RDP_TASK_SECONDS": patience}
    worker = start_worker(concurrency=2, include="tests.worker.poisons", **variables)
    until(sweeping(lambda: is_final(poison, *others)), what=lambda: worker.log)
    row = Query.objects.get(pk=poison.pk)
    assert (row.state, row.failure, row.attempts) == ("failed", "failed_twice", claiming.MAX_ATTEMPTS)
    assert {state(query) for query in others} == {"answered"}
    assert not LedgerEntry.objects.filter(query=poison).exists()
    check_books(contract)
    figure(
        row=17, n=len(others), seen=f"a question that makes its process {how}: 2 attempts, {len(others)} others served, stuck 0"
    )
