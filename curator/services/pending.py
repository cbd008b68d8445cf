"""Claimed questions with everything about them that never changes, so that it is read once and without a lock."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from curator.mechanism import accuracy
from curator.mechanism.accuracy import Target
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.rho import Units
from curator.models import Descriptor, Query, QueryBin
from curator.services.versions import Version, known


@dataclass(frozen=True, slots=True)
class Cell:
    """One bin: `digest` is None where no record can be in it, `rho_min` where only a diagnostic can tell (relative targets)."""

    position: int
    digest: str | None
    rho_min: Units | None


@dataclass(frozen=True, slots=True)
class Pending:
    """One claimed question."""

    id: int
    uid: UUID
    analyst_id: int
    analyst: str
    version_id: int
    target: Target
    under_scarcity: UnderScarcity
    cells: tuple[Cell, ...]

    @property
    def counted(self) -> list[tuple[Cell, str]]:
        """The cells that records can be in, each with its descriptor's digest."""
        return [(cell, cell.digest) for cell in self.cells if cell.digest is not None]


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions that are looked at, read and settled together, in order of arrival; `regions` are canonical bytes by digest."""

    questions: tuple[Pending, ...]
    regions: Mapping[str, bytes]
    versions: Mapping[int, Version]

    def after(self, settled: int) -> "Batch":
        """The same batch without its first `settled` questions."""
        return replace(self, questions=self.questions[settled:])


def load(ids: Iterable[int]) -> Batch:
    """Read the questions with these ids, their bins, and what the bins stand for."""
    rows = list(Query.objects.filter(id__in=list(ids)).select_related("analyst", "version").order_by("id"))
    cells = _cells([row.id for row in rows])
    digests = {cell.digest for each in cells.values() for cell in each if cell.digest is not None}
    regions = Descriptor.objects.filter(digest__in=digests).values_list("digest", "region")
    return Batch(
        questions=tuple(_pending(row, tuple(cells[row.id])) for row in rows),
        regions={digest: bytes(region) for digest, region in regions},
        versions={row.version_id: known(row.version) for row in rows},
    )


def _cells(ids: Sequence[int]) -> Mapping[int, list[Cell]]:
    found: dict[int, list[Cell]] = defaultdict(list)
    rows = QueryBin.objects.filter(query_id__in=ids).order_by("query_id", "position")
    for query_id, position, digest, rho_min in rows.values_list("query_id", "position", "descriptor_id", "rho_min"):
        found[query_id].append(Cell(position, digest, rho_min))
    return found


def _pending(row: Query, cells: tuple[Cell, ...]) -> Pending:
    return Pending(
        id=row.id, uid=row.uid, analyst_id=row.analyst_id, analyst=row.analyst.get_username(), version_id=row.version_id,
        target=accuracy.parse_target(row.accuracy), under_scarcity=UnderScarcity(row.under_scarcity), cells=cells,
    )  # fmt: skip
