"""The settings of an experiment as a row keeps them, and a live transcript under another alpha and beta.

A file's weights come with its lines, so beta, which enters a weight before it is made, changes only a contract's own transcript.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from curator.laboratory.scenario import Scenario, Split
from curator.mechanism import qif, rho
from curator.mechanism.comparators.events import Asked, Bin, Event
from curator.mechanism.rho import Units
from curator.models import Contract, Diagnostic
from curator.selectors.stream import head_seq, stream
from curator.services.versions import known


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the page asks for."""

    rho_total: Units
    xi: Decimal
    kappa: Decimal
    alpha: Decimal
    beta: Decimal
    k: int
    split: Split

    def to_json(self) -> dict[str, Any]:
        """Exact texts."""
        texts = {name: f"{getattr(self, name):f}" for name in ("xi", "kappa", "alpha", "beta")}
        return texts | {"rho_total": rho.text(self.rho_total), "k": self.k, "split": self.split.value}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Chosen":
        """The inverse."""
        exact = {name: Decimal(kept[name]) for name in ("xi", "kappa", "alpha", "beta")}
        return cls(rho_total=rho.parse(kept["rho_total"], field="rho_total"), k=kept["k"], split=Split(kept["split"]), **exact)

    @classmethod
    def of(cls, contract: Contract) -> "Chosen":
        """The contract as it is."""
        return cls(
            rho_total=contract.rho_total, xi=contract.xi, kappa=contract.kappa, alpha=contract.alpha, beta=contract.beta,
            k=contract.k, split=Split.AS_GIVEN,
        )  # fmt: skip

    def scenario(self, *, live: bool) -> Scenario:
        """For the laboratory: a live transcript's weights are made anew by `reweighed`, a file's are raised to alpha."""
        return Scenario(
            rho_total=self.rho_total, xi=self.xi, kappa=self.kappa, k=self.k, alpha=None if live else self.alpha, split=self.split
        )


def transcript(contract: Contract, chosen: Chosen) -> list[Event]:
    """The contract's public stream with each weight made anew from the diagnostic that gave it."""
    events = [placed.event for placed in stream(contract, upto=head_seq(contract))]
    return list(reweighed(events, _weights(contract, chosen)))


def reweighed(events: Iterable[Event], weights: Mapping[str, Decimal]) -> Iterable[Event]:
    """`events` with the weight of each bin that had one replaced; a bin decided without a diagnostic keeps 1."""
    for event in events:
        if not isinstance(event, Asked) or all(bin_.weight == qif.UNWEIGHED for bin_ in event.bins):
            yield event
            continue
        bins = (_reweighed(bin_, weights) for bin_ in event.bins)
        yield replace(event, bins=tuple(bins))


def _reweighed(bin_: Bin, weights: Mapping[str, Decimal]) -> Bin:
    return bin_ if bin_.weight == qif.UNWEIGHED else replace(bin_, weight=weights.get(bin_.key, bin_.weight))


def _weights(contract: Contract, chosen: Chosen) -> dict[str, Decimal]:
    """The weight of each descriptor with a diagnostic, under the chosen alpha and beta."""
    rows = Diagnostic.objects.filter(contract=contract).select_related("release__version")
    held = {row.descriptor_id: (qif.Diagnostic(row.release.value, row.release.rho), row.release.version) for row in rows}
    weights = {}
    for digest, (diagnostic, version) in held.items():
        everybody = held.get(known(version).everybody_digest)
        if everybody is not None:
            weights[digest] = qif.weight_of(diagnostic, everybody[0], alpha=chosen.alpha, beta=chosen.beta)
    return weights
