"""What a question needs and what is already held, per bin, from public rows alone.

A quote and the API look through this; the controller decides on the same figures again under the contract's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from curator.language import Ask, Bin
from curator.mechanism import accuracy, qif
from curator.mechanism.controller import Need
from curator.mechanism.region import Region, descriptor_digest
from curator.mechanism.rho import Units
from curator.mechanism.support import Held
from curator.models import Contract, Diagnostic, Support
from curator.selectors.workspace import schema_of

COUNT = "count"


@dataclass(frozen=True, slots=True)
class BinNeed:
    """One bin of a question: its descriptor ("" for an empty region), what is held of it, what it needs (None: not known yet)."""

    label: tuple[str, ...]
    digest: str
    held: Held
    releases: int
    rho_min: Units | None
    bound: int | None
    diagnostic: qif.Diagnostic | None

    @property
    def empty(self) -> bool:
        """Known from the schema alone to count nobody."""
        return not self.digest

    def need(self, weight: Decimal) -> Need:
        """This bin as the controller takes it."""
        return Need(self.digest, self.rho_min or 0, self.held.rho_hist, weight)


def bin_needs(contract: Contract, bins: Sequence[Bin], ask: Ask) -> list[BinNeed]:
    """Needs of all bins, in two queries whatever their number."""
    digests = [_digest(contract, bin_.region) for bin_ in bins]
    wanted = [digest for digest in digests if digest]
    supports = {row.descriptor_id: row for row in Support.objects.filter(contract=contract, descriptor_id__in=wanted)}
    diagnostics = held_diagnostics(contract, wanted)
    return [
        _bin_need(bin_, digest, supports.get(digest), diagnostics.get(digest), ask, len(bins))
        for bin_, digest in zip(bins, digests, strict=True)
    ]


def _digest(contract: Contract, region: Region) -> str:
    return "" if region.is_empty else descriptor_digest(str(contract.version.uid), COUNT, region)


def _bin_need(bin_: Bin, digest: str, support: Support | None, diagnostic: qif.Diagnostic | None, ask: Ask, bins: int) -> BinNeed:
    held = Held(support.rho_hist, int(support.weighted_sum)) if support else Held()
    bound, rho_min = _price(ask.target, diagnostic, bins)
    return BinNeed(bin_.label, digest, held, support.releases if support else 0, rho_min, bound, diagnostic)


def _price(target: accuracy.Target, diagnostic: qif.Diagnostic | None, bins: int) -> tuple[int | None, Units | None]:
    """The bound in people and the support that a bin needs; (None, None) while a relative target has no diagnostic to go by."""
    if not isinstance(target, accuracy.Relative):
        rho_min = accuracy.rho_min(target, bins=bins)
        return accuracy.bound_reached(rho_min, target, bins), rho_min
    if diagnostic is None:
        return None, None
    lower = diagnostic.lower_bound(accuracy.relative_z_lb(target.confidence))
    return accuracy.relative_need(target, lower) or (None, None)


def held_diagnostics(contract: Contract, digests: Sequence[str]) -> dict[str, qif.Diagnostic]:
    """The diagnostics that a contract already holds of these descriptors."""
    rows = Diagnostic.objects.filter(contract=contract, descriptor_id__in=digests)
    found = rows.values_list("descriptor_id", "release__value", "release__rho")
    return {digest: qif.Diagnostic(value, rho) for digest, value, rho in found}


def population(contract: Contract) -> qif.Diagnostic | None:
    """The diagnostic of everybody in the present version, if one was taken."""
    everybody = _digest(contract, Region.full(schema_of(contract)))
    return held_diagnostics(contract, [everybody]).get(everybody)
