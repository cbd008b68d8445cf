"""What a quote says in words: what the bound means, and warnings that inform and never block."""

from collections.abc import Sequence
from decimal import Decimal

from curator.mechanism.accuracy import Exactly, Relative, StandardError, Target, Within, bound_reached
from curator.mechanism.controller import Decision
from curator.mechanism.rho import Units
from curator.selectors.formatting import spoken
from curator.selectors.needs import BinNeed
from curator.selectors.wording import share

KNOWN = "By the public schema nobody can match this. The answer is 0; it is free, and no record is looked at."
TOO_SMALL = (
    "This group is too small for a share of its size to be promised: the share of its lower bound is less than one person. "
    "Ask for ± people instead."
)
COSTLY = Decimal("0.25")  # of what is available: a question that takes more says so


def unknown(rho_d: Units) -> str:
    """Why a relative target has no price yet."""
    return (
        "The price depends on the size of the group. Asking takes one diagnostic count first "
        f"({spoken(rho_d, price=True)}, from the account for diagnostics, not from your allotment); a quote never takes one."
    )


def bound(target: Target, bins: int) -> str:
    """What the accuracy asked for promises, for somebody who has never heard of a confidence interval."""
    match target:
        case Within() if bins > 1 and target.simultaneous:
            return f"In {odds(target.confidence)} all {bins:,} bins are within {people(target.bound)} of the true counts at once."
        case Within():
            each = "each bin" if bins > 1 else "the answer"
            return f"In {odds(target.confidence)} {each} is within {people(target.bound)} of the true count."
        case StandardError():
            return f"The noise has a standard deviation of {target.value} people."
        case Relative():
            return f"At most {odds(1 - target.confidence)} end with an answer more than {share(target.share)} off the true count."
        case Exactly():
            reached = bound_reached(target.rho, target)
            return f"This much support puts the answer within {people(reached or 0)} of the true count in 95 of 100 cases."


def people(count: int) -> str:
    """`1 person`, `25 people`."""
    return "1 person" if count == 1 else f"{count:,} people"


def odds(confidence: Decimal) -> str:
    """0.95 as `95 of 100 cases`, 0.999 as `999 of 1,000 cases`."""
    digits = max(2, -int(confidence.normalize().as_tuple().exponent))
    return f"{int(confidence * 10**digits):,} of {10**digits:,} cases"


def warnings(target: Target, bins: Sequence[BinNeed], decision: Decision, available: Units) -> tuple[str, ...]:
    """What somebody would want to know before asking: a bound that says little, a price that takes much."""
    found = []
    if isinstance(target, Within) and (small := _says_little(target, bins)):
        found.append(small)
    if decision.charge and decision.charge > COSTLY * available:
        percent = min(100, 100 * decision.charge // max(1, available))
        found.append(f"This takes {percent} % of what is available to you now.")
    return tuple(found)


def _says_little(target: Within, bins: Sequence[BinNeed]) -> str:
    """Earlier releases put the count below the bound: then zero would be as good an answer."""
    shown = [value for bin_ in bins if (value := bin_.held.shown) is not None]
    if len(bins) == 1 and shown and abs(shown[0]) <= target.bound:
        return f"Earlier releases put this count near {shown[0]:,}: ±{target.bound:,} would say little about it."
    return ""
