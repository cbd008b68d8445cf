"""Taking questions in, once per key, and letting their asker take a waiting one back.

A submit holds the head of the contract's audit chain from its first statement on, so that questions get their ids in the order in
which they are committed, and that order is the order of arrival. It has locked nothing before, so no circle of waits can form.
"""

from datetime import UTC, datetime

from django.db import transaction

from accounts.models import User
from curator import language, queue, ticks
from curator.mechanism.errors import Conflict, NotYours, TooMany
from curator.models import Contract, Query, QueryBin
from curator.selectors.openness import is_open
from curator.services import asking, audit, texts
from curator.services.asking import Asked

MAX_WAITING = 1_000  # questions of one person, in all contracts
MAX_WAITING_BINS = 100_000
KEY_LENGTH = 100


def submit(*, analyst: User, contract: Contract, body: bytes | object, key: str) -> list[Query]:
    """Take one question or a list of them; the same `key` with the same body gives the same questions, for ever.

    Refused: whatever is wrong with a question (BadInput, TooLarge, with the field); key_reused, contract_not_open (Conflict);
    too_many_waiting (TooMany). Nothing is read, charged or, when refused, stored. The worker is told on commit.
    """
    parsed = language.guard_text(body) if isinstance(body, bytes) else body
    key = texts.line(key, field="key", most=KEY_LENGTH)
    digest = asking.digest_of(parsed)
    earlier = _earlier(analyst, contract, key, digest)
    if earlier:
        return earlier
    version = contract.version
    questions = asking.understand(parsed, version)
    with transaction.atomic():
        audit.hold(audit.chain_of(contract))
        earlier = _earlier(analyst, contract, key, digest)  # two tabs: the second finds what the first has committed
        if earlier:
            return earlier
        _check_open(contract)
        _check_waiting(analyst, questions)
        asking.store_descriptors(questions, version)
        rows = [
            asking.query_row(
                each, analyst=analyst, contract=contract, version=version, key=key, position=place, body_digest=digest
            )
            for place, each in enumerate(questions)
        ]  # fmt: skip
        return _store(contract, rows, questions)


def cancel(*, analyst: User, query: Query) -> Query:
    """Take back one's own waiting question; refused with not_waiting once it has its final state.

    A worker that has claimed it, but not begun to settle it, passes it over. While it is being settled this waits.
    """
    with transaction.atomic():
        row = Query.objects.select_for_update(no_key=True, of=("self",)).select_related("contract").get(pk=query.pk)
        if row.analyst_id != analyst.pk:
            raise NotYours("not_found", "There is no such question.")
        if row.state != Query.State.WAITING:
            raise Conflict("not_waiting", f"The question is {row.state}; only a waiting one can be cancelled.", state=row.state)
        row.state, row.finished_at = Query.State.CANCELLED, ticks.now()
        row.save(update_fields=["state", "finished_at"])
        event = audit.Event("query.cancelled", analyst.username, {"reason": "by_asker"}, query=row.uid)
        audit.append(audit.chain_of(row.contract), [event])
    return row


def _earlier(analyst: User, contract: Contract, key: str, digest: str) -> list[Query]:
    rows = list(Query.objects.filter(contract=contract, analyst=analyst, key=key).order_by("position"))
    if rows and rows[0].body_digest != digest:
        raise Conflict("key_reused", "This key was used before for another request.", field="key")
    return rows


def _check_open(contract: Contract) -> None:
    row = Contract.objects.get(pk=contract.pk)
    now = datetime.now(UTC)
    if not is_open(row, now):
        state = row.state if row.state != Contract.State.OPEN else "past its last day"
        raise Conflict("contract_not_open", f"The contract is {state}; questions are taken while it is open.", state=state)


def _check_waiting(analyst: User, questions: list[Asked]) -> None:
    waiting = Query.objects.filter(analyst=analyst, state=Query.State.WAITING).count() + len(questions)
    bins = QueryBin.objects.filter(query__analyst=analyst, query__state=Query.State.WAITING)
    more = sum(len(each.bins) for each in questions)
    too_many_bins = waiting * language.MAX_BINS > MAX_WAITING_BINS and bins.count() + more > MAX_WAITING_BINS
    if waiting > MAX_WAITING or too_many_bins:
        detail = f"At most {MAX_WAITING:,} questions (with {MAX_WAITING_BINS:,} bins) of one person wait at a time."
        raise TooMany("too_many_waiting", detail, most=MAX_WAITING)


def _store(contract: Contract, rows: list[Query], questions: list[Asked]) -> list[Query]:
    Query.objects.bulk_create(rows)
    pairs = list(zip(rows, questions, strict=True))
    QueryBin.objects.bulk_create(each for row, asked in pairs for each in asking.bin_rows(row, asked))
    audit.append(audit.chain_of(contract), [asking.submitted(row, asked) for row, asked in pairs])
    transaction.on_commit(lambda: _ring(contract.pk, rows[0].pk), robust=True)
    return rows


def _ring(contract_id: int, first_id: int) -> None:
    """Tell the worker, unless older questions wait: their bell is on its way or being answered, and will find these too."""
    older = Query.objects.filter(contract_id=contract_id, state=Query.State.WAITING, id__lt=first_id)
    if not older.exists():
        queue.ring(contract_id)
