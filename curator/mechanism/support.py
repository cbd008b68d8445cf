"""What released history already gives: fusion of releases, support, and the residual that is still missing.

Equal descriptors only. Inverse-variance fusion of Gaussian releases makes support additive: sum(rho_j y_j) / sum(rho_j) has
variance 1 / (2 sum rho_j) (Appendix A.1). `Held` keeps the two sums, so it never grows with history; a `Certificate` names the
releases behind it, so that a checker can recompute it from the record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from curator.mechanism.rho import Units


@dataclass(frozen=True, slots=True)
class Held:
    """Fusion state of one descriptor: `rho_hist` = sum rho_j, `weighted_sum` = sum rho_j * y_j, both whole numbers."""

    rho_hist: Units = 0
    weighted_sum: int = 0

    def add(self, *, rho: Units, value: int) -> "Held":
        """This state with one more release of `value` at `rho` units. ValueError if it cost nothing."""
        if rho < 1:
            raise ValueError("a release costs at least one unit")
        return Held(self.rho_hist + rho, self.weighted_sum + rho * value)

    @property
    def estimate(self) -> Fraction | None:
        """The fused value, exact and unrounded, never clipped; None where nothing was released."""
        return Fraction(self.weighted_sum, self.rho_hist) if self.rho_hist else None

    @property
    def shown(self) -> int | None:
        """The fused value as an analyst sees it: the nearest whole number, halves away from zero (2.5 -> 3, -2.5 -> -3)."""
        estimate = self.estimate
        if estimate is None:
            return None
        size = floor(abs(estimate) + Fraction(1, 2))
        return -size if estimate < 0 else size


@dataclass(frozen=True, slots=True)
class Certificate:
    """The releases that an answer stands on, as (uid, rho units); the weight of each is its share of their sum."""

    parts: tuple[tuple[str, Units], ...]


def check(certificate: Certificate, values: Mapping[str, int], held: Held) -> bool:
    """Whether fusing the named releases, whose released values are `values`, gives exactly `held`."""
    uids = [uid for uid, _ in certificate.parts]
    if len(set(uids)) != len(uids) or any(uid not in values or rho < 1 for uid, rho in certificate.parts):
        return False
    fused = Held()
    for uid, rho in certificate.parts:
        fused = fused.add(rho=rho, value=values[uid])
    return fused == held


def residual(rho_min: Units, rho_hist: Units) -> Units:
    """a = max(0, rho_min - rho_hist): what is still missing, the least new support that meets the target."""
    return max(0, rho_min - rho_hist)
