"""What an analyst asks for ("within 25 people at 95 %") and the support rho that promises it.

Gaussian noise of variance 1/(2 rho) on a count of sensitivity 1 (Appendix A.1 of the paper). The answer shown is the fused value
rounded to the nearest whole number; with a whole E the promise then holds for the discrete law too. z comes from the exact
tail of the confidence as written; as a float it is a fixed number, which from there on is squared and divided exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from statistics import NormalDist

from curator.mechanism import rho
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import MAX_UNITS, UNITS_PER_RHO, Units

DEFAULT_CONFIDENCE = Decimal("0.95")
MAX_BOUND = 10**9
MAX_CONFIDENCE_DIGITS = 18
SMALLEST_ERROR, LARGEST_ERROR = Decimal("0.001"), Decimal(MAX_BOUND)
SMALLEST_SHARE, LARGEST_SHARE = Decimal("0.000001"), Decimal("0.999999")

_MEMBERS = {  # what may stand beside the member that names the target
    "within": {"confidence", "simultaneous"},
    "standard_error": set[str](),
    "rho": set[str](),
    "relative": {"confidence"},
}


@dataclass(frozen=True, slots=True)
class Within:
    """The shown answer is at most `bound` people off, with probability `confidence` (for all bins at once if `simultaneous`)."""

    bound: int
    confidence: Decimal
    simultaneous: bool = False


@dataclass(frozen=True, slots=True)
class StandardError:
    """The noise has standard deviation `value` people."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Exactly:
    """The support itself, for experts and replays."""

    rho: Units


@dataclass(frozen=True, slots=True)
class Relative:
    """At most a `share` of the true value off; answered only if a diagnostic shows that the count is large enough."""

    share: Decimal
    confidence: Decimal


Target = Within | StandardError | Exactly | Relative


@lru_cache(maxsize=1024)
def z_two_sided(confidence: Decimal, bins: int = 1) -> float:
    """z with P(|N(0, 1)| > z) = (1 - confidence) / bins: Bonferroni over `bins` (mechanism: -Phi^-1((1 - gamma) / (2 B)))."""
    tail = (1 - Fraction(confidence)) / (2 * bins)
    return -NormalDist().inv_cdf(float(tail))


def relative_z_lb(confidence: Decimal) -> float:
    """z of the lower bound m_LB behind a relative target: half of the permitted error, one-sided: Phi^-1((1 + gamma) / 2)."""
    return z_two_sided(confidence)


def _relative_z(confidence: Decimal) -> float:
    """z of the noise of a relative target, the other half of the permitted error, two-sided: Phi^-1((3 + gamma) / 4)."""
    return z_two_sided(confidence, bins=2)


def _z(target: Target, bins: int) -> float:
    if isinstance(target, Within):
        return z_two_sided(target.confidence, bins if target.simultaneous else 1)
    if isinstance(target, Relative):
        return _relative_z(target.confidence)
    return z_two_sided(DEFAULT_CONFIDENCE)


def _for_bound(z: float, bound: int) -> Units:
    return rho.charge_units(Fraction(z) ** 2 / (2 * bound**2))


def rho_min(target: Within | StandardError | Exactly, *, bins: int = 1) -> Units:
    """Support in units that each of `bins` bins of sensitivity 1 needs for `target`, rounded up (A.1: rho = 1 / (2 variance))."""
    match target:
        case Within():
            return _for_bound(_z(target, bins), target.bound)
        case StandardError():
            return rho.charge_units(1 / (2 * Fraction(target.value) ** 2))
        case Exactly():
            return target.rho


def relative_need(target: Relative, lower_bound: Fraction | float) -> tuple[int, Units] | None:
    """(E, rho_min) for a relative target, given m_LB at `relative_z_lb`; None while E = floor(share * m_LB) is below 1."""
    bound = floor(Fraction(target.share) * Fraction(lower_bound))
    if bound < 1:
        return None
    return bound, _for_bound(_relative_z(target.confidence), bound)


def confidence_of(target: Target) -> Decimal:
    """The confidence at which bounds are stated for `target`: the one asked for, else 0.95."""
    return target.confidence if isinstance(target, Within | Relative) else DEFAULT_CONFIDENCE


def bound_reached(rho_eff: Units, target: Target, bins: int = 1) -> int | None:
    """The accuracy that support `rho_eff` gives at the target's confidence, ceil(z / sqrt(2 rho_eff)) people; None if it is 0."""
    if rho_eff <= 0:
        return None
    square = Fraction(_z(target, bins)) ** 2 * UNITS_PER_RHO / (2 * rho_eff)
    root = isqrt(floor(square))
    return root if root**2 == square else root + 1


def parse_target(obj: Mapping[str, object]) -> Target:
    """The target that an accuracy object of the API asks for.

    Refused (BadInput) with the field: bad_number, bad_confidence, unknown_field, bad_bound (out of range, or "within" not whole).
    """
    kind = _kind(obj)
    if kind == "within":
        return Within(_bound(obj["within"]), _confidence(obj), _simultaneous(obj))
    if kind == "relative":
        return Relative(_between(obj["relative"], "accuracy.relative", SMALLEST_SHARE, LARGEST_SHARE), _confidence(obj))
    if kind == "standard_error":
        return StandardError(_between(obj["standard_error"], "accuracy.standard_error", SMALLEST_ERROR, LARGEST_ERROR))
    return Exactly(_support(obj["rho"]))


def _kind(obj: object) -> str:
    choices = ", ".join(_MEMBERS)
    if not isinstance(obj, Mapping):
        raise BadInput("bad_bound", f"accuracy: expected an object with one of {choices}", field="accuracy")
    kinds = [name for name in _MEMBERS if name in obj]
    if not kinds:
        raise BadInput("bad_bound", f"accuracy: expected one of {choices}", field="accuracy")
    allowed = _MEMBERS[kinds[0]] | {kinds[0]}
    for name in obj:
        if name not in allowed:
            detail = f"accuracy.{name}: with {kinds[0]}, expected only {', '.join(sorted(allowed))}"
            raise BadInput("unknown_field", detail, field=f"accuracy.{name}")
    return kinds[0]


def _bound(value: object) -> int:
    exact = rho.number(value, field="accuracy.within")
    if exact != exact.to_integral_value() or not 1 <= exact <= MAX_BOUND:
        detail = f"accuracy.within: expected a whole number of people from 1 to {MAX_BOUND}"
        raise BadInput("bad_bound", detail, field="accuracy.within", smallest=1, largest=MAX_BOUND)
    return int(exact)


def _confidence(obj: Mapping[str, object]) -> Decimal:
    exact = rho.number(obj.get("confidence", DEFAULT_CONFIDENCE), field="accuracy.confidence")
    digits = -int(exact.as_tuple().exponent)
    if not Decimal("0.5") < exact < 1 or digits > MAX_CONFIDENCE_DIGITS:
        detail = f"accuracy.confidence: expected a number between 0.5 and 1 with at most {MAX_CONFIDENCE_DIGITS} decimals"
        raise BadInput("bad_confidence", detail, field="accuracy.confidence")
    return exact


def _simultaneous(obj: Mapping[str, object]) -> bool:
    value = obj.get("simultaneous", False)
    if not isinstance(value, bool):
        detail = "accuracy.simultaneous: expected true (the bound holds for all bins at once) or false"
        raise BadInput("bad_bound", detail, field="accuracy.simultaneous")
    return value


def _between(value: object, field: str, low: Decimal, high: Decimal) -> Decimal:
    exact = rho.number(value, field=field)
    if not low <= exact <= high:
        raise BadInput("bad_bound", f"{field}: expected a number from {low} to {high}", field=field, smallest=low, largest=high)
    return exact


def _support(value: object) -> Units:
    exact = rho.number(value, field="accuracy.rho")
    if exact <= 0 or exact * UNITS_PER_RHO > MAX_UNITS:
        detail = f"accuracy.rho: expected an amount of rho above 0, at most {rho.short(MAX_UNITS)}"
        raise BadInput("bad_bound", detail, field="accuracy.rho")
    return rho.charge_units(Fraction(exact))


def target_json(target: Target) -> dict[str, object]:
    """The accuracy object that parses back to `target`; numbers other than "within" as text, exactly as asked."""
    match target:
        case Within():
            return {"within": target.bound, "confidence": str(target.confidence), "simultaneous": target.simultaneous}
        case StandardError():
            return {"standard_error": str(target.value)}
        case Exactly():
            return {"rho": rho.text(target.rho)}
        case Relative():
            return {"relative": str(target.share), "confidence": str(target.confidence)}
