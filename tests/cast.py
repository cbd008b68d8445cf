"""The cast: Alice and Bob ask, Carol curates, Dora audits; and the small things they work on.

Everything is made through the services that make it in the product, save passwords (nobody here signs in by one) and uploads.
Amounts are given as decimal text of rho, as people write them.
"""

import csv
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.models import Role, User
from curator.mechanism import rho
from curator.mechanism.rho import Units
from curator.mechanism.schema import Schema
from curator.models import Contract, Dataset, DatasetVersion
from curator.services import contracts

SCHEMA: dict[str, Any] = {
    "columns": [
        {"name": "age", "kind": "integer", "low": 0, "high": 99, "missing": False, "out_of_domain": "clamp"},
        {"name": "sex", "kind": "category", "values": ["F", "M"], "missing": False, "out_of_domain": "other"},
        {"name": "city", "kind": "category", "values": ["Oslo", "Rome", "Lima"], "missing": True, "out_of_domain": "other"},
        {"name": "member", "kind": "boolean", "missing": True, "out_of_domain": "other"},
    ]
}
#: Twelve people; no two tests should care how many.
ROWS: tuple[Mapping[str, str], ...] = tuple(
    {
        "age": str(20 + 5 * i),
        "sex": "FM"[i % 2],
        "city": ("Oslo", "Rome", "Lima", "")[i % 4],
        "member": ("true", "false", "")[i % 3],
    }
    for i in range(12)
)
NO_LIMIT = "no limit"


@dataclass(frozen=True, slots=True)
class Cast:
    """The four people, with their roles on the site."""

    alice: User
    bob: User
    carol: User
    dora: User


def cast() -> Cast:
    """The four, as rows."""
    return Cast(
        alice=person("alice", Role.ANALYST), bob=person("bob", Role.ANALYST),
        carol=person("carol", Role.CURATOR), dora=person("dora", Role.AUDITOR),
    )  # fmt: skip


def person(username: str, *roles: str) -> User:
    """Somebody with roles and no usable password: `client.force_login` lets them in."""
    user = User(username=username, email=f"{username}@example.org", roles=sorted(str(role) for role in roles))
    user.set_unusable_password()
    user.save()
    return user


def units(text: str | None) -> Units | None:
    """Units of a decimal text of rho; None for "no limit"."""
    return None if text is None or text == NO_LIMIT else rho.parse(text, field="rho")


def make_version(
    owner: User, *, rows: Sequence[Mapping[str, str]] | None = None, schema: Mapping[str, Any] = SCHEMA,
    person_column: str = "", k: int = 1, dataset: Dataset | None = None,
) -> DatasetVersion:  # fmt: skip
    """A frozen version of `people`, with a Parquet file of codes behind it where `rows` are given."""
    dataset = dataset or Dataset.objects.create(name="people", owner=owner)
    version = DatasetVersion.objects.create(
        dataset=dataset, number=dataset.versions.count() + 1, schema=Schema.from_json(schema).to_json(),
        person_column=person_column, k=k, frozen_by=owner,
    )  # fmt: skip
    if rows is not None:
        _freeze(version, rows)
    return version


def make_contract(
    people: Cast, version: DatasetVersion | None = None, *, rho_total: str = "1", xi: str = "0", kappa: str = "0.02",
    allotments: Mapping[str, str] | None = None, rows: Sequence[Mapping[str, str]] | None = None,
    name: str = "The people of 2020", **settings: Any,
) -> Contract:  # fmt: skip
    """An open contract of Carol's: Alice and Bob ask (without limits of their own, unless `allotments` says), Dora audits."""
    version = version or make_version(people.carol, rows=rows)
    contract = contracts.open_contract(
        curator=people.carol, version=version, name=name, rho_total=rho.parse(rho_total, field="rho_total"),
        stands=True, xi=Decimal(xi), kappa=Decimal(kappa), **settings,
    )  # fmt: skip
    given = dict(allotments or {})
    for analyst in (people.alice, people.bob):
        amount = units(given.get(analyst.username))
        contracts.add_member(curator=people.carol, contract=contract, user=analyst, role=Role.ANALYST, allotment=amount)
    contracts.add_member(curator=people.carol, contract=contract, user=people.dora, role=Role.AUDITOR)
    contract.refresh_from_db()
    return contract


def _freeze(version: DatasetVersion, rows: Iterable[Mapping[str, str]]) -> None:
    from curator.engine.freezing import freeze  # the worker's side: only where a test needs real counts

    Path(settings.VERSIONS_DIR).mkdir(parents=True, exist_ok=True)
    schema = Schema.from_json(version.schema)
    names = [*schema.names, *([version.person_column] if version.person_column else [])]
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
        file.flush()
        freeze(Path(file.name), schema=schema, person_column=version.person_column, k=version.k, uid=str(version.uid))
