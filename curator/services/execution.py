"""One run of the controller of a contract: claim, look, read, settle, until nothing waits.

Serial per contract: questions are settled in the order in which they arrived, whoever runs. Two runs at once are harmless, and
what a run leaves behind when it dies is taken up by the next one.
"""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic

from curator import queue
from curator.engine.sealing import EngineFailed
from curator.services import claiming, diagnostics, failpoints, looking, outages, pending, reading, receipts, settling
from curator.services.drawing import Counts
from curator.services.pending import Batch

logger = logging.getLogger(__name__)

TURN_SECONDS = 30.0  # then other contracts get this worker; a bell brings it back


def run(contract_id: int) -> int:
    """Serve what waits for a contract, and note outside what else has changed in it; returns how many were settled here."""
    served, started = 0, monotonic()
    # Looking again after letting go of the lock matters: whoever was refused it meanwhile has left, relying on that.
    while claiming.is_waiting(contract_id) or receipts.is_behind(contract_id):
        with claiming.exclusive(contract_id) as mine:
            if not (mine and receipts.may_release(contract_id)):  # held: the sweep asks again
                break
            done, cleared = _drain(contract_id, until=started + TURN_SECONDS)
        served += done
        if not cleared:
            queue.ring(contract_id)
            break
    return served


def _drain(contract_id: int, *, until: float) -> tuple[int, bool]:
    """Serve batch after batch; returns the number settled, and whether nothing was left waiting."""
    served = 0
    while monotonic() < until:
        ids = claiming.claim(contract_id)
        if not ids:
            return served, True
        done = _attempt(contract_id, ids)
        if done is None:
            break
        served += done
    return served, False


def _attempt(contract_id: int, ids: tuple[int, ...]) -> int | None:
    """Serve one batch; returns the number settled, or None if it is better to come back later."""
    try:
        return _serve(contract_id, ids) or None
    except EngineFailed as failure:
        # The attempt counts: alone, each question shows whether it is the one that cannot be counted.
        logger.error("contract %d: %s", contract_id, failure)
        return 0
    except receipts.NotNoted as failure:
        # Settled is settled. The rest of the batch has no part in it, and the next run holds the contract until it is mended.
        logger.error("contract %d: no receipt could be left (%s)", contract_id, type(failure.__cause__).__name__)
        claiming.give_back(ids)
        return None
    except Exception as error:
        uncount = _uncount(error)
        if uncount is None:
            queue.ring(contract_id)  # the attempt counts, and the rest need not wait for the sweep
            raise
        logger.warning("contract %d: the database is busy or was lost; its questions wait", contract_id)
        outages.outlast(partial(uncount, ids))
        return None


def _uncount(error: Exception) -> Callable[[Iterable[int]], None] | None:
    """What becomes of an attempt that ended with this error; None: it counts."""
    if outages.is_busy(error):
        return claiming.give_back
    return claiming.blame_outage if outages.is_outage(error) else None


def _serve(contract_id: int, ids: tuple[int, ...]) -> int:
    failpoints.reach("after_claim")
    batch = pending.load(ids)
    cells = looking.look(contract_id, batch)
    failpoints.reach("after_look")
    counts = reading.read(batch, cells)
    failpoints.reach("after_read")
    done = _settle(contract_id, batch, counts)
    claiming.give_back(ids[done:])  # not their fault: something changed since the look
    return done


def _settle(contract_id: int, batch: Batch, counts: Counts) -> int:
    """Settle a batch, stopping for the diagnostics that a question needs before its decision."""
    done, insist = 0, False
    while batch.questions:
        progress = settling.settle(contract_id, batch, counts, insist=insist)
        done += progress.done
        batch = batch.after(progress.done)
        if progress.wanted is None:
            break
        insist = not diagnostics.take(contract_id, batch, progress.wanted, counts)
    return done
