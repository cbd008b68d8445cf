"""What the settings of diagnostics and scarcity mean, in words with their figures: for whoever chooses them."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor

from curator.mechanism import qif
from curator.mechanism.accuracy import Within, bound_reached
from curator.mechanism.controller import price_of_scarcity
from curator.mechanism.rho import Units
from curator.selectors.formatting import amount, count

USUAL = Decimal("0.95")


@dataclass(frozen=True, slots=True)
class Weighing:
    """The settings that decide about difficulty and scarcity."""

    rho_ans: Units
    rho_est: Units
    rho_d: Units
    kappa: Decimal
    alpha: Decimal
    beta: Decimal


def meaning(chosen: Weighing) -> tuple[str, ...]:
    """One sentence each for diagnostics, the price of scarcity and the weights; a warning where the weights would mislead."""
    return (_diagnostics(chosen), _price(chosen), *_weights(chosen))


def _diagnostics(chosen: Weighing) -> str:
    if not chosen.rho_est:
        return "Nothing is kept for diagnostics: in scarcity all questions weigh the same, and relative targets are refused."
    number = chosen.rho_est // chosen.rho_d
    sees = bound_reached(chosen.rho_d, Within(1, USUAL)) or 0
    return f"{count(number)} diagnostics can be paid for; each sees the size of a group to within ±{count(sees)} people (95 %)."


def _price(chosen: Weighing) -> str:
    left = floor(price_of_scarcity(chosen.kappa, chosen.rho_ans) / 2)
    if not left:
        return "Scarcity has no price: whoever comes first may take all that is left."
    return (
        f"Where the budget cannot meet a question of weight 1, it leaves {amount(left)} ρ of what it still needs to others; "
        "one of weight 10 leaves a tenth of that."
    )


def _weights(chosen: Weighing) -> tuple[str, ...]:
    if not chosen.alpha:
        return ("All questions weigh the same; no diagnostic is taken for weights.",)
    times = ceil(10 ** float(chosen.alpha)) if chosen.alpha <= 3 else 1000
    words = f"A question ten times as difficult weighs {count(times)} times as much, within 0.001 and 1,000."
    if chosen.rho_est and not qif.falls_with_size(rho_d=chosen.rho_d, beta=chosen.beta):
        return words, "Careful: with so dear a diagnostic, or so small a β, a larger group may weigh more than a smaller one."
    return (words,)
