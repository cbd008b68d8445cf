"""The rules an allocator is made of: which earlier releases count (credit) and what an analyst may still spend (ledger).

They are parameters, not subclasses: a rule that credits overlapping regions, or a limit per kind of person, is a new value here
and no change to any allocator. A charge carries a load (privacy) and a quota (the analyst's allotment); today they are equal.
"""

from collections.abc import Callable
from typing import Protocol

from curator.mechanism.comparators.events import AllotmentSet, Bin, Frame, Settings
from curator.mechanism.controller import Limit, available
from curator.mechanism.rho import Units


class Credit(Protocol):
    """What earlier answers are worth for a bin, in units of support."""

    def held(self, asked: Bin) -> Units:
        """What it is worth now."""
        ...

    def record(self, asked: Bin, amount: Units) -> None:
        """Take in that `amount` units were released for this bin."""
        ...


class SharedHistory:
    """Every release on a descriptor counts for everybody: support adds up (equation 4 of the paper)."""

    __slots__ = ("_support",)

    def __init__(self) -> None:
        self._support: dict[str, Units] = {}

    def held(self, asked: Bin) -> Units:
        """All that was released on the bin's descriptor."""
        return self._support.get(asked.key, 0)

    def record(self, asked: Bin, amount: Units) -> None:
        """Add to the support of the bin's descriptor."""
        if amount:
            self._support[asked.key] = self._support.get(asked.key, 0) + amount


class FromScratch:
    """Nothing released before counts: every question is priced as if it were the first (Definitions 2 to 4)."""

    __slots__ = ()

    def held(self, asked: Bin) -> Units:
        """Nothing, whatever was released."""
        return 0

    def record(self, asked: Bin, amount: Units) -> None:
        """Forget it."""


class Allotments:
    """Who has been allotted what: the latest event for each analyst, and the two figures that shares are computed from."""

    __slots__ = ("by_analyst", "frame", "numeric", "uncapped")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.by_analyst: dict[str, Units | None] = {}
        self.numeric: Units = 0  # sum of the allotments that are numbers
        self.uncapped = 0  # how many are explicitly none

    def set(self, event: AllotmentSet) -> None:
        """Replace the analyst's allotment. Raises ValueError in a stream whose frame says that it has no allotments."""
        if not self.frame.capped:
            raise ValueError("an allotment in a stream whose frame says that it has none")
        before = self.by_analyst.get(event.analyst, 0)
        self._count(before, -1)
        self._count(event.rho, +1)
        self.by_analyst[event.analyst] = event.rho

    def _count(self, rho: Units | None, sign: int) -> None:
        if rho is None:
            self.uncapped += sign
        else:
            self.numeric += sign * rho


Share = Callable[[Allotments, Settings, str], Units | None]


def caps(allotments: Allotments, settings: Settings, analyst: str) -> Units | None:
    """A shared pool under caps: the allotment itself; 0 for an analyst without one; None (no cap) in a stream without any."""
    return allotments.by_analyst.get(analyst, 0) if allotments.frame.capped else None


def partition(allotments: Allotments, settings: Settings, analyst: str) -> Units | None:
    """A budget of one's own (Definition 4), as of now: the allotment, scaled down where all together exceed the pool.

    An explicitly unlimited analyst gets an equal part of what the numbers leave. Without any allotment in the whole stream the
    pool is split equally among all who ask in it; raises ValueError for an analyst whom the frame does not name.
    """
    if not allotments.frame.capped:
        if analyst not in allotments.frame.analysts:
            raise ValueError("an analyst whom the frame does not name, in a stream without allotments")
        return settings.rho_ans // len(allotments.frame.analysts)
    own = allotments.by_analyst.get(analyst, 0)
    if own is None:
        return max(0, settings.rho_ans - allotments.numeric) // allotments.uncapped
    if allotments.numeric <= settings.rho_ans:
        return own
    return own * settings.rho_ans // allotments.numeric


class Ledger:
    """One pool, spent by all; `share` says what each analyst may take of it. A share never gives more than the pool has left."""

    __slots__ = ("_allotments", "_by_analyst", "_settings", "_share", "spent")

    def __init__(self, share: Share, frame: Frame) -> None:
        self._share = share
        self._allotments = Allotments(frame)
        self._settings: Settings | None = None
        self._by_analyst: dict[str, Units] = {}
        self.spent: Units = 0

    @property
    def settings(self) -> Settings:
        """The settings in force. Raises ValueError before the first `Settings` event."""
        if self._settings is None:
            raise ValueError("a stream starts with its settings")
        return self._settings

    def observe(self, event: Settings | AllotmentSet) -> None:
        """Take in what the contract or an analyst may spend from here on."""
        if isinstance(event, Settings):
            self._settings = event
        else:
            self._allotments.set(event)

    def available(self, analyst: str, bins: int) -> tuple[Limit, ...]:
        """What the analyst may spend now, per bin, in units, with the reason (section "support, residual, release")."""
        settings = self.settings
        return available(
            pool=settings.rho_ans - self.spent,
            allotment=self._share(self._allotments, settings, analyst),
            spent=self._by_analyst.get(analyst, 0),
            cap=settings.cap,
            bins=bins,
        )

    def charge(self, analyst: str, *, load: Units, quota: Units) -> None:
        """Enter a charge: `load` on the pool, `quota` on the analyst's own share."""
        self.spent += load
        self._by_analyst[analyst] = self._by_analyst.get(analyst, 0) + quota
