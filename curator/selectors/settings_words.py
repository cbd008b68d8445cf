"""What the settings of diagnostics and scarcity mean, in words with their figures: for whoever chooses them."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor

from curator.mechanism import qif
from curator.mechanism.accuracy import Within, bound_reached, rho_min
from curator.mechanism.controller import price_of_scarcity
from curator.mechanism.rho import Units
from curator.selectors.formatting import count, spoken

USUAL = Decimal("0.95")
WIDE = 100  # people: a count or a diagnostic that is off by more says little of most groups
STRICT, LOOSE = 1, 10  # epsilon


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


def warnings(*, rho_ans: Units, rho_est: Units, rho_d: Units) -> tuple[str, ...]:
    """What somebody should hear before a contract opens with so little; from its settings alone, never from records."""
    told = []
    if 2 * rho_min(Within(WIDE, USUAL)) > rho_ans:
        told.append(f"One count at ±{WIDE}, 95 %, uses more than half of what answers may spend: hardly anything can be asked.")
    sees = bound_reached(rho_d, Within(1, USUAL)) or 0
    if rho_est and sees > WIDE:
        told.append(
            f"Diagnostics see the size of a group only to within ±{count(sees)}: smaller groups look alike to them, so weights "
            "and relative targets say little. A larger share for diagnostics, or a dearer diagnostic, sees more."
        )
    return tuple(told)


def strictness(epsilon: Decimal) -> str:
    """How people commonly speak of such an epsilon; no law says so."""
    if epsilon <= STRICT:
        word = "about 1 or less is commonly called strict, and this is"
    elif epsilon <= LOOSE:
        word = "this is neither strict (about 1 or less) nor loose (above 10)"
    else:
        word = "above 10 the promise says little about one person"
    return f"A rule of thumb, no law: {word}. What is right for these people, the number alone does not tell."


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
        f"Where the budget cannot meet a question of weight 1, it leaves {spoken(left)} of what it still needs to others; "
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
