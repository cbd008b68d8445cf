"""Words that people type: names, reasons, notes.

They end up in records, pages, e-mails and log lines, so control characters are refused once, here, and not filtered at each exit.
"""

from curator.mechanism.errors import BadInput
from curator.mechanism.values import has_control, normalise

LINE = 120
PARAGRAPH = 2_000


def line(text: str, *, field: str, most: int = LINE) -> str:
    """One line of text, trimmed and in NFC; BadInput when it is empty, too long or has control characters."""
    return _required(_clean(text, field=field, most=most, lines=False), field=field)


def paragraph(text: str, *, field: str, most: int = PARAGRAPH) -> str:
    """Some lines of text that must be there: a reason, a note."""
    return _required(_clean(text, field=field, most=most, lines=True), field=field)


def optional(text: str, *, field: str, most: int = PARAGRAPH) -> str:
    """Some lines of text, or none."""
    return _clean(text, field=field, most=most, lines=True)


def _clean(text: str, *, field: str, most: int, lines: bool) -> str:
    clean = normalise(text.replace("\r\n", "\n"))
    if len(clean) > most:
        raise BadInput("too_long", f"{field}: expected at most {most} characters, found {len(clean)}", field=field, most=most)
    if has_control(clean.replace("\n", "") if lines else clean):
        raise BadInput("bad_text", f"{field}: expected plain text without control characters or invisible marks", field=field)
    return clean


def _required(text: str, *, field: str) -> str:
    if not text:
        raise BadInput("missing_text", f"{field}: expected some text", field=field)
    return text
