"""The public event stream that allocators are replayed on: settings, allotments, questions.

A stream starts with `Settings` and has another at each raise. An event holds nothing that an analyst may not see: descriptors
stand for regions, weights for the diagnostics held at that moment (1 where there was none). Regions and the schema travel along
where the stream comes from a contract, so that a rule which credits from *other* regions can be added without a new event.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from curator.mechanism.controller import UnderScarcity
from curator.mechanism.rho import Units

if TYPE_CHECKING:
    from curator.mechanism.region import Region
    from curator.mechanism.schema import Schema

ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the contract allows from here on. All amounts in units; `k` = most records one person may have; `cap` = per question.

    Raises ValueError where the two accounts do not add up to the total.
    """

    rho_total: Units
    rho_est: Units
    rho_ans: Units
    kappa: Decimal
    k: int = 1
    cap: Units | None = None
    schema: "Schema | None" = None

    def __post_init__(self) -> None:
        if min(self.rho_est, self.rho_ans) < 0 or self.rho_est + self.rho_ans != self.rho_total:
            raise ValueError("rho_est and rho_ans must be at least 0 and add up to rho_total")
        if self.k < 1 or not self.kappa >= 0:
            raise ValueError("k must be at least 1 and kappa at least 0")


@dataclass(frozen=True, slots=True)
class AllotmentSet:
    """From here on this analyst's total is `rho` (0 included), or explicitly without a limit of its own (None)."""

    analyst: str
    rho: Units | None


@dataclass(frozen=True, slots=True)
class Bin:
    """One count of a question: its descriptor, the support it needs from scratch (0 for an empty region), its weight."""

    key: str
    rho_min: Units
    weight: Decimal = ONE
    region: "Region | None" = None

    def __post_init__(self) -> None:
        if self.rho_min < 0 or not self.weight > 0:
            raise ValueError("rho_min must be at least 0 and a weight above 0")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it arrived: a count is a histogram of one bin. `k` is the version's, else the settings' one holds."""

    analyst: str
    query: str
    bins: tuple[Bin, ...]
    under_scarcity: UnderScarcity = UnderScarcity.PARTIAL
    k: int | None = None

    def __post_init__(self) -> None:
        if not self.bins:
            raise ValueError("a question has at least one bin")
        if len(self.bins) > 1 and len({b.key for b in self.bins}) < len(self.bins):
            raise ValueError("a question names a descriptor twice")


Event = Settings | AllotmentSet | Asked


@dataclass(frozen=True, slots=True)
class Frame:
    """What must be known of a whole stream before its first event is replayed.

    `capped`: it contains allotment events, so an analyst without one has 0; otherwise nobody has a cap and a partition splits
    the pool equally among `analysts`, the ones who ask anywhere in the stream. A live contract always carries allotments: its
    frame is `Frame(capped=True)`, and its replay can go on event by event for ever.
    """

    capped: bool
    analysts: frozenset[str] = frozenset()


def frame_of(events: Iterable[Event]) -> Frame:
    """The frame of a finished stream."""
    capped, analysts = False, set()
    for event in events:
        if isinstance(event, Asked):
            analysts.add(event.analyst)
        elif isinstance(event, AllotmentSet):
            capped = True
    return Frame(capped=capped, analysts=frozenset(analysts))
