"""People around the pictured contract: somebody invited, a second curator with a proposal, a draft, a key."""

from accounts import invitations, tokens
from accounts.models import ApiToken, Role
from curator.models import Contract
from curator.services import contracts
from tests.cast import Cast, person, units


def make_company(people: Cast, contract: Contract) -> dict[str, dict[str, str]]:
    """Make them, and say which pages they bring to look at, for whom."""
    carol, cyril = people.carol, person("cyril", Role.CURATOR)
    contracts.add_member(curator=carol, contract=contract, user=cyril, role=Role.CURATOR)
    contracts.raise_total(
        curator=cyril, contract=contract, rho_total=units("0.2") or 0, reason="A second round of tables, agreed with the board."
    )
    allotment = units("0.01")
    _, secret = invitations.invite(
        curator=carol, contract=contract, role=Role.ANALYST, allotment=allotment, email="nina@example.org"
    )
    draft = contracts.draft(curator=carol, version=contract.version, name="Second panel", rho_total=units("0.5") or 0)
    tokens.issue(user=people.alice, name="Monthly report", scope=ApiToken.Scope.READ, days=90)
    inside = f"/contracts/{contract.uid}"
    return {
        "alice": {"notices": "/notices/", "account": "/account/", "keys": "/account/keys/"},
        "carol": {
            "directory": "/people/", "directory-nobody": "/people/?search=nobody", "raises": f"{inside}/raises/",
            "draft": f"/contracts/{draft.uid}/control/", "draft-edit": f"/contracts/{draft.uid}/edit/",
            "keys-none": "/account/keys/", "invitation-own": f"/invitation/{secret}/",
        },
        "dora": {"notices-few": "/notices/"},
        "nobody": {
            "invitation": f"/invitation/{secret}/", "invitation-over": "/invitation/over/",
            "password-forgotten": "/password/forgotten/", "password-link-over": "/password/new/MQ/x-y/",
        },
    }  # fmt: skip
