"""A verification as somebody asks for it and the worker makes it, at once."""

from collections.abc import Iterable

from accounts.models import User
from curator.models import Contract, Verification
from curator.services import audit
from curator.services.verification import requested


def verify_for(person: User, contracts: Iterable[Contract]) -> Verification:
    """Verify these contracts because `person` asked; gives what came of it."""
    made = requested.start(owner=person, chains=[audit.chain_of(contract) for contract in contracts])
    requested.run(made.pk)
    made.refresh_from_db()
    return made
