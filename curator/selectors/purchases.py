"""What an amount of rho buys, in words: how many counts from scratch at accuracies that people know."""

from decimal import Decimal

from curator.mechanism.accuracy import Within, rho_min
from curator.mechanism.rho import Units

USUAL = Decimal("0.95")
BOUNDS = (5, 10, 25, 50, 100, 250)
TOLD = (10, 25, 100)  # at which a preview says what a total buys
ENOUGH = 10  # counts: fewer are given as they are, more are rounded down to two digits


def counts(amount: Units, bound: int) -> int:
    """How many different counts at ±`bound`, 95 %, the amount pays for from scratch; rounded down to two digits."""
    exact = amount // rho_min(Within(bound, USUAL))
    return exact if exact < ENOUGH else _two_digits(exact)


def _two_digits(exact: int) -> int:
    step = 10 ** max(0, len(str(exact)) - 2)
    return int(exact // step * step)


def price(number: int, *, bound: int) -> Units:
    """What so many different counts at ±`bound`, 95 %, cost from scratch."""
    return number * rho_min(Within(bound, USUAL))


def telling_bound(amount: Units) -> int:
    """The tightest usual bound at which the amount still buys a handful."""
    return next((bound for bound in BOUNDS if counts(amount, bound) >= ENOUGH), BOUNDS[-1])


def buys(amount: Units, *, bound: int | None = None) -> str:
    """`about 260 counts at ±25, 95 %`."""
    at = bound or telling_bound(amount)
    number = counts(amount, at)
    if number == 0:
        return f"less than one count at ±{at}, 95 %"
    return f"about {number:,} count{'s' if number > 1 else ''} at ±{at}, 95 %"
