"""How a file may write its dates: a short closed list, of which a column declares one; ISO where it declares none.

Nothing is guessed from a language or a machine: 03/04/2024 is the third of April or the fourth of March, and which of them it is
the column's curator says. Bounds, questions and answers write dates as YYYY-MM-DD whatever the file does.
"""

import re
from datetime import date

from curator.mechanism.values import MAX_TEXT, read_date

ISO = "yyyy-mm-dd"
_TIME = r"(?:[ T](?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?)?"
_YEAR, _MONTH, _DAY = r"(?P<year>[0-9]{4})", r"(?P<month>[0-9]{1,2})", r"(?P<day>[0-9]{1,2})"
_WRITTEN = {
    "dd.mm.yyyy": re.compile(rf"{_DAY}\.{_MONTH}\.{_YEAR}{_TIME}"),
    "dd/mm/yyyy": re.compile(rf"{_DAY}/{_MONTH}/{_YEAR}{_TIME}"),
    "mm/dd/yyyy": re.compile(rf"{_MONTH}/{_DAY}/{_YEAR}{_TIME}"),
    "yyyy/mm/dd": re.compile(rf"{_YEAR}/{_MONTH}/{_DAY}{_TIME}"),
    "yyyymmdd": re.compile(r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"),
}
FORMS = (ISO, *_WRITTEN)  # ISO first: what counts where nothing is declared


def read_written(text: str, form: str) -> date | None:
    """The date that a file's text says in this form, a time of day after it left away; None where it is none.

    Days and months between points or strokes may have one digit.
    """
    if form == ISO:
        return read_date(text, with_time=True)
    found = _WRITTEN[form].fullmatch(text.strip()) if len(text) <= MAX_TEXT else None
    try:
        return date(int(found["year"]), int(found["month"]), int(found["day"])) if found else None
    except ValueError:  # the 31st of February
        return None


def forms_of(text: str) -> tuple[str, ...]:
    """All forms in which a text is a date: two for 03/04/2024."""
    return tuple(form for form in FORMS if read_written(text, form) is not None)
