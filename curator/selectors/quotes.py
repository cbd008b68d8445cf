"""The price of a question before it is asked: a pure read of public rows that spends, draws and writes nothing.

A quote decides as the controller would now. Where that would hang on a diagnostic which nobody has taken yet it gives the range
between the lightest and the heaviest weight, never a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from accounts.models import User
from curator.language import Ask, bins_of
from curator.mechanism import accuracy, controller, qif
from curator.mechanism.comparators import events
from curator.mechanism.controller import Decision, Decline, Limit, Need, Terms
from curator.mechanism.rho import Units
from curator.models import AnalystBudget, Contract
from curator.selectors import quote_words
from curator.selectors.comparison import partition_price
from curator.selectors.needs import BinNeed, bin_needs, population
from curator.selectors.openness import is_open
from curator.selectors.stream import bin_event
from curator.selectors.workspace import schema_of

SHOWN_PARTS, SHOWN_BINS = 60, 4
CONTRACT_NOT_OPEN = "contract_not_open"


@dataclass(frozen=True, slots=True)
class Part:
    """One bin of a quote; `rho_min` and `residual` None while a relative target has no diagnostic to go by."""

    label: tuple[str, ...]
    empty: bool
    rho_min: Units | None
    rho_hist: Units
    residual: Units | None
    releases: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What a question would cost now. Costs are of the whole question (of its dearest bins), in units.

    `rho_min`: from scratch; `credited`: what history takes off it; `rho_new`: left to pay to reach the target (None: not known);
    `charge`: what the controller would charge now, between the two ends of `charge_range` where that hangs on a diagnostic.
    `regime`: "known" (from the schema alone), "history", "feasible", "scarce" or "unknown" (a relative target, no diagnostic).
    `reached`, `reachable`, `free_within`: bounds in people at the confidence asked, after this decision, if all that is available
    were spent, and by history alone; None where nothing can be said.
    """

    bins: int
    available: Units
    limit: str
    my_left: Units
    contract_left: Units
    rho_hist: Units
    releases: int
    free_within: int | None
    reachable: int | None
    parts: tuple[Part, ...]
    regime: str = "known"
    kind: str = "reuse"
    reason: str = ""
    rho_min: Units | None = 0
    credited: Units = 0
    rho_new: Units | None = 0
    charge: Units = 0
    charge_range: tuple[Units, Units] = (0, 0)
    baseline: Units | None = 0
    baseline_kind: str = "met"
    reached: int | None = None
    best: int | None = None  # the same if the diagnostic were the most favourable
    bound: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def remaining_after(self) -> Units:
        """What this analyst could still spend after the charge."""
        return max(0, self.my_left - self.charge)

    @property
    def contract_after(self) -> Units:
        """What the contract would have left after the charge."""
        return max(0, self.contract_left - self.charge)

    @property
    def lacking(self) -> Units:
        """How much more would have to be available for the target to be met."""
        return max(0, (self.rho_new or 0) - self.available)

    @property
    def rounds_up(self) -> bool:
        """Whether the most that it may charge is shown rounded up, as prices are: not where that is all there is."""
        return self.charge_range[1] < self.available

    @property
    def bins_words(self) -> str:
        """The first bins and the last one of a histogram that is asked whole, so that nobody pays for others than meant."""
        if not self.parts:
            return ""
        labels = [" · ".join(part.label) for part in self.parts]
        if len(labels) <= SHOWN_BINS or self.bins > len(labels):
            return "; ".join(labels[:SHOWN_BINS]) + ("; …" if self.bins > len(labels) else "")
        return "; ".join([*labels[: SHOWN_BINS - 1], "…", labels[-1]])

    @property
    def ranges(self) -> bool:
        """Whether the charge hangs on a diagnostic that nobody has taken yet."""
        return self.charge_range[0] != self.charge_range[1]


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a quote is made from."""

    contract: Contract
    analyst: User
    ask: Ask
    bins: tuple[BinNeed, ...]
    limit: Limit
    my_spent: Units
    allotment: Units | None
    open_now: bool

    @property
    def live(self) -> tuple[BinNeed, ...]:
        """Bins that records can be in."""
        return tuple(bin_ for bin_ in self.bins if not bin_.empty)

    @property
    def priced(self) -> bool:
        """Whether every bin's need is known."""
        return all(bin_.rho_min is not None for bin_ in self.live)

    @property
    def terms(self) -> Terms:
        contract = self.contract
        mu = controller.price_of_scarcity(contract.kappa, contract.rho_ans)
        return Terms(k=contract.k, mu=mu, under_scarcity=self.ask.under_scarcity)

    def needs(self, weights: Sequence[Decimal]) -> list[Need]:
        return [bin_.need(weight) for bin_, weight in zip(self.live, weights, strict=True)]

    def decide(self, weights: Sequence[Decimal]) -> Decision:
        return controller.decide(self.needs(weights), [self.limit] * len(self.live), self.terms)

    def bound(self, support: Units) -> int | None:
        return accuracy.bound_reached(support, self.ask.target, len(self.bins))


def quote(*, contract: Contract, analyst: User, ask: Ask) -> Quote:
    """Price a question as of now. Refused as asking would be: bad bins, a region too large."""
    scene = _scene(contract, analyst, ask)
    if not scene.live:
        return _known(scene)
    if not scene.priced:
        return _unknown(scene)
    return _decided(scene)


def _scene(contract: Contract, analyst: User, ask: Ask) -> _Scene:
    bins = bins_of(ask.question, schema_of(contract))
    budget = AnalystBudget.objects.filter(contract=contract, analyst=analyst).first()
    allotment, spent = (budget.allotment, budget.spent) if budget else (0, 0)
    pool = contract.rho_ans - contract.spent_bound
    limit = controller.available(pool=pool, allotment=allotment, spent=spent, cap=contract.query_cap, bins=1)[0]
    open_now = is_open(contract, datetime.now(UTC))
    limit = limit if open_now else Limit(0, "contract")
    return _Scene(contract, analyst, ask, tuple(bin_needs(contract, bins, ask)), limit, spent, allotment, open_now)


def _known(scene: _Scene) -> Quote:
    """No record can match: the answer is 0 by the schema, free, and no data are touched."""
    return replace(_base(scene), bound=quote_words.KNOWN)


def _unknown(scene: _Scene) -> Quote:
    """A relative target whose size nobody has measured: between nothing and the price of being within one person."""
    small = any(bin_.diagnostic is not None and bin_.rho_min is None for bin_ in scene.live)
    dearest = accuracy.rho_min(accuracy.Within(1, (1 + accuracy.confidence_of(scene.ask.target)) / 2))
    return replace(
        _base(scene),
        regime="unknown",
        rho_min=None,
        rho_new=None,
        baseline=None,
        charge_range=(0, 0 if small else min(dearest, scene.limit.units)),
        bound=quote_words.TOO_SMALL if small else quote_words.unknown(scene.contract.rho_d),
    )


def _decided(scene: _Scene) -> Quote:
    weights, open_ends = _weights(scene)
    decision = scene.decide(weights)
    ends = [scene.decide(_with(weights, open_ends, end)) for end in (qif.LIGHTEST, qif.HEAVIEST)] if open_ends else []
    charges = [each.charge for each in (decision, *ends)]
    bounds = [bound for each in (decision, *ends) if (bound := _reached(scene, each)) is not None]
    new = controller.cost([need.residual for need in scene.needs(weights)], scene.contract.k)
    full = controller.cost([bin_.rho_min or 0 for bin_ in scene.live], scene.contract.k)
    baseline = partition_price(scene.contract, _asked(scene, weights))
    return replace(
        _base(scene),
        regime=decision.regime,
        kind=decision.kind,
        reason=decision.reason if scene.open_now or not decision.reason else CONTRACT_NOT_OPEN,
        rho_min=full,
        credited=full - new,
        rho_new=new,
        charge=decision.charge,
        charge_range=(min(charges), max(charges)),
        baseline=baseline[1] if baseline else None,
        baseline_kind=baseline[0] if baseline else "",
        reached=_reached(scene, decision),
        best=min(bounds, default=None),
        bound=quote_words.bound(scene.ask.target, len(scene.bins)),
        warnings=quote_words.warnings(scene.ask.target, scene.live, decision, scene.limit.units),
    )


def _weights(scene: _Scene) -> tuple[list[Decimal], tuple[int, ...]]:
    """The weight of each bin from diagnostics already held, and the bins whose weight would matter and is not known."""
    everybody = population(scene.contract)
    weights = [_weight(scene.contract, bin_.diagnostic, everybody) for bin_ in scene.live]
    limits = [scene.limit] * len(scene.live)
    hanging = controller.unweighed(scene.needs(weights), limits, scene.terms, alpha=scene.contract.alpha)
    return weights, tuple(at for at in hanging if everybody is None or scene.live[at].diagnostic is None)


def _weight(contract: Contract, diagnostic: qif.Diagnostic | None, everybody: qif.Diagnostic | None) -> Decimal:
    return qif.weight_of(diagnostic, everybody, alpha=contract.alpha, beta=contract.beta)


def _with(weights: Sequence[Decimal], positions: Sequence[int], weight: Decimal) -> list[Decimal]:
    return [weight if position in positions else own for position, own in enumerate(weights)]


def _asked(scene: _Scene, weights: Sequence[Decimal]) -> events.Asked:
    pairs = zip(scene.live, weights, strict=True)
    bins = tuple(bin_event(bin_.digest, position, bin_.rho_min or 0, weight) for position, (bin_, weight) in enumerate(pairs))
    return events.Asked(scene.analyst.get_username(), "", bins, scene.ask.under_scarcity, scene.contract.k)


def _reached(scene: _Scene, decision: Decision) -> int | None:
    """The accuracy of the least accurate bin after this decision."""
    support = [bin_.held.rho_hist + amount for bin_, amount in zip(scene.live, decision.amounts, strict=True)]
    return scene.bound(min(support)) if not isinstance(decision, Decline) or min(support) else None


def _reachable(scene: _Scene) -> int | None:
    """The smallest bound that the whole limit could pay for now, in every bin."""
    share = scene.limit.units // min(scene.contract.k, max(1, len(scene.live)))
    return scene.bound(min((bin_.held.rho_hist + share for bin_ in scene.live), default=0))


def _base(scene: _Scene) -> Quote:
    """What holds of a question whatever is decided."""
    left = max(0, scene.contract.rho_ans - scene.contract.spent_bound)
    support = [bin_.held.rho_hist for bin_ in scene.live]
    return Quote(
        bins=len(scene.bins),
        available=scene.limit.units,
        limit=scene.limit.reason,
        my_left=left if scene.allotment is None else min(left, max(0, scene.allotment - scene.my_spent)),
        contract_left=left,
        rho_hist=support[0] if len(support) == 1 else 0,
        releases=sum(bin_.releases for bin_ in scene.live),
        free_within=scene.bound(min(support, default=0)),
        reachable=_reachable(scene),
        parts=tuple(_part(bin_) for bin_ in scene.bins[:SHOWN_PARTS]) if len(scene.bins) > 1 else (),
    )


def _part(bin_: BinNeed) -> Part:
    residual = None if bin_.rho_min is None else max(0, bin_.rho_min - bin_.held.rho_hist)
    return Part(bin_.label, bin_.empty, bin_.rho_min, bin_.held.rho_hist, residual, bin_.releases)
