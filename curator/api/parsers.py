"""JSON bodies, guarded before they are parsed: at most 64 KB, bounded depth, numbers as exact decimals."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from curator.language.guard import MAX_BODY, guard_text


class GuardedJSONParser(BaseParser):
    """Reads no more than the stated maximum from the stream and hands the bytes to the language's guard."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Return the decoded body; raises Refused (too large, too deep, not JSON, NaN or Infinity)."""
        return guard_text(stream.read(MAX_BODY + 1))
