"""Amounts of zCDP as whole units of 1e-12 rho, the only form in which a ledger ever holds them.

Charges round up and cost at least one unit, allowances round down, so rounding can only ever favour privacy. No float enters:
a JSON number must arrive as int or Decimal (`parse_float=Decimal`), a number in a form as text.
"""

import re
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from curator.mechanism.errors import BadInput

Units = int

UNITS_PER_RHO = 10**12
MAX_UNITS = 2**63 - 1  # what a database column of 64 bits holds: 9.2 million rho

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_LONGEST = 60  # characters of a number: far past any need, far below any cost
_FARTHEST = 40  # powers of ten either way: keeps 1e-4000 from becoming a Fraction of 4,000 digits


def charge_units(amount: Fraction) -> Units:
    """Units to charge for `amount` of rho: rounded up, at least one, so that nothing is free by being small."""
    return max(1, ceil(amount * UNITS_PER_RHO))


def allowance_units(amount: Fraction) -> Units:
    """Units that an allowance of `amount` rho grants: rounded down, never negative."""
    return max(0, floor(amount * UNITS_PER_RHO))


def number(value: object, *, field: str) -> Decimal:
    """The exact finite decimal that `value` (int, Decimal, or text such as "0.25" or "1e-3") writes.

    Refused with bad_number: booleans, NaN, infinities, other text, absurdly long or far ones. A float stands for the shortest
    decimal that reads back as that float, which is what its writer typed.
    """
    written = _written(value)
    if written is None or len(written) > _LONGEST or not _NUMBER.fullmatch(written):
        raise _bad_number(field)
    exact = Decimal(written)
    if exact and not -_FARTHEST <= exact.adjusted() <= _FARTHEST:
        raise _bad_number(field)
    return exact


def _written(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, int) and value.bit_length() > 200:
        return None  # str() of a huge int is slow, and refused past 4,300 digits
    return repr(value) if isinstance(value, float) else str(value)


def _bad_number(field: str) -> BadInput:
    return BadInput("bad_number", f"{field}: expected a decimal number such as 0.25", field=field)


def parse(text: str | int | Decimal, *, field: str) -> Units:
    """An allowance of rho as a person or a program wrote it, in units; digits past the 12th decimal are dropped.

    Refused with bad_number: what is no finite decimal, below 0 (-0 included) or above MAX_UNITS.
    """
    exact = number(text, field=field)
    if exact.is_signed() or exact * UNITS_PER_RHO > MAX_UNITS:
        raise BadInput("bad_number", f"{field}: expected an amount of rho from 0 to {short(MAX_UNITS)}", field=field)
    return allowance_units(Fraction(exact))


def text(units: Units) -> str:
    """Exact decimal of rho, without trailing zeros or exponent: 300_000_000_000 -> "0.3"."""
    whole, part = divmod(abs(units), UNITS_PER_RHO)
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}.{part:012d}".rstrip("0").rstrip(".")


def short(units: Units) -> str:
    """`units` in 3 significant digits of rho, rounded down: nothing shown exceeds what can be spent."""
    step = _third_digit(units)
    return _three_digits(units // step * step, step)


def short_up(units: Units) -> str:
    """`units` in 3 significant digits of rho, rounded up: no price turns out higher than shown."""
    step = _third_digit(units)
    rounded = -(-units // step) * step
    return _three_digits(rounded, _third_digit(rounded))


def _third_digit(units: Units) -> Units:
    """The unit value of the third significant digit, at least 1."""
    return int(10 ** max(0, len(str(units)) - 3))


def _three_digits(units: Units, step: Units) -> str:
    if units == 0:
        return "0"
    places = max(0, 12 - (len(str(step)) - 1))
    return f"{Decimal(units) / UNITS_PER_RHO:.{places}f}"
