"""Carrying out one decision in memory: draw what was paid for, fuse it with what is held, and move the standing forward.

The only place of an answer where an exact count meets the noise. Nothing is written here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

from curator.mechanism import accuracy, noise
from curator.mechanism.noise import Draw, ExactCount
from curator.mechanism.rho import Units
from curator.mechanism.support import Held
from curator.services.deciding import Part, Verdict
from curator.services.pending import Cell
from curator.services.standing import Standing

Counts = Mapping[str, ExactCount]


@dataclass(frozen=True, slots=True)
class Fresh:
    """One release: its random uid, what was drawn, and what it costs."""

    uid: UUID
    draw: Draw
    rho: Units


@dataclass(frozen=True, slots=True)
class Result:
    """One bin after its release: what is held now, by which releases, and the bound reached. An empty region has no `part`."""

    cell: Cell
    part: Part | None
    fresh: Fresh | None
    held: Held
    certificate: tuple[tuple[str, Units], ...]
    bound: int | None

    @property
    def shown(self) -> int | None:
        """The value that the analyst sees: known to be 0 where no record can be, None where nothing was ever released."""
        return 0 if self.part is None else self.held.shown


@dataclass(frozen=True, slots=True)
class Settled:
    """One question, decided and drawn; `group` marks the releases of its disjoint bins."""

    verdict: Verdict
    results: tuple[Result, ...]
    group: UUID
    spent_before: Units
    spent_after: Units


def carry_out(verdict: Verdict, counts: Counts, now: Standing) -> Settled:
    """Draw a decision's noise from `counts` and move `now` forward by what it charges and releases."""
    before = now.spent
    now.spent += verdict.load
    now.purse(verdict.pending.analyst_id).spent += verdict.quota
    parts = {part.cell.position: part for part in verdict.parts}
    fresh = draw(counts, {part.cell.digest: part.rho_new for part in verdict.parts if part.cell.digest and part.rho_new})
    results = [_result(cell, parts.get(cell.position), fresh.get(cell.digest), verdict, now) for cell in verdict.pending.cells]
    return Settled(verdict, tuple(results), uuid4(), spent_before=before, spent_after=now.spent)


def draw(counts: Counts, amounts: Mapping[str, Units]) -> dict[str | None, Fresh]:
    """One release per descriptor, for its amount of units."""
    draws = noise.release_all([counts[digest] for digest in amounts], list(amounts.values()))
    return {digest: Fresh(uuid4(), each, rho) for (digest, rho), each in zip(amounts.items(), draws, strict=True)}


def _result(cell: Cell, part: Part | None, fresh: Fresh | None, verdict: Verdict, now: Standing) -> Result:
    if part is None or cell.digest is None:
        return Result(cell, None, None, Held(), (), 0)
    credit = now.credit(cell.digest)
    if fresh is not None:
        credit.add(str(fresh.uid), rho=fresh.rho, value=fresh.draw.value)
    pending = verdict.pending
    bound = accuracy.bound_reached(credit.held.rho_hist, pending.target, len(pending.cells))
    return Result(cell, part, fresh, credit.held, tuple(credit.parts), bound)
