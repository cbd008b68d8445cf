"""A domain suggested from the records of one column, for its curator's eyes; only where they acknowledged what that means.

A suggestion is a function of private values. It goes into a file beside the upload, fills a form, and is nothing until the
curator has looked at it and declared it. The shape of the cells decides the kind; words for nothing do not count as cells.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from math import ceil, floor

import pyarrow as pa

from curator.engine.shapes import plain_number, shape
from curator.mechanism.columns import FALSE_TEXTS, TRUE_TEXTS
from curator.mechanism.dates import FORMS, ISO, read_written
from curator.mechanism.values import MAX_TEXT, has_control, normalise, read_any_number

MOST_VALUES = 500  # different texts that are still suggested as categories
NOTHING = frozenset(("na", "n/a", "#n/a", "nan", "none", "null", "-", ".", "?", "missing", "unknown"))
_TRUE, _FALSE = frozenset(TRUE_TEXTS), frozenset(FALSE_TEXTS)
MOST_PLACES = 6
LARGEST = 10**12  # beyond it numbers are identifiers
MOST = Fraction(4, 5)  # of the different texts must look alike for a kind with an order; the others follow the column's rule


class Suggester:
    """Looks at one column, batch after batch; holds at most MOST_VALUES texts."""

    def __init__(self, name: str, *, decimal_comma: bool) -> None:
        self._name = name
        self._comma = decimal_comma
        self._texts: set[str] = set()
        self._too_many = False
        self._nothing: set[str] = set()
        self._blank = False
        self._shapes: Counter[str] = Counter()
        self._numbers: list[Fraction] = []  # lowest and highest
        self._days: dict[str, list[date]] = {}  # by form: lowest and highest
        self._dated: Counter[str] = Counter()
        self._places = 0

    def take(self, texts: pa.DictionaryArray) -> None:
        """Look at one batch: each distinct text once."""
        self._blank |= texts.indices.null_count > 0
        for text in texts.dictionary.to_pylist():
            self._look(normalise(text or ""))

    def _look(self, text: str) -> None:
        if not text:
            self._blank = True
        elif text.casefold() in NOTHING:
            self._nothing.add(text)
        else:
            found = shape(text, decimal_comma=self._comma)
            self._shapes[found] += 1
            self._keep(text)
            if found in ("whole", "decimal"):
                self._number(text)
            elif found in ("date", "dated"):
                self._date(text)

    def _keep(self, text: str) -> None:
        if len(text) > MAX_TEXT or has_control(text) or (len(self._texts) >= MOST_VALUES and text not in self._texts):
            self._too_many = True
        else:
            self._texts.add(text)

    def _date(self, text: str) -> None:
        for form in FORMS:
            if (day := read_written(text, form)) is not None:
                days = [*self._days.get(form, ()), day]
                self._days[form] = [min(days), max(days)]
                self._dated[form] += 1

    def _number(self, text: str) -> None:
        plain = plain_number(text, decimal_comma=self._comma) or ""
        number = read_any_number(plain)
        if number is None:
            return
        self._numbers = [min([*self._numbers, number]), max([*self._numbers, number])]
        self._places = max(self._places, _places(plain))

    def suggestion(self) -> Mapping[str, object] | None:
        """A column as a schema's JSON has it; None where the cells suggest nothing."""
        domain = self._truth() or self._dates() or self._grid() or (None if self._mostly("dated") else self._categories())
        if domain is None:
            return None
        nothing = sorted(self._nothing)
        more: dict[str, object] = {"missing": self._blank or bool(nothing)}
        if nothing:
            more["missing_texts"] = ["", *nothing]
        return {"name": self._name, **domain, **more}

    def _truth(self) -> dict[str, object] | None:
        folded = {text.casefold() for text in self._texts}
        if self._too_many or not folded or not folded <= _TRUE | _FALSE or (len(folded) > 1 and folded.isdisjoint(_FALSE)):
            return None
        return {"kind": "boolean", "out_of_domain": "other"} if folded != {"1"} and folded != {"0"} else None

    def _dates(self) -> dict[str, object] | None:
        """Only where one form alone reads most texts best: whether 03/04 is in March or April is not for us to say."""
        (form, most), *others = [*self._dated.most_common(2), ("", 0)]
        if most < MOST * self._shapes.total() or not most or others[0][1] == most:
            return None
        first, last = self._days[form]
        written = {} if form == ISO else {"date_format": form}
        return {"kind": "date", "low": first.isoformat(), "high": last.isoformat(), **written, "out_of_domain": "other"}

    def _grid(self) -> dict[str, object] | None:
        if not self._mostly("whole", "decimal") or max(map(abs, self._numbers)) > LARGEST:
            return None
        low, high = self._numbers
        if not self._shapes["decimal"]:
            return {"kind": "integer", "low": str(int(low)), "high": str(int(high)), "out_of_domain": "other"}
        places = min(self._places, MOST_PLACES)
        bounds = _decimal(floor(low * 10**places), places), _decimal(ceil(high * 10**places), places)
        step = _decimal(1, places)
        return {"kind": "decimal", "low": bounds[0], "high": bounds[1], "step": step, "out_of_domain": "other"}

    def _mostly(self, *shapes: str) -> bool:
        alike = sum(self._shapes[shape] for shape in shapes)
        return alike > 0 and alike >= MOST * self._shapes.total()

    def _categories(self) -> dict[str, object] | None:
        if self._too_many or not self._texts:
            return None
        return {
            "kind": "category",
            "values": sorted(self._texts, key=lambda text: (text.casefold(), text)),
            "out_of_domain": "other",
        }


def _places(text: str) -> int:
    return len(text.partition(".")[2].rstrip("0")) if "e" not in text.casefold() else MOST_PLACES


def _decimal(units: int, places: int) -> str:
    sign, digits = ("-" if units < 0 else ""), str(abs(units)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
