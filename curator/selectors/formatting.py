"""How figures look: amounts to three significant digits with the whole value beside, epsilon next to rho, counts, shares, times.

Prices are rounded up, allowances and what was spent down: nothing shown exceeds what can be spent, and no charge its price.
"""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from curator.mechanism import accounting, rho
from curator.mechanism.errors import BadInput

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\N{MINUS SIGN}"
#: Which space stands before ρ in a sentence of ours says how the figure may be rounded: that of a price is the narrow one.
PRICE, OTHER = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"
SPOKEN = re.compile(f"(?<![\\w.,])([0-9]{{1,7}}(?:[.][0-9]{{1,12}})?)([{PRICE}{OTHER}])ρ")


def amount(units: int, *, price: bool = False) -> str:
    """Three significant digits of rho: rounded up for a price, down for an allowance."""
    return rho.short_up(units) if price else rho.short(units)


def whole(units: int) -> str:
    """Every digit of an amount, as it is kept."""
    return rho.text(units)


def spoken(units: int, *, price: bool = False) -> str:
    """An amount within a sentence: every digit, as files and programs want it. Pages shorten it (`figures.amounts`)."""
    return f"{whole(units)}{PRICE if price else OTHER}ρ"


def shortened(text: str, lay_out: Callable[[int, bool], str]) -> str:
    """A sentence of ours with each amount in it, as `spoken` writes them, laid out anew; told which of them are prices.

    For sentences of ours only. What looks like an amount and cannot be one stays as it is: nothing here may fail on a text.
    """
    return SPOKEN.sub(lambda found: _laid_out(found, lay_out), text)


def _laid_out(found: re.Match[str], lay_out: Callable[[int, bool], str]) -> str:
    try:
        return lay_out(rho.parse(found[1], field="rho"), found[2] == PRICE)
    except BadInput:
        return found[0]


def epsilon(units: int, delta: Decimal) -> str:
    """Tight epsilon at `delta` of a zCDP amount, three significant digits, rounded up."""
    return accounting.short(accounting.epsilon(max(0, units), delta))


def whole_epsilon(units: int, delta: Decimal) -> str:
    """The same with all the digits that the conversion gives."""
    return f"{accounting.epsilon(max(0, units), delta):f}"


def small(delta: Decimal) -> str:
    """A probability such as 0.000001 as 10⁻⁶, others as they are."""
    value = Decimal(delta).normalize()
    if value.as_tuple().digits == (1,) and value.adjusted() < -2:
        return "10" + str(value.adjusted()).translate(SUPERSCRIPT)
    return f"{value:f}"


def number(value: Decimal | str) -> str:
    """A setting or weight as people type it: 0.05, 10, never 1E+1."""
    return f"{Decimal(value).normalize():f}"


def count(value: int) -> str:
    """A whole number with thousands apart and a true minus sign."""
    return f"{value:,}".replace("-", MINUS)


def signed(value: int) -> str:
    """A difference with its sign: +7, −3, 0."""
    return f"{value:+,}".replace("-", MINUS) if value else "0"


def percent(share: Decimal | str) -> str:
    """A share as it was written, in percent: 0.95 is 95 %."""
    value = (Decimal(share) * 100).normalize()
    return f"{value:f}\N{NO-BREAK SPACE}%"


def moment(at: datetime) -> str:
    """A time of the record, to the minute, in UTC."""
    return f"{at:%-d %b %Y, %H:%M}"


def seconds(length: int) -> str:
    """A length of time in its largest whole unit: 59 s, 3 min, 2 h, 5 d."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if length >= size:
            return f"{length // size}\N{NO-BREAK SPACE}{unit}"
    return f"{length}\N{NO-BREAK SPACE}s"
