"""The life of a contract: drafted, opened, frozen, closed, moved to another version of its dataset.

Each function is one transaction that locks the contract's row first and the audit head last. `curator` must curate the
contract (or, to draft one, look after the dataset). Who belongs to a contract and what they may spend is in `memberships`,
raising its total in `raises`; all of it can be called from here.
"""

import datetime
from typing import Unpack

from django.db import transaction

from accounts import access
from accounts.models import Membership, Role, User
from curator import queue, ticks
from curator.mechanism.errors import BadInput, Conflict
from curator.mechanism.schema import Schema
from curator.models import Contract, DatasetVersion
from curator.services import audit, contract_settings, datasets, texts
from curator.services.audit import Event
from curator.services.contract_rows import LIVE, State, decimal_text, locked_for
from curator.services.contract_settings import Chosen, Settings
from curator.services.memberships import add_member, remove_member, set_allotment
from curator.services.raises import approve_raise, raise_total, reject_raise

__all__ = [
    "add_member", "approve_raise", "change_draft", "close", "draft", "freeze", "open_contract", "open_draft", "raise_total",
    "reject_raise", "remove_member", "reopen", "set_allotment", "set_end_date", "set_version",
]  # fmt: skip


def draft(*, curator: User, version: DatasetVersion, name: str, **chosen: Unpack[Chosen]) -> Contract:
    """A draft over `version`; its curator is the first member. BadInput with the field for a setting out of its limits."""
    columns = Settings(**chosen).columns()
    title = texts.line(name, field="name")
    with transaction.atomic():
        _look_after(curator, version)
        datasets.require_overlap_said(version)
        contract = Contract(dataset=version.dataset, version=version, name=title, k=version.k, created_by=curator, **columns)
        contract.save(force_insert=True)
        Membership.objects.create(contract=contract, user=curator, role=Role.CURATOR, added_by=curator)
        _record(contract, "contract.drafted", curator, {"settings": settings_data(contract)})
    return contract


def change_draft(*, curator: User, contract: Contract, version: DatasetVersion, name: str, **chosen: Unpack[Chosen]) -> Contract:
    """Other settings for a contract that is still a draft; another version of the data only by who looks after the data."""
    columns = Settings(**chosen).columns()
    title = texts.line(name, field="name")
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT)
        _same_dataset(row, version)
        if version.pk != row.version_id:
            _look_after(curator, version)
            datasets.require_overlap_said(version)
        for column, value in {**columns, "version": version, "name": title, "k": version.k}.items():
            setattr(row, column, value)
        row.save(update_fields=[*columns, "version", "name", "k"])
        _record(row, "contract.drafted", curator, {"settings": settings_data(row)})
    return row


def open_draft(*, curator: User, contract: Contract, stands: bool) -> Contract:
    """Open a draft: from now on its settings stand, save a raise, the end date and the version; `stands`: the curator knows."""
    if not stands:
        raise BadInput("not_acknowledged", "stands: say that you know that the settings stand once it is open", field="stands")
    with transaction.atomic():
        row = locked_for(curator, contract, State.DRAFT)
        contract_settings.check_end(row.ends_on)
        datasets.require_overlap_said(row.version)
        row.state, row.opened_at = State.OPEN, ticks.now()
        row.save(update_fields=["state", "opened_at"])
        _record(row, "contract.opened", curator, {"settings": settings_data(row)})
    return row


def open_contract(*, curator: User, version: DatasetVersion, name: str, stands: bool, **chosen: Unpack[Chosen]) -> Contract:
    """Draft a contract and open it at once."""
    with transaction.atomic():
        made = draft(curator=curator, version=version, name=name, **chosen)
        return open_draft(curator=curator, contract=made, stands=stands)


def freeze(*, curator: User, contract: Contract, reason: str) -> Contract:
    """Stop a contract for a while: nothing is charged and no question is taken until it is opened again."""
    return _move(curator, contract, reason, before=(State.OPEN,), after=State.FROZEN)


def reopen(*, curator: User, contract: Contract, reason: str) -> Contract:
    """Open a frozen contract again."""
    return _move(curator, contract, reason, before=(State.FROZEN,), after=State.OPEN)


def close(*, curator: User, contract: Contract, reason: str) -> Contract:
    """End a contract for good (a draft is discarded by closing it); what was released stays readable."""
    return _move(curator, contract, reason, before=(State.DRAFT, *LIVE), after=State.CLOSED)


def set_version(*, curator: User, contract: Contract, version: DatasetVersion, reason: str) -> Contract:
    """Ask later questions of another version of the same dataset; spending adds up, history is credited within a version only.

    For a curator of the contract who looks after the dataset too: whose records they are is not the contract's to decide.
    """
    why = texts.paragraph(reason, field="reason")
    with transaction.atomic():
        row = locked_for(curator, contract, *LIVE)
        _look_after(curator, version)
        _same_dataset(row, version)
        if version.pk == row.version_id:
            raise Conflict("same_version", "The contract uses this version already.", field="version")
        if version.person_column != row.version.person_column:
            unit = row.version.person_column or "one record per person"
            raise BadInput("other_unit", f"version: expected the contract's privacy unit ({unit})", field="version")
        if version.k > row.k:
            detail = (
                f"version: expected at most {row.k} records of one person, as the contract was opened with; this has {version.k}"
            )
            raise BadInput("k_too_large", detail, field="version", k=row.k)
        before, row.version = row.version, version
        row.save(update_fields=["version"])
        _record(row, "contract.version", curator, {"before": str(before.uid), **version_data(version), "reason": why})
    return row


def set_end_date(*, curator: User, contract: Contract, ends_on: datetime.date | None) -> Contract:
    """Another last day for the contract, or none."""
    contract_settings.check_end(ends_on)
    with transaction.atomic():
        row = locked_for(curator, contract, *LIVE)
        before, row.ends_on = row.ends_on, ends_on
        row.save(update_fields=["ends_on"])
        _record(row, "contract.end_date", curator, {"before": _day(before), "after": _day(ends_on)})
    return row


def settings_data(contract: Contract) -> dict[str, object]:
    """The settings of a contract as an event carries them: amounts in units, other numbers as exact text."""
    return {
        "name": contract.name, "dataset": str(contract.dataset.uid), "k": contract.k, **version_data(contract.version),
        "rho_total": contract.rho_total, "rho_est": contract.rho_est, "rho_ans": contract.rho_ans, "rho_d": contract.rho_d,
        "query_cap": contract.query_cap, "xi": decimal_text(contract.xi), "kappa": decimal_text(contract.kappa),
        "alpha": decimal_text(contract.alpha), "beta": decimal_text(contract.beta), "delta": decimal_text(contract.delta),
        "ends_on": _day(contract.ends_on),
    }  # fmt: skip


def version_data(version: DatasetVersion) -> dict[str, object]:
    """A frozen version as an event carries it: what a question of it means, and whom it protects. Public."""
    return {
        "version": str(version.uid), "schema": Schema.from_json(version.schema).digest, "table": version.table,
        "person_column": version.person_column, "records": version.k,
    }  # fmt: skip


def _move(curator: User, contract: Contract, reason: str, *, before: tuple[str, ...], after: str) -> Contract:
    why = texts.paragraph(reason, field="reason")
    with transaction.atomic():
        row = locked_for(curator, contract, *before)
        was, row.state = row.state, after
        row.save(update_fields=["state"])
        _record(row, "contract.state", curator, {"before": was, "after": after, "reason": why})
    queue.ring(row.pk)  # the worker leaves a receipt of it, so that no older copy of the record undoes it
    return row


def _look_after(curator: User, version: DatasetVersion) -> None:
    access.require_site_role(curator, Role.CURATOR)
    if version.dataset.owner_id != curator.pk:
        raise access.not_yours()


def _same_dataset(contract: Contract, version: DatasetVersion) -> None:
    if version.dataset_id != contract.dataset_id:
        raise BadInput("other_dataset", "version: expected a version of the contract's own dataset", field="version")


def _day(day: datetime.date | None) -> str | None:
    return day.isoformat() if day else None


def _record(contract: Contract, kind: str, curator: User, data: dict[str, object]) -> None:
    audit.append(audit.chain_of(contract), [Event(kind, curator.username, data)])
