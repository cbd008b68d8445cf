"""Recomputing the record from its own rows: chains, ledger, supports, releases, answers, and every decision made again.

The chain is walked from its first event with nothing but public state at hand; each event is compared with the rows written
beside it, and at the end the totals with what the chain amounts to. The first contradiction is reported with its table and
row. One snapshot of the database is looked at, so that the worker need not stop.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db import connection, transaction

from accounts.models import User
from curator.models import AuditHead, Contract
from curator.services import audit
from curator.services.audit import Event
from curator.services.verification.chain import CHUNK, Entry, walk
from curator.services.verification.contract import Check
from curator.services.verification.difference import Difference, present, require


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at, and the first contradiction (None: there is none)."""

    ok: bool
    checked: dict[str, int]
    first_difference: str | None


def verify(contracts: Iterable[Contract] | None = None) -> Report:
    """Verify some contracts, or all of them and the site's chain. Reads one snapshot; writes nothing."""
    checked: Counter[str] = Counter()
    difference = None
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            _everything(checked) if contracts is None else _each(contracts, checked)
        except Difference as found:
            difference = str(found)
    return Report(difference is None, dict(checked), difference)


def verify_for(person: User, contracts: Sequence[Contract]) -> Report:
    """Verify contracts because `person` asked, and record on the chain of each what came of it: of that contract alone."""
    reports = [_recorded(person, contract) for contract in contracts]
    checked: Counter[str] = Counter()
    for report in reports:
        checked.update(report.checked)
    differences = [report.first_difference for report in reports if report.first_difference is not None]
    return Report(not differences, dict(checked), next(iter(differences), None))


def _recorded(person: User, contract: Contract) -> Report:
    report = verify([contract])
    data = {"ok": report.ok, "checked": report.checked, "first_difference": report.first_difference}
    with transaction.atomic():
        audit.append(audit.chain_of(contract), [Event("record.verified", person.username, data)])
    return report


def _everything(checked: Counter[str]) -> None:
    contracts = list(Contract.objects.order_by("id"))
    chains = {audit.chain_of(contract) for contract in contracts} | {audit.SITE}
    for chain in AuditHead.objects.order_by("chain").values_list("chain", flat=True):
        require(chain in chains, f"audithead {chain}", "its contract is missing")
    _each(contracts, checked)
    checked["events"] += sum(1 for _ in walk(audit.SITE))


def _each(contracts: Iterable[Contract], checked: Counter[str]) -> None:
    for given in contracts:
        rows = Contract.objects.select_related("dataset", "version", "created_by").filter(pk=given.pk)
        contract = present(rows.first(), f"contract {given.pk}", "its dataset, its version or whoever made it is missing")
        check = Check(contract, checked)
        for stretch in _stretches(walk(audit.chain_of(contract))):
            check.stretch(stretch)
        check.finish()


def _stretches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while stretch := list(islice(entries, CHUNK)):
        yield stretch
