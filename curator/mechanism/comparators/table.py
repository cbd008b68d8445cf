"""The one table of allocators that are replayed event by event (`offline` has the optimum, which needs the whole stream).

| name | credits history | pool | weight in scarcity |
|---|---|---|---|
| residual (this system) | yes | shared, caps | QIF |
| reuse_only | yes | shared, caps | 1 |
| state_agnostic (Definition 2, threshold pricing) | no | shared, caps | 1 |
| accuracy_aware (Definition 3, after APEx) | no | shared, caps | QIF |
| budget_partition (Definition 4, after Pujol et al.) | no | one budget per analyst | QIF |
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from curator.mechanism.comparators.events import Frame
from curator.mechanism.comparators.protocol import Allocator, Ruled
from curator.mechanism.comparators.rules import FromScratch, Ledger, SharedHistory, caps, partition

RESIDUAL = "residual"
REUSE_ONLY = "reuse_only"
STATE_AGNOSTIC = "state_agnostic"
ACCURACY_AWARE = "accuracy_aware"
BUDGET_PARTITION = "budget_partition"
OFFLINE_OPTIMUM = "offline_optimum"

Factory = Callable[[Frame], Allocator]


def residual(frame: Frame) -> Allocator:
    """This system: history credited for everybody, one pool under caps, difficulty weights in scarcity."""
    return Ruled(RESIDUAL, credit=SharedHistory(), ledger=Ledger(caps, frame), weigh=True)


def reuse_only(frame: Frame) -> Allocator:
    """This system without difficulty weights: isolates what they change."""
    return Ruled(REUSE_ONLY, credit=SharedHistory(), ledger=Ledger(caps, frame), weigh=False)


def state_agnostic(frame: Frame) -> Allocator:
    """Prices from scratch and ignores both history and difficulty (Definition 2)."""
    return Ruled(STATE_AGNOSTIC, credit=FromScratch(), ledger=Ledger(caps, frame), weigh=False)


def accuracy_aware(frame: Frame) -> Allocator:
    """Prices from scratch against the accuracy asked, with the difficulty weight in scarcity (Definition 3)."""
    return Ruled(ACCURACY_AWARE, credit=FromScratch(), ledger=Ledger(caps, frame), weigh=True)


def budget_partition(frame: Frame) -> Allocator:
    """One budget per analyst, priced from scratch within it (Definition 4)."""
    return Ruled(BUDGET_PARTITION, credit=FromScratch(), ledger=Ledger(partition, frame), weigh=True)


ALLOCATORS: Mapping[str, Factory] = MappingProxyType(
    {
        RESIDUAL: residual,
        REUSE_ONLY: reuse_only,
        STATE_AGNOSTIC: state_agnostic,
        ACCURACY_AWARE: accuracy_aware,
        BUDGET_PARTITION: budget_partition,
    }
)
