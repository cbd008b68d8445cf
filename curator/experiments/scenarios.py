"""The settings of an experiment as a row keeps them, and a live transcript under another alpha and beta.

A file's weights come with its lines, so beta, which enters a weight before it is made, changes only a contract's own transcript.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from curator.laboratory.scenario import Scenario, Split
from curator.mechanism import qif, rho
from curator.mechanism.comparators.events import Asked, Bin, Event
from curator.mechanism.errors import BadInput
from curator.mechanism.rho import UNITS_PER_RHO, Units
from curator.models import Contract, Diagnostic
from curator.selectors.stream import head_seq, stream
from curator.services.contract_settings import MAX_ALPHA, MAX_BETA, MAX_KAPPA, MAX_RHO_TOTAL
from curator.services.versions import known

#: What a setting may be at most; the least is 0.
MOST = {"xi": Decimal("0.999999"), "kappa": MAX_KAPPA, "alpha": MAX_ALPHA, "beta": MAX_BETA}
MOST_K = 1_000


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

    def but(self, given: Mapping[str, Any]) -> "Chosen":
        """These settings with those that a program gives in their place; BadInput with its field for one that is none."""
        found: dict[str, Any] = {name: read(name, given[name]) for name, read in _READ.items() if name in given}
        return replace(self, **found)

    def scenario(self, *, live: bool) -> Scenario:
        """For the laboratory: a live transcript's weights are made anew by `reweighed`, a file's are raised to alpha."""
        return Scenario(
            rho_total=self.rho_total, xi=self.xi, kappa=self.kappa, k=self.k, alpha=None if live else self.alpha, split=self.split
        )


def _total(name: str, value: Any) -> Units:
    total = rho.parse(value, field=name)
    if not 1 <= total <= MAX_RHO_TOTAL:
        most = MAX_RHO_TOTAL // UNITS_PER_RHO
        raise BadInput("bad_number", f"{name}: expected an amount of rho above 0, at most {most:,}", field=name)
    return total


def _exact(name: str, value: Any) -> Decimal:
    exact = rho.number(value, field=name)
    if exact.is_signed() or exact > MOST[name]:
        raise BadInput("bad_number", f"{name}: expected a number from 0 to {MOST[name].normalize():f}", field=name)
    return exact


def _records(name: str, value: Any) -> int:
    exact = rho.number(value, field=name)
    if exact != exact.to_integral_value() or not 1 <= exact <= MOST_K:
        raise BadInput("bad_number", f"{name}: expected a whole number from 1 to {MOST_K:,}", field=name)
    return int(exact)


def _split(name: str, value: Any) -> Split:
    if not isinstance(value, str) or value not in list(Split):
        raise BadInput("bad_split", f"{name}: expected one of {', '.join(Split)}", field=name)
    return Split(value)


_READ: dict[str, Callable[[str, Any], object]] = {"rho_total": _total, "k": _records, "split": _split}
_READ |= dict.fromkeys(MOST, _exact)


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
