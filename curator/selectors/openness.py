"""Whether a contract takes questions: the one rule, asked when a question arrives, when it is priced and when it is settled."""

from datetime import UTC, datetime

from curator.models import Contract, Hold


def is_open(contract: Contract, now: datetime) -> bool:
    """Say whether questions may be asked and charged: state open, and not past the last day (UTC, the whole day included)."""
    ended = contract.ends_on is not None and now.astimezone(UTC).date() > contract.ends_on
    return contract.state == Contract.State.OPEN and not ended


def held(contract: Contract) -> str:
    """Why the worker releases nothing for an open contract, as a code; empty where it does."""
    return Hold.objects.filter(contract=contract).values_list("code", flat=True).first() or ""
