"""Step 1 of a run: which cells may need fresh noise, without a lock.

Errs on the side of reading: what is held of a descriptor only grows, so a cell that needs nothing now needs nothing later.
Nothing is read for a contract or an analyst with nothing left; should either get more before the questions are settled, they
wait for the next round.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from curator.mechanism.accuracy import Relative
from curator.models import Contract
from curator.services import deciding, standing
from curator.services.pending import Batch, Pending
from curator.services.standing import Standing


def look(contract_id: int, batch: Batch) -> set[tuple[int, str]]:
    """(version row id, digest) of the cells to count for this batch."""
    contract = Contract.objects.get(id=contract_id)
    now = standing.read(
        contract,
        analysts={question.analyst_id for question in batch.questions},
        digests=batch.regions,
        now=datetime.now(UTC),
    )
    return {(question.version_id, digest) for question in batch.questions for digest in _missing(question, now)}


def _missing(question: Pending, now: Standing) -> Iterator[str]:
    broke = now.limits(question.analyst_id, bins=1)[0].units == 0
    for cell, digest in question.counted:
        diagnostic = now.diagnostics.get(digest)
        price = deciding.price(question, cell, diagnostic)
        sized = diagnostic is not None or not isinstance(question.target, Relative)
        if now.is_open and not sized:
            yield digest  # counted once, for the diagnostic and for the answer
        elif price is not None and price > now.credit(digest).held.rho_hist and not broke:
            yield digest
