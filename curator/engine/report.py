"""What the curator is told about a file: figures of their own records, for their eyes only.

It is kept as a file beside the upload, never in the database and never in an audit event.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from curator.engine.tables import Format


@dataclass(frozen=True, slots=True)
class ParseReport:
    """Rows, and cells by column that took a declared rule (see `coding.verdict`)."""

    format: Format
    rows: int
    foreign_bytes: int = 0  # bytes that were no UTF-8
    without_person: int = 0  # rows dropped: nobody can be held to k records without a name
    beyond_k: int = 0  # rows dropped: their person has k others
    repeats: int = 0  # rows dropped: the same person with the same codes again
    cells: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def to_json(self) -> str:
        """The report as a JSON text."""
        return json.dumps(asdict(self), ensure_ascii=False)
