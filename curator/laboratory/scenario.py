"""The same stream under other settings: totals, shares, scarcity price, difficulty exponent, and how the pool is split.

A scenario replaces the settings of a stream by one that holds throughout: the raises of a live transcript are folded into it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from curator.mechanism import accounting, qif
from curator.mechanism.comparators.events import AllotmentSet, Asked, Event, Settings
from curator.mechanism.rho import Units


class Split(StrEnum):
    """As given: the stream's own allotments. Equal: one equal allotment for everybody who asks. None: no caps at all."""

    AS_GIVEN = "as_given"
    EQUAL = "equal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Settings to replay under. `alpha` raises each weight to that power (None leaves them); `k` and `cap` as in `Settings`."""

    rho_total: Units
    xi: Decimal = Decimal("0.05")
    kappa: Decimal = Decimal("0.02")
    k: int = 1
    cap: Units | None = None
    alpha: Decimal | None = None
    split: Split = Split.AS_GIVEN

    def settings(self) -> Settings:
        """The one `Settings` event of the scenario."""
        rho_est, rho_ans = accounting.split(self.rho_total, self.xi)
        return Settings(rho_total=self.rho_total, rho_est=rho_est, rho_ans=rho_ans, kappa=self.kappa, k=self.k, cap=self.cap)

    def apply(self, events: Iterable[Event]) -> list[Event]:
        """The stream under this scenario: its settings, its allotments, then the questions in their order."""
        kept = [event for event in events if not isinstance(event, Settings)]
        settings = self.settings()
        if self.split is not Split.AS_GIVEN:
            kept = [event for event in kept if not isinstance(event, AllotmentSet)]
        opening = _equal(kept, settings.rho_ans) if self.split is Split.EQUAL else []
        return [settings, *opening, *(self._weighed(event) for event in kept)]

    def _weighed(self, event: Event) -> Event:
        if self.alpha is None or not isinstance(event, Asked):
            return event
        alpha = self.alpha
        return replace(event, bins=tuple(replace(b, weight=qif.weight(float(b.weight), alpha)) for b in event.bins))


def _equal(events: Iterable[Event], rho_ans: Units) -> list[Event]:
    """One equal allotment for each analyst who asks, in the order of their first question."""
    analysts = list(dict.fromkeys(event.analyst for event in events if isinstance(event, Asked)))
    return [AllotmentSet(analyst=analyst, rho=rho_ans // len(analysts)) for analyst in analysts]
