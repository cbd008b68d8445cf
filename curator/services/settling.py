"""Step 3 of a run: decide, charge, draw and release in one short transaction under the contract's row lock.

Either all of it is committed or nothing was charged and nothing was seen. Nothing after a draw can fail because of the value
drawn. Locks: contract, then questions in order of id, then (in `recording`) the head of the audit chain.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction

from curator.models import Contract, Query
from curator.services import deciding, drawing, failpoints, outages, receipts, recording, standing
from curator.services.deciding import Verdict, Wanted
from curator.services.discretion import discreet
from curator.services.drawing import Counts, Settled
from curator.services.pending import Batch
from curator.services.standing import Standing


@dataclass(frozen=True, slots=True)
class Progress:
    """How many questions at the front of a batch are done with, and the diagnostics that the next one waits for."""

    done: int
    wanted: Wanted | None = None


@discreet
def settle(contract_id: int, batch: Batch, counts: Counts, *, insist: bool = False) -> Progress:
    """Settle the front of a batch, as far as it goes without a diagnostic or a count that is not there.

    With `insist` the first question is decided without the diagnostics it would like. A question cancelled since counts as done.
    """
    with transaction.atomic():
        contract = locked_contract(contract_id)
        waiting = _still_waiting(batch)
        now = _standing(contract, batch)
        progress, settled = _go_through(batch, counts, now, waiting, insist=insist)
        recording.write(now, settled)
        failpoints.reach("before_commit")
    failpoints.reach("after_commit")
    if settled:
        receipts.note(contract_id)
        failpoints.reach("after_receipt")
    return progress


def locked_contract(contract_id: int) -> Contract:
    """The contract's row under the lock that makes its decisions serial. Not FOR UPDATE: that would hold up every submit."""
    outages.bound_lock_waits()
    return Contract.objects.select_for_update(no_key=True).get(id=contract_id)


def _still_waiting(batch: Batch) -> set[int]:
    ids = [question.id for question in batch.questions]
    rows = Query.objects.filter(id__in=ids, state=Query.State.WAITING).select_for_update(no_key=True).order_by("id")
    return set(rows.values_list("id", flat=True))


def _standing(contract: Contract, batch: Batch) -> Standing:
    everybody = {version.everybody_digest for version in batch.versions.values()}
    analysts = {question.analyst_id for question in batch.questions}
    return standing.read(contract, analysts=analysts, digests={*batch.regions, *everybody}, now=datetime.now(UTC))


def _go_through(
    batch: Batch, counts: Counts, now: Standing, waiting: set[int], *, insist: bool
) -> tuple[Progress, list[Settled]]:
    settled: list[Settled] = []
    for place, question in enumerate(batch.questions):
        if question.id not in waiting:
            continue
        verdict = deciding.consider(question, batch.versions[question.version_id], now, insist=insist and place == 0)
        if isinstance(verdict, Wanted):
            return Progress(place, verdict), settled
        failpoints.reach("after_decide")
        if not _is_read(verdict, counts):
            return Progress(place), settled
        settled.append(drawing.carry_out(verdict, counts, now))
        failpoints.reach("after_draw")
    return Progress(len(batch.questions)), settled


def _is_read(verdict: Verdict, counts: Counts) -> bool:
    return all(part.cell.digest in counts for part in verdict.parts if part.rho_new)
