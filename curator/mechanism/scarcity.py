"""How a limited allowance is shared among bins when not every target can be met (section 4 of the paper).

Per bin the closed form minimises w (a - x)^2 + mu x on [0, its share]. A heavier weight keeps the shortfall smaller; mu is the
price of scarcity, which keeps something for whoever asks next. All in whole units and exact fractions.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from curator.mechanism.rho import Units


def shares(limits: Sequence[Units], residuals: Sequence[Units], *, k: int) -> tuple[Units, ...]:
    """avail' per bin: its limit divided by the number of bins that count towards the charge, rounded down.

    Only the min(k, bins that miss something) dearest bins are charged, so amounts up to this share keep within the limit.
    """
    charged = max(1, min(k, sum(residual > 0 for residual in residuals)))
    return tuple(limit // charged for limit in limits)


def optimum(residual: Units, share: Units, *, weight: Decimal, mu: Fraction) -> Units:
    """rho* = clip(a - mu / (2 w), 0, share), rounded down (section 4, closed form); in whole numbers, as replays ask it often."""
    numerator, denominator = weight.as_integer_ratio()
    forgone = -(-mu.numerator * denominator // (2 * mu.denominator * numerator))  # mu / (2 w), rounded up
    return max(0, min(share, residual - forgone))


def allocate(
    residuals: Sequence[Units], limits: Sequence[Units], *, weights: Sequence[Decimal], k: int, mu: Fraction
) -> tuple[Units, ...]:
    """New support per bin under scarcity. A bin whose residual fits its share gets all of it, whatever the price.

    With k = 1 only the dearest bin is charged, so every other bin is lifted to the same amount for nothing.
    """
    amounts = tuple(
        residual if residual <= share else optimum(residual, share, weight=weight, mu=mu)
        for residual, share, weight in zip(residuals, shares(limits, residuals, k=k), weights, strict=True)
    )
    if k > 1:
        return amounts
    charge = max(amounts)
    return tuple(min(residual, charge, limit) for residual, limit in zip(residuals, limits, strict=True))
