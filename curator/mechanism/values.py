"""Texts, numbers and dates as people write them, read the same way in files, schemas and questions.

One trim rule everywhere: text is normalised to NFC and surrounding white space is dropped. Numbers are exact decimals written
with ASCII digits and a point; `inf`, `nan`, digit groups and hexadecimal are not numbers. Nothing here knows of columns.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

Literal = str | int | Decimal | bool

MAX_TEXT = 200  # characters of a name, a category or a literal
MAX_SCALE = (
    30  # numbers lie between 10^-30 and 10^30 or are zero: nothing a person counts is beyond, and exact arithmetic stays small
)
NEAR_LIMIT = 2_000  # candidates that a suggestion looks at

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def normalise(text: str) -> str:
    """The one trim rule: NFC, no surrounding white space."""
    return unicodedata.normalize("NFC", text).strip()


def has_control(text: str) -> bool:
    """Whether a text holds what is not seen as itself.

    Controls, marks that turn the reading order or show nothing, line and paragraph separators, halves of surrogate pairs,
    characters without a common meaning: a record could show something else than it says, and one name look like another.
    The two joiners stay, because scripts and emoji are written with them.
    """
    return any(unicodedata.category(char) in _UNSEEN and char not in _JOINERS for char in text)


def echo(value: object) -> str:
    """What somebody wrote, short and harmless enough to stand inside an error message or a log line."""
    if isinstance(value, int) and abs(value) >= 10**MAX_SCALE:
        return "a number of more than 30 digits"
    text = value if isinstance(value, str) else str(value) if isinstance(value, int | Decimal) else type(value).__name__
    return f'"{harmless(text)}"'


def harmless(text: str) -> str:
    """At most 60 characters, control characters and half surrogates written out as escapes."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return "".join(f"\\u{ord(char):04x}" if has_control(char) else char for char in shown)


def read_number(value: str | int | Decimal) -> Fraction | None:
    """The exact number, or None where this is no number or lies beyond 10^30 or below 10^-30."""
    exact = _decimal(value) if isinstance(value, str) else value
    if isinstance(exact, int):
        return Fraction(exact) if abs(exact) < 10**MAX_SCALE else None
    if exact is None or not exact.is_finite() or (exact and not -MAX_SCALE <= exact.adjusted() < MAX_SCALE):
        return None
    return Fraction(exact) if exact else Fraction(0)


def read_any_number(text: str) -> Fraction | None:
    """As `read_number`, but a number beyond 10^30 is 10^30 and one below 10^-30 is 0: files may write such numbers."""
    exact = _decimal(text)
    if exact is None or (number := read_number(exact)) is not None:
        return number if exact is not None else None
    if exact.adjusted() < 0:
        return Fraction(0)
    return Fraction(-(10**MAX_SCALE) if exact.is_signed() else 10**MAX_SCALE)


def _decimal(text: str) -> Decimal | None:
    tidy = text.strip()
    return Decimal(tidy) if len(tidy) <= MAX_TEXT and _NUMBER.fullmatch(tidy) else None


def read_date(text: str, *, with_time: bool = False) -> date | None:
    """A date written YYYY-MM-DD; `with_time` also takes an ISO date and time and keeps its date."""
    text = text.strip()
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
        if with_time and len(text) <= MAX_TEXT and _DATE.match(text):
            return datetime.fromisoformat(text).date()
    except ValueError:
        return None
    return None


def whole_key(text: str) -> str:
    """`1.0` and `1.` read as `1`: how files written by other programs spell whole numbers in a category."""
    match = _WHOLE.fullmatch(text)
    return match.group(1) if match else text


def near(text: str, known: Iterable[str]) -> str | None:
    """The known name that somebody probably meant: same letters in another case first, then a close spelling."""
    candidates = list(known)[:NEAR_LIMIT]
    folded = normalise(text).casefold()
    same = [name for name in candidates if name.casefold() == folded]
    if same:
        return same[0]
    close = difflib.get_close_matches(text, candidates, n=1) if len(text) <= MAX_TEXT else []
    return close[0] if close else None


def hint(text: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?`, or nothing."""
    found = near(text, known)
    return f' Did you mean "{found}"?' if found is not None else ""
