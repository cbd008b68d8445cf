"""JSON bodies, guarded before they are parsed: at most 64 KB, bounded depth, numbers as exact decimals. And lines of JSON."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from curator.experiments import running
from curator.language.guard import MAX_BODY, guard_text


class GuardedJSONParser(BaseParser):
    """Reads no more than the stated maximum from the stream and hands the bytes to the language's guard."""

    media_type = "application/json"
    most = MAX_BODY

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Return the decoded body; raises Refused (too large, too deep, not JSON, NaN or Infinity)."""
        return guard_text(stream.read(self.most + 1), most=self.most)


class SchemaParser(GuardedJSONParser):
    """The same for columns of a schema, which may have thousands of values: as much as the page takes in a file of them."""

    most = 2_000_000


class LinesParser(BaseParser):
    """A workload: JSON lines, handed over as text; each is read, and refused with its number, where experiments are made."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what stands in the address, with the text as `workload`; Refused: too large, not UTF-8, empty."""
        assert parser_context is not None
        beside = parser_context["request"].query_params
        return {**beside.dict(), "workload": running.decoded(stream.read(running.MAX_BYTES + 1), field="workload")}
