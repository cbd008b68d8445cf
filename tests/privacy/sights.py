"""What there is to look at besides questions: everything that a page of the site can be about, made by the services."""

import secrets

from accounts import invitations, tokens
from accounts.models import ApiToken, Role
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.models import AuditEvent, BudgetRequest, Contract, DatasetVersion, Query, Upload
from curator.services import budget_requests, contracts, saved
from curator.services.verification import requested
from tests.cast import Cast, person, units
from tests.privacy.addresses import Values


def make_sights(people: Cast, contract: Contract) -> Values:
    """Make them around a contract in which questions were asked; what may stand in an address, by its noun."""
    carol, chain = people.carol, str(contract.uid)
    asked = Query.objects.filter(contract=contract)
    kept = saved.save_query(owner=people.alice, query=asked.filter(analyst=people.alice)[0], name="Again")
    request = _request(people, contract)
    experiment = running.start(owner=carol, contract=contract, chosen=Chosen.of(contract))
    running.run(experiment.pk)
    verification = requested.start(owner=people.dora, chains=[chain])
    requested.run(verification.pk)
    tokens.issue(user=people.alice, name="Monthly", scope=ApiToken.Scope.READ, days=90)
    _, secret = invitations.invite(
        curator=carol, contract=contract, role=Role.ANALYST, allotment=units("0.01"), email="nina@example.org"
    )
    contracts.add_member(curator=carol, contract=contract, user=person("cyril", Role.CURATOR), role=Role.CURATOR)
    contracts.raise_total(curator=carol, contract=contract, rho_total=units("3") or 0, reason="more tables")
    events = [f"{chain}/{seq}" for chain, seq in AuditEvent.objects.values_list("chain", "seq")]
    return {
        "contracts": [chain], "balance": [chain], "queries": _uids(asked), "requests": [request.uid], "saved": [kept.uid],
        "invitation": [secret],
        "experiments": [experiment.uid], "verifications": [verification.uid], "new": [f"MQ/{secrets.token_hex(8)}"],
        "versions": _uids(DatasetVersion.objects), "datasets": _uids(DatasetVersion.objects, "dataset__uid"),
        "uploads": _uids(Upload.objects), "columns": range(3),
        "audit": events, "events": events,
    }  # fmt: skip


def _request(people: Cast, contract: Contract) -> BudgetRequest:
    contracts.set_allotment(
        curator=people.carol, contract=contract, analyst=people.bob, rho=units("1.9"), reason="a limit of his own"
    )
    return budget_requests.request(analyst=people.bob, contract=contract, amount=units("0.01") or 0, reason="more")


def _uids(rows: object, name: str = "uid") -> list[object]:
    return list(rows.values_list(name, flat=True).distinct())  # type: ignore[attr-defined]  # a manager, or rows of it
