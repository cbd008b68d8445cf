"""The settings of a contract and their limits, checked before a row is written; they freeze when the contract opens.

Limits are public choices of ours, stated in every refusal: the mechanism would take more, a person hardly means it.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import NotRequired, TypedDict

from django.utils import timezone

from curator.mechanism import rho
from curator.mechanism.accounting import split
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import UNITS_PER_RHO, Units

MAX_RHO_TOTAL = 1_000_000 * UNITS_PER_RHO
MAX_KAPPA, MAX_ALPHA, MAX_BETA = Decimal(100), Decimal(10), Decimal(1000)
MIN_DELTA, MAX_DELTA = Decimal("1e-18"), Decimal("0.1")
DIAGNOSTIC_SHARE = 100  # rho_d is rho_est / 100 unless the curator says otherwise

XI, KAPPA, ALPHA, BETA, DELTA = Decimal("0.05"), Decimal("0.02"), Decimal(1), Decimal(1), Decimal("0.000001")


class Chosen(TypedDict):
    """What a curator chooses, as keywords; what is left out has the defaults of `Settings`."""

    rho_total: Units
    xi: NotRequired[Decimal]
    kappa: NotRequired[Decimal]
    alpha: NotRequired[Decimal]
    beta: NotRequired[Decimal]
    rho_d: NotRequired[Units | None]
    query_cap: NotRequired[Units | None]
    delta: NotRequired[Decimal]
    ends_on: NotRequired[datetime.date | None]


class Columns(TypedDict):
    """The settings as columns of a contract."""

    rho_total: Units
    rho_est: Units
    rho_ans: Units
    xi: Decimal
    kappa: Decimal
    alpha: Decimal
    beta: Decimal
    rho_d: Units
    query_cap: Units | None
    delta: Decimal
    ends_on: datetime.date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a curator chooses.

    `rho_d` None: a hundredth of rho_est, at least one unit; `query_cap` None: no cap on one question; `ends_on` None: no end.
    """

    rho_total: Units
    xi: Decimal = XI
    kappa: Decimal = KAPPA
    alpha: Decimal = ALPHA
    beta: Decimal = BETA
    rho_d: Units | None = None
    query_cap: Units | None = None
    delta: Decimal = DELTA
    ends_on: datetime.date | None = None

    def columns(self) -> Columns:
        """The settings checked and completed, or BadInput with the field and what was expected."""
        check_total(self.rho_total)
        _between(self.xi, "xi", low=Decimal(0), high=Decimal("0.999999"), places=6)
        _between(self.kappa, "kappa", low=Decimal(0), high=MAX_KAPPA, places=6)
        _between(self.alpha, "alpha", low=Decimal(0), high=MAX_ALPHA, places=4)
        _between(self.beta, "beta", low=Decimal(0), high=MAX_BETA, places=4)
        _between(self.delta, "delta", low=MIN_DELTA, high=MAX_DELTA, places=19)
        if self.query_cap is not None:
            check_amount(self.query_cap, field="query_cap")
        check_end(self.ends_on)
        rho_est, rho_ans = split(self.rho_total, self.xi)
        return Columns(
            rho_total=self.rho_total, rho_est=rho_est, rho_ans=rho_ans, xi=self.xi, kappa=self.kappa, alpha=self.alpha,
            beta=self.beta, rho_d=_diagnostic(self.rho_d, rho_est), query_cap=self.query_cap, delta=self.delta,
            ends_on=self.ends_on,
        )  # fmt: skip


def check_total(rho_total: Units) -> None:
    """BadInput unless a contract may have this total: from one unit to the stated maximum."""
    if not 1 <= rho_total <= MAX_RHO_TOTAL:
        largest = rho.text(MAX_RHO_TOTAL)
        raise BadInput("bad_number", f"rho_total: expected an amount of rho above 0, at most {largest}", field="rho_total")


def check_amount(amount: Units, *, field: str, smallest: Units = 0) -> None:
    """BadInput unless `amount` is from `smallest` to the largest amount there is."""
    if not smallest <= amount <= MAX_RHO_TOTAL:
        least = "0 or more" if smallest == 0 else "above 0"
        raise BadInput(
            "bad_number", f"{field}: expected an amount of rho of {least}, at most {rho.text(MAX_RHO_TOTAL)}", field=field
        )


def check_end(ends_on: datetime.date | None) -> None:
    """BadInput for an end that has passed; today is fine, a contract lasts through the end of that day (UTC)."""
    if ends_on is not None and ends_on < timezone.now().date():
        raise BadInput("already_past", "ends_on: expected today or a later day, or nothing for no end", field="ends_on")


def _between(value: Decimal, field: str, *, low: Decimal, high: Decimal, places: int) -> None:
    if not value.is_finite() or not low <= value <= high:
        raise BadInput(
            "out_of_range", f"{field}: expected a number from {low:f} to {high:f}", field=field, smallest=low, largest=high
        )
    if value != value.quantize(Decimal(1).scaleb(-places)):
        raise BadInput("too_fine", f"{field}: expected at most {places} decimals", field=field, places=places)


def _diagnostic(rho_d: Units | None, rho_est: Units) -> Units:
    if rho_d is None:
        return max(1, rho_est // DIAGNOSTIC_SHARE)
    # Without an est account no diagnostic is ever taken, so that the price of one does not matter.
    largest = rho_est or MAX_RHO_TOTAL
    if not 1 <= rho_d <= largest:
        raise BadInput(
            "bad_number", f"rho_d: expected an amount of rho above 0, at most rho_est = {rho.text(largest)}", field="rho_d"
        )
    return rho_d
