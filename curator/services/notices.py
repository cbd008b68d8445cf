"""Telling people what concerns them: rows written beside what happened, marked as seen when they look.

A notice is part of the transaction that it tells of; it refers to rows that this transaction has locked or made, so that it
cannot be what makes it fail. Mail is another matter, see `mailing`.
"""

from collections.abc import Iterable, Sequence

from accounts.models import User
from curator import ticks
from curator.models import Allotment, BudgetRequest, Contract, Notice, Query, TotalRaise

Kind = Notice.Kind


def answers_ready(contract: Contract, ended: Iterable[tuple[int, int]]) -> None:
    """Questions of a contract came to their end; `ended` has pairs of query id and analyst id."""
    made = [Notice(user_id=analyst, kind=Kind.ANSWER, contract=contract, query_id=query) for query, analyst in ended]
    Notice.objects.bulk_create(made)


def tell(
    people: Sequence[User], kind: str, contract: Contract, *, request: BudgetRequest | None = None,
    total_raise: TotalRaise | None = None, allotment: Allotment | None = None,
) -> None:  # fmt: skip
    """One notice for each of `people`."""
    about = {"request": request, "total_raise": total_raise, "allotment": allotment}
    made = [Notice(user=person, kind=kind, contract=contract, **about) for person in people]
    Notice.objects.bulk_create(made)


def seen(user: User, *kinds: str, contract: Contract | None = None, query: Query | None = None) -> None:
    """`user` has seen their notices of these kinds (none named: all), within a contract or of one question where given."""
    mine = Notice.objects.filter(user=user, seen_at__isnull=True)
    if kinds:
        mine = mine.filter(kind__in=kinds)
    if contract is not None:
        mine = mine.filter(contract=contract)
    if query is not None:
        mine = mine.filter(query=query)
    mine.update(seen_at=ticks.now())
