"""Recomputing the record from its own rows: chains, ledger, supports, releases, answers, and every decision made again.

The chain is walked from its first event with nothing but public state at hand; each event is compared with the rows written
beside it, and at the end the totals with what the chain amounts to. The first contradiction is reported with its table and
row. One snapshot of the database is looked at, so that the worker need not stop.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from django.db import connection, transaction

from curator.mechanism.receipts import Receipt
from curator.models import AuditHead, Contract
from curator.services import audit
from curator.services.verification import anchors
from curator.services.verification.chain import CHUNK, Entry, walk
from curator.services.verification.contract import Check
from curator.services.verification.difference import Difference, present, require

Progress = Callable[[int], None]  # takes how many further events were looked at


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at, and the first contradiction (None: there is none)."""

    ok: bool
    checked: dict[str, int]
    first_difference: str | None


def verify(
    contracts: Iterable[Contract] | None = None, *, receipts: Iterable[Receipt] = (), progress: Progress = lambda _: None
) -> Report:
    """Verify some contracts, or all of them and the site's chain, against `receipts` too. One snapshot; writes nothing."""
    return _report(lambda checked: _all(contracts, receipts, checked, progress))


def verify_site(*, progress: Progress = lambda _: None) -> Report:
    """Verify the chain of the site alone."""
    return _report(lambda checked: _site(checked, progress))


def _report(look: Callable[[Counter[str]], None]) -> Report:
    checked: Counter[str] = Counter()
    difference = None
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            look(checked)
        except Difference as found:
            difference = str(found)
    return Report(difference is None, dict(checked), difference)


def _all(contracts: Iterable[Contract] | None, noted: Iterable[Receipt], checked: Counter[str], progress: Progress) -> None:
    if contracts is None:
        _everything(checked, progress)
        chains = None
    else:
        contracts = list(contracts)
        _each(contracts, checked, progress)
        chains = {audit.chain_of(contract) for contract in contracts}
    anchors.check(noted, chains, checked)


def _everything(checked: Counter[str], progress: Progress) -> None:
    contracts = list(Contract.objects.order_by("id"))
    chains = {audit.chain_of(contract) for contract in contracts} | {audit.SITE}
    for chain in AuditHead.objects.order_by("chain").values_list("chain", flat=True):
        require(chain in chains, f"audithead {chain}", "its contract is missing")
    _each(contracts, checked, progress)
    _site(checked, progress)


def _site(checked: Counter[str], progress: Progress) -> None:
    for stretch in _stretches(walk(audit.SITE)):
        checked["events"] += len(stretch)
        progress(len(stretch))


def _each(contracts: Iterable[Contract], checked: Counter[str], progress: Progress) -> None:
    for given in contracts:
        rows = Contract.objects.select_related("dataset", "version", "created_by").filter(pk=given.pk)
        contract = present(rows.first(), f"contract {given.pk}", "its dataset, its version or whoever made it is missing")
        check = Check(contract, checked)
        for stretch in _stretches(walk(audit.chain_of(contract))):
            check.stretch(stretch)
            progress(len(stretch))
        check.finish()


def _stretches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while stretch := list(islice(entries, CHUNK)):
        yield stretch
