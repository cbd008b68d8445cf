"""Diagnostics: noisy sizes of regions, charged to the `est` account, taken only where a decision hangs on them.

Each is charged, drawn and stored in a transaction of its own that commits before the decision that uses it, whatever that then
decides. One per descriptor and contract, kept and reused: never drawn again, never fused into an answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from django.db import transaction
from django.db.models import F

from accounts.models import Membership, Role
from curator.mechanism import controller, qif
from curator.mechanism.rho import Units
from curator.models import AnalystBudget, AuditEvent, Contract, Descriptor, Diagnostic, LedgerEntry, Query, Release
from curator.services import audit, drawing, failpoints, reading, receipts, standing
from curator.services.deciding import Wanted
from curator.services.discretion import discreet
from curator.services.drawing import Counts, Fresh
from curator.services.pending import Batch
from curator.services.recording import exactly_one
from curator.services.settling import locked_contract
from curator.services.standing import Standing
from curator.services.versions import AGGREGATE, Version


@dataclass(frozen=True, slots=True)
class Bill:
    """Which diagnostics are still to be taken, and what they cost: C of the disjoint bins, and the population on top of it."""

    bins: tuple[str, ...]
    population: str | None
    charge: Units


@discreet
def take(contract_id: int, batch: Batch, wanted: Wanted, counts: Counts) -> bool:
    """Take the diagnostics that a question waits for; False if they may not be paid for, EngineFailed if not counted."""
    version = batch.versions[wanted.pending.version_id]
    digests = {*wanted.digests, *([version.everybody_digest] if wanted.population else [])}
    if wanted.population:
        _know_everybody(version, wanted)
    unread = {(wanted.pending.version_id, digest) for digest in digests if digest not in counts}
    exact = {**counts, **reading.read(batch, unread)}
    with transaction.atomic():
        contract = locked_contract(contract_id)
        if not _still_waits(wanted):
            return True  # taken back meanwhile: nothing is charged for it, and settling passes it over
        now = standing.read(contract, analysts=[wanted.pending.analyst_id], digests=digests, now=datetime.now(UTC))
        bill = _bill(wanted, version, now)
        if not _affordable(bill, wanted, now):
            return False
        if bill.charge:
            _pay(bill, wanted, now, {**batch.regions, version.everybody_digest: version.everybody.to_bytes()}, exact)
    failpoints.reach("diagnostic_committed")
    receipts.note(contract_id)
    return True


def _still_waits(wanted: Wanted) -> bool:
    """Whether the question still waits, its row locked so that it cannot be taken back before this is committed."""
    rows = Query.objects.filter(id=wanted.pending.id, state=Query.State.WAITING)
    return rows.select_for_update(no_key=True).exists()


def _know_everybody(version: Version, wanted: Wanted) -> None:
    """Make the row of the region of all records, committed at once: nobody waits for it under the contract's lock."""
    row = Descriptor(
        digest=version.everybody_digest, version_id=wanted.pending.version_id, aggregate=AGGREGATE,
        region=version.everybody.to_bytes(), text=version.everybody.text(),
    )  # fmt: skip
    Descriptor.objects.bulk_create([row], ignore_conflicts=True)


def _bill(wanted: Wanted, version: Version, now: Standing) -> Bill:
    rho_d = now.contract.rho_d
    bins = tuple(digest for digest in wanted.digests if digest not in now.diagnostics)
    everybody = version.everybody_digest
    population = everybody if wanted.population and everybody not in {*now.diagnostics, *bins} else None
    charge = controller.cost([rho_d] * len(bins), now.contract.k) + (rho_d if population else 0)
    return Bill(bins, population, charge)


def _affordable(bill: Bill, wanted: Wanted, now: Standing) -> bool:
    """Whether the account and this analyst's share of it cover the bill, in a contract that is open."""
    contract, purse = now.contract, now.purse(wanted.pending.analyst_id)
    if not now.is_open or contract.est_spent + bill.charge > contract.rho_est:
        return False
    share = qif.est_share(contract.rho_est, _allotments(contract), wanted.pending.analyst)
    return purse.est_spent + bill.charge <= share


def _allotments(contract: Contract) -> dict[str, Units | None]:
    """The allotments of the analysts who have a place in the contract now."""
    places = Membership.objects.filter(contract=contract, role=Role.ANALYST, active=True)
    rows = AnalystBudget.objects.filter(contract=contract, analyst_id__in=places.values("user_id"))
    return dict(rows.values_list("analyst__username", "allotment"))


def _pay(bill: Bill, wanted: Wanted, now: Standing, regions: dict[str, bytes], exact: Counts) -> None:
    rho_d = now.contract.rho_d
    bins = drawing.draw(exact, dict.fromkeys(bill.bins, rho_d))
    people = drawing.draw(exact, {bill.population: rho_d} if bill.population else {})
    failpoints.reach("diagnostic_drawn")
    releases = [*_releases(bins, wanted, now, regions), *_releases(people, wanted, now, regions)]
    Release.objects.bulk_create(releases)
    Diagnostic.objects.bulk_create(
        Diagnostic(contract=now.contract, descriptor_id=row.descriptor_id, release=row) for row in releases
    )
    _charge(bill.charge, wanted, now)
    told = _event(bill, wanted, now, bins, people)
    _enter(bill.charge, wanted, now, audit.append(audit.chain_of(now.contract), [told])[0])


def _releases(fresh: dict[str | None, Fresh], wanted: Wanted, now: Standing, regions: dict[str, bytes]) -> Iterable[Release]:
    group = uuid4()
    for digest, each in fresh.items():
        assert digest is not None
        yield Release(
            uid=each.uid, contract=now.contract, version_id=wanted.pending.version_id, descriptor_id=digest,
            region=regions[digest], value=each.draw.value, rho=each.rho, scale=each.draw.scale,
            account=Release.Account.EST, group=group, query_id=wanted.pending.id,
        )  # fmt: skip


def _charge(charge: Units, wanted: Wanted, now: Standing) -> None:
    contract, purse = now.contract, now.purse(wanted.pending.analyst_id)
    open_row = Contract.objects.filter(id=contract.id, state=Contract.State.OPEN, est_spent=contract.est_spent)
    exactly_one(open_row.update(est_spent=F("est_spent") + charge))
    own_row = AnalystBudget.objects.filter(contract=contract, analyst_id=wanted.pending.analyst_id, est_spent=purse.est_spent)
    exactly_one(own_row.update(est_spent=F("est_spent") + charge))


def _event(
    bill: Bill, wanted: Wanted, now: Standing, bins: dict[str | None, Fresh], people: dict[str | None, Fresh]
) -> audit.Event:
    before = now.contract.est_spent
    data = {
        "analyst": wanted.pending.analyst, "rho_d": now.contract.rho_d, "k": now.contract.k, "charge": bill.charge,
        "bins": [_line(digest, each) for digest, each in bins.items()],
        "population": next((_line(digest, each) for digest, each in people.items()), None),
        "est_before": before, "est_after": before + bill.charge,
    }  # fmt: skip
    return audit.Event("diagnostic.released", wanted.pending.analyst, data, query=wanted.pending.uid)


def _line(digest: str | None, each: Fresh) -> dict[str, object]:
    return {"descriptor": digest, "release": str(each.uid), "value": each.draw.value, "scale": each.draw.scale}


def _enter(charge: Units, wanted: Wanted, now: Standing, event: AuditEvent) -> None:
    LedgerEntry.objects.create(
        contract=now.contract, analyst_id=wanted.pending.analyst_id, query_id=wanted.pending.id, account=Release.Account.EST,
        load=charge, quota=charge, balance_before=now.contract.est_spent, balance_after=now.contract.est_spent + charge,
        event_seq=event.seq,
    )  # fmt: skip
