"""Streams to replay: short ways to write them by hand, and Hypothesis strategies for any of them."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from hypothesis import strategies as st

from curator.mechanism.comparators.events import AllotmentSet, Asked, Bin, Event, Settings, frame_of
from curator.mechanism.comparators.protocol import Kind, Outcome, Ruled
from curator.mechanism.comparators.rules import Credit, FromScratch, Ledger, Share, SharedHistory, caps, partition
from curator.mechanism.comparators.table import ALLOCATORS
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.rho import Units

CAST = ("alice", "bob", "chi")
KEYS = ("children", "adults", "eligible", "women", "rich")
ALL_OR_NOTHING = UnderScarcity.ALL_OR_NOTHING
PARTIAL = UnderScarcity.PARTIAL


def settings(rho_ans: Units, *, rho_est: Units = 0, kappa: str = "0.02", k: int = 1, cap: Units | None = None) -> Settings:
    return Settings(rho_total=rho_est + rho_ans, rho_est=rho_est, rho_ans=rho_ans, kappa=Decimal(kappa), k=k, cap=cap)


def asks(analyst: str, needs: dict[str, Units], under_scarcity: UnderScarcity = PARTIAL, *, k: int | None = None) -> Asked:
    """A question for these descriptors; one of them is a count, more are a histogram."""
    bins = tuple(Bin(key, need) for key, need in needs.items())
    return Asked(analyst=analyst, query="+".join(needs), bins=bins, under_scarcity=under_scarcity, k=k)


def outcomes(name: str, events: Sequence[Event]) -> list[Outcome]:
    """What the allocator of this name does with each question of the stream."""
    allocator = ALLOCATORS[name](frame_of(events))
    return [outcome for event in events if (outcome := allocator.observe(event)) is not None]


def spent(found: Sequence[Outcome]) -> Units:
    return sum(outcome.charge for outcome in found)


def met(found: Sequence[Outcome]) -> int:
    return sum(outcome.kind is Kind.MET for outcome in found)


RULES: dict[str, tuple[Callable[[], Credit], Share, bool]] = {
    "residual": (SharedHistory, caps, True),
    "reuse_only": (SharedHistory, caps, False),
    "state_agnostic": (FromScratch, caps, False),
    "accuracy_aware": (FromScratch, caps, True),
    "budget_partition": (FromScratch, partition, True),
}


def without_shortcut(name: str, events: Sequence[Event]) -> Ruled:
    """The same allocator, every question of which goes through the controller's `decide`."""
    credit, share, weigh = RULES[name]
    return Ruled(name, credit=credit(), ledger=Ledger(share, frame_of(events)), weigh=weigh, shortcut=False)


needs = st.one_of(st.integers(0, 30), st.integers(1, 10**13))
weights = st.decimals("0.001", "1000", places=6)
choices = st.sampled_from(UnderScarcity)


@st.composite
def questions(draw: st.DrawFn, *, bins: int = 1, least: Units = 0) -> Asked:
    """A question of up to `bins` distinct descriptors, each needing at least `least` units."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=bins, unique=True))
    need = needs.map(lambda units: max(least, units))
    return Asked(
        analyst=draw(st.sampled_from(CAST)),
        query="+".join(keys),
        bins=tuple(Bin(key, draw(need), draw(weights)) for key in keys),
        under_scarcity=draw(choices),
        k=draw(st.sampled_from((None, None, 1, 2, 3))),
    )


@st.composite
def openings(draw: st.DrawFn) -> Settings:
    pool = draw(needs)
    return Settings(
        rho_total=pool + (est := draw(st.integers(0, 100))),
        rho_est=est,
        rho_ans=pool,
        kappa=draw(st.sampled_from([Decimal(0), Decimal("0.02"), Decimal("0.5"), Decimal(3)])),
        k=draw(st.integers(1, 3)),
        cap=draw(st.one_of(st.none(), needs)),
    )


allotments = st.builds(AllotmentSet, analyst=st.sampled_from(CAST), rho=st.one_of(st.none(), needs))


@st.composite
def streams(draw: st.DrawFn, *, bins: int = 3, capped: bool | None = None) -> list[Event]:
    """Any stream: settings, questions, raises, and allotments if `capped` (None: either)."""
    opening = draw(openings())
    has_allotments = draw(st.booleans()) if capped is None else capped
    raises = st.integers(1, 10**12).map(lambda more: ("raise", more))
    kinds = [questions(bins=bins), questions(bins=bins), questions(bins=bins), raises, *([allotments] if has_allotments else [])]
    stream: list[Event] = [opening]
    latest = opening
    for event in draw(st.lists(st.one_of(*kinds), max_size=12)):
        if isinstance(event, tuple):
            event = latest = _raised(latest, event[1])
        stream.append(event)
    return stream


def _raised(before: Settings, more: Units) -> Settings:
    return Settings(
        rho_total=before.rho_total + more,
        rho_est=before.rho_est,
        rho_ans=before.rho_ans + more,
        kappa=before.kappa,
        k=before.k,
        cap=before.cap,
    )


def scalar_questions(*, least: Units = 0) -> st.SearchStrategy[list[Asked]]:
    """Counts only: random descriptors (so random repeats), random analysts, random order."""
    return st.lists(questions(least=least), min_size=1, max_size=12)
