"""Verifications as their owner sees them: progress while they wait, and what came of them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import User
from curator.models import Verification
from curator.selectors.audit import titles_of

SHOWN = 10
WORDS = {
    "allotment": "allotments", "anchors": "receipts kept elsewhere", "answer": "answers", "contracts": "contracts",
    "decision": "decisions", "diagnostic": "diagnostics", "events": "events", "ledgerentry": "charges in the ledger",
    "query": "questions", "querybin": "bins of questions", "release": "releases", "support": "supports of descriptors",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class VerificationPage:
    """One verification, with how many of its events were looked at."""

    uid: UUID
    titles: tuple[str, ...]
    state: str
    done: int
    total: int
    ok: bool | None
    checked: tuple[tuple[str, int], ...]
    first_difference: str
    created_at: datetime
    finished_at: datetime | None

    @property
    def checked_words(self) -> tuple[tuple[str, int], ...]:
        """What was recomputed, named as people name it; a kind of row without a word here keeps its own."""
        return tuple(sorted((WORDS.get(name, name), number) for name, number in self.checked))

    @property
    def waiting(self) -> bool:
        """Whether its page looks again."""
        return self.state == Verification.State.WAITING


def verification_page(row: Verification) -> VerificationPage:
    """One verification."""
    return _page(row, titles_of(row.chains))


def latest(owner: User) -> tuple[VerificationPage, ...]:
    """The last ones that somebody asked for, newest first."""
    rows = list(Verification.objects.filter(owner=owner).order_by("-id")[:SHOWN])
    titles = titles_of(sorted({chain for row in rows for chain in row.chains}))
    return tuple(_page(row, titles) for row in rows)


def _page(row: Verification, titles: dict[str, str]) -> VerificationPage:
    return VerificationPage(
        uid=row.uid, titles=tuple(titles.get(chain, chain) for chain in row.chains), state=row.state, done=row.done,
        total=row.total, ok=row.ok, checked=tuple(sorted(row.checked.items())), first_difference=row.first_difference,
        created_at=row.created_at, finished_at=row.finished_at,
    )  # fmt: skip
