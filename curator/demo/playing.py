"""Plays the round through the running worker and prints it, one line a question, with the baseline beside."""

import time
from collections.abc import Callable, Iterable

from accounts.models import User
from curator.demo.script import Step
from curator.mechanism import rho
from curator.models import Contract, Query
from curator.selectors import answers, comparison
from curator.selectors.answers import QueryPage
from curator.services import queries

PATIENCE = 120.0  # seconds for one question: a first start of the worker included
LINE = "{:<6} {:<52} {:>9} {:>9} {:>9} {:>9}  {}"
Say = Callable[[str], object]


def header() -> str:
    """The head of the table."""
    return LINE.format("who", "question", "asked", "charged", "history", "partition", "answer")


def play(contract: Contract, people: dict[str, User], steps: Iterable[Step], say: Say) -> None:
    """Ask every question in turn, wait for the worker's decision, print it."""
    for step in steps:
        analyst = people[step.analyst]
        row = queries.submit(analyst=analyst, contract=contract, body=step.request, key=step.key)[0]
        say(_line(step, answers.query_page(_decided(row))))


def _decided(row: Query) -> Query:
    """The question once it is final. The row is the truth; a doorbell that was lost is rung again by the sweep."""
    deadline = time.monotonic() + PATIENCE
    while row.state == Query.State.WAITING:
        if time.monotonic() > deadline:
            raise TimeoutError("The worker has not answered: is it running?")
        time.sleep(0.05)
        row.refresh_from_db()
    return Query.objects.select_related("contract", "analyst", "version").get(pk=row.pk)


def _line(step: Step, page: QueryPage) -> str:
    trace = page.trace
    assert trace is not None, f"{page.state}: {page.failure}"
    history = max(0, min((bin_.rho_hist for bin_ in page.bins), default=0))
    baseline = page.beside.partition_charge if page.beside else 0
    asked = page.asked.split(" people")[0].replace("within ", "")
    amounts = rho.short_up(trace.load), rho.short(history), rho.short_up(baseline)
    return LINE.format(step.analyst, step.label, asked, *amounts, _answer(page))


def _answer(page: QueryPage) -> str:
    if page.answer is None:
        return f"{len(page.bins)} bins, the widest ± {max(bin_.bound or 0 for bin_ in page.bins)}"
    if page.answer.value is None:
        return f"{page.state}: nothing is known"
    weight = "" if page.state == Query.State.ANSWERED else f"  ({page.state}, weight {page.answer.weight.normalize():f})"
    return f"{page.answer.value:,} ± {page.answer.bound}{weight}"


def summary(contract: Contract) -> str:
    """The closing line: rho here and under budget partitioning."""
    found = comparison.comparison(contract)
    assert found is not None, "the contract was never opened"
    spent, partition = found.residual.spent or 0, found.partition.spent or 0
    return f"residual {rho.text(spent)} partition {rho.text(partition)} saved {found.saved_percent or 0} %"
