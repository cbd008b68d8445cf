"""Finite ordered domains: listed values, and grids of numbers or dates; each value has a code from 0 upwards.

A grid never lists its values: income from 0 to 200,000 is three numbers. Positions on it are exact fractions, so that a bound
between two grid points (`age < 29.5`) falls where arithmetic says and never where a float would put it.
"""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor

from curator.mechanism.dates import ISO, read_written
from curator.mechanism.errors import BadInput
from curator.mechanism.values import echo, read_any_number, read_date, read_number, whole_key

MAX_CODES = 2**31 - 4  # a code, with `other` and `missing` after the last value, fits 32 bits


@dataclass(frozen=True, slots=True)
class Listed:
    """Declared texts in their declared order, found by exact text, else as the same whole number (`1.0` for `1`).

    `spellings` are further texts by which a file may say a value (`f`, `female` for `F`); questions know the values alone.
    """

    values: tuple[str, ...]
    spellings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    _exact: dict[str, int] = field(init=False, repr=False, compare=False)
    _whole: dict[str, int] = field(init=False, repr=False, compare=False)
    _spelled: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        exact = {text: code for code, text in enumerate(self.values)}
        whole: dict[str, int] = {}
        for text, code in exact.items():
            key = whole_key(text)
            whole[key] = -1 if key in whole else code
        object.__setattr__(self, "_exact", exact)
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_spelled", self._spell())

    def _spell(self) -> dict[str, int]:
        spelled: dict[str, int] = {}
        for value, texts in self.spellings:
            if value not in self._exact:
                raise BadInput("bad_schema", f"{echo(value)} is spelled, but no declared value.", field="spellings")
            for text in texts:
                if whole_key(text) in spelled or self.find(text) is not None:
                    raise BadInput("bad_schema", f"{echo(text)} cannot mean two values.", field="spellings")
                spelled[whole_key(text)] = self._exact[value]
        return spelled

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def label(self, code: int) -> str:
        """The text of a code."""
        return self.values[code]

    def find(self, text: str) -> int | None:
        """The code of a text, or None; `1` and `1.0` both declared stay apart."""
        if (code := self._exact.get(text)) is not None:
            return code
        code = self._whole.get(whole_key(text))
        return code if code is not None and code >= 0 else None

    def find_spelled(self, text: str) -> int | None:
        """The code of a text of a file: of a value, or of another spelling of one."""
        code = self.find(text)
        return code if code is not None else self._spelled.get(whole_key(text))


@dataclass(frozen=True, slots=True)
class Grid:
    """low, low + step, …, `count` points: whole numbers, decimals with `places` digits, or days (then low is a day number).

    `written` is the form in which a file writes its days (`dates.FORMS`).
    """

    low: Fraction
    step: Fraction
    count: int
    places: int = 0
    dates: bool = False
    written: str = ISO

    def label(self, code: int) -> str:
        """The text of a code, with as many decimals as bounds and step have."""
        value = self.low + code * self.step
        if self.dates:
            return date.fromordinal(int(value)).isoformat()
        if self.places == 0:
            return str(int(value))
        units = int(value * 10**self.places)
        return f"{'-' if units < 0 else ''}{abs(units) // 10**self.places}.{abs(units) % 10**self.places:0{self.places}d}"

    def read(self, text: str, *, from_file: bool = False) -> Fraction | None:
        """Position of a written value in steps from `low` (any fraction, also outside the grid), or None if unreadable.

        A file may write dates in a form of its own, with a time, and numbers of any size; a question may not.
        """
        if self.dates:
            day = read_written(text, self.written) if from_file else read_date(text)
            return None if day is None else Fraction(day.toordinal()) - self.low
        number = read_any_number(text) if from_file else read_number(text)
        return None if number is None else (number - self.low) / self.step

    def inside(self, position: Fraction) -> bool:
        """Whether a position lies between the bounds, both included."""
        return 0 <= position <= self.count - 1

    def clamp(self, position: Fraction) -> int:
        """The code at or below a position, the nearest bound outside the grid."""
        return min(max(floor(position), 0), self.count - 1)


def number_grid(low: str, high: str, step: str) -> Grid:
    """A grid from its bounds as texts, both on it; refuses with the field that is wrong."""
    first, last, width = (_number(text, name) for text, name in ((low, "low"), (high, "high"), (step, "step")))
    if width <= 0:
        raise BadInput("bad_schema", f"The step must be more than 0, not {echo(step)}.", field="step")
    if last < first:
        raise BadInput("bad_schema", f"The highest value {echo(high)} lies below the lowest {echo(low)}.", field="high")
    steps = (last - first) / width
    if steps.denominator != 1:
        raise BadInput(
            "bad_schema", f"The highest value {echo(high)} is not a whole number of steps above the lowest.", field="high"
        )
    return Grid(first, width, _countable(int(steps) + 1), places=max(_places(low), _places(step)))


def date_grid(low: str, high: str, written: str = ISO) -> Grid:
    """One point a day between two ISO dates; `written`: the form in which files write them."""
    days = []
    for text, name in ((low, "low"), (high, "high")):
        day = read_date(text)
        if day is None:
            detail = f"Expected a date written YYYY-MM-DD, not {echo(text)}. Bounds are written so whatever the file does."
            raise BadInput("bad_schema", detail, field=name)
        days.append(day.toordinal())
    if days[1] < days[0]:
        raise BadInput("bad_schema", f"The last date {echo(high)} lies before the first {echo(low)}.", field="high")
    return Grid(Fraction(days[0]), Fraction(1), _countable(days[1] - days[0] + 1), dates=True, written=written)


def _number(text: str, name: str) -> Fraction:
    number = read_number(text)
    if number is None or 10**12 % number.denominator or abs(number) > 10**15:
        raise BadInput(
            "bad_schema", f"Expected a number within 10^15 and with at most 12 decimals, not {echo(text)}.", field=name
        )
    return number


def _places(text: str) -> int:
    exponent = Decimal(text).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _countable(count: int) -> int:
    if count > MAX_CODES:
        raise BadInput(
            "bad_schema", f"At most {MAX_CODES:,} values fit one column, not {count:,}: use a larger step.", field="step"
        )
    return count
