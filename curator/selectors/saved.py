"""The questions that somebody keeps under names, in a fixed number of queries: their number is bounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import User
from curator.models import Contract, SavedQuestion
from curator.selectors import wording


@dataclass(frozen=True, slots=True)
class SavedLine:
    """One kept question in words; `request` is the body that asks it through the API, amounts and numbers as text."""

    uid: UUID
    name: str
    words: str
    asked: str
    sql: str
    under_scarcity: str
    saved_at: datetime
    request: Mapping[str, Any]

    @property
    def named(self) -> bool:
        """Whether the name says more than the words do."""
        return self.name != self.words


def saved_lines(contract: Contract, owner: User) -> tuple[SavedLine, ...]:
    """All of somebody's kept questions under a contract, by name."""
    rows = SavedQuestion.objects.filter(contract=contract, owner=owner).order_by("name")
    return tuple(map(saved_line, rows))


def saved_line(row: SavedQuestion) -> SavedLine:
    """One kept question."""
    request = {"sql": row.sql, "accuracy": row.accuracy, "under_scarcity": row.under_scarcity, "label": row.name}
    return SavedLine(
        uid=row.uid,
        name=row.name,
        words=wording.question_words(row.question),
        asked=wording.target_words(row.accuracy),
        sql=row.sql,
        under_scarcity=row.under_scarcity,
        saved_at=row.saved_at,
        request=request,
    )
