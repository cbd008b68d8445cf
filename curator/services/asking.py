"""From a request body to a question's rows, before any lock is taken: parsing and pricing need public facts only."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from curator import language
from curator.language import Ask
from curator.language.conditions import leaves_of
from curator.mechanism import accuracy
from curator.mechanism.accuracy import Relative
from curator.mechanism.errors import BadInput, Refused, TooLarge
from curator.mechanism.region import Region, descriptor_digest
from curator.mechanism.rho import Units
from curator.models import Contract, DatasetVersion, Descriptor, Query, QueryBin
from curator.services import audit, bulk
from curator.services.versions import AGGREGATE, known

MAX_LIST = 500
MAX_CONDITIONS = 2_000  # of all questions sent under one key, so that reading them takes a second at most
MAX_BINS = 20_000  # of all questions sent under one key


@dataclass(frozen=True, slots=True)
class Priced:
    """One bin: where it is (digest None: no record can be there), how it is labelled, what it needs (None: not known yet)."""

    label: tuple[str, ...]
    region: Region
    digest: str | None
    rho_min: Units | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, understood and priced against one dataset version."""

    ask: Ask
    sql: str
    bins: tuple[Priced, ...]

    @property
    def aggregate(self) -> str:
        """A question with groups is a histogram, however many bins they make."""
        return Query.Aggregate.HISTOGRAM if self.ask.question.group_by else Query.Aggregate.COUNT


def items_of(body: object) -> list[object]:
    """The questions in a body: one object, or a list of up to MAX_LIST."""
    items = body if isinstance(body, list) else [body]
    if not items:
        raise BadInput("no_questions", "Expected at least one question.")
    if len(items) > MAX_LIST:
        raise TooLarge("too_many_questions", f"Expected at most {MAX_LIST} questions at once, found {len(items)}.", most=MAX_LIST)
    return items


def understand(body: object, version: DatasetVersion) -> list[Asked]:
    """Every question of a body, in its order. Refused with the field, which begins with "[3]." for the fourth of a list."""
    questions: list[Asked] = []
    for place, item in enumerate(items_of(body)):
        try:
            questions.append(_understand_one(item, version))
        except Refused as refusal:
            if isinstance(body, list):
                refusal.field = f"[{place}].{refusal.field}" if refusal.field else f"[{place}]"
            raise
        _check_size(questions)
    return questions


def digest_of(body: object) -> str:
    """What tells two bodies apart that were sent under one key; numbers as they were written."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _understand_one(item: object, version: DatasetVersion) -> Asked:
    if not isinstance(item, Mapping):
        raise BadInput("bad_question", "Expected an object with the question and its accuracy.")
    schema = known(version).schema
    ask = language.parse_ask(item, schema=schema, table=version.table)
    bins = language.bins_of(ask.question, schema)
    rho_min = None if isinstance(ask.target, Relative) else accuracy.rho_min(ask.target, bins=len(bins))
    sql = language.write_sql(ask.question, schema=schema, table=version.table)
    return Asked(ask, sql, tuple(_priced(each.label, each.region, rho_min, version) for each in bins))


def _priced(label: tuple[str, ...], region: Region, rho_min: Units | None, version: DatasetVersion) -> Priced:
    if region.is_empty:
        return Priced(label, region, None, 0)
    return Priced(label, region, descriptor_digest(str(version.uid), AGGREGATE, region), rho_min)


def _check_size(questions: list[Asked]) -> None:
    if sum(len(question.bins) for question in questions) > MAX_BINS:
        raise TooLarge("too_many_bins", f"Expected at most {MAX_BINS:,} bins in one request.", most=MAX_BINS)
    if sum(leaves_of(question.ask.question.where) for question in questions) > MAX_CONDITIONS:
        detail = f"Expected at most {MAX_CONDITIONS:,} conditions in one request."
        raise TooLarge("condition_too_long", detail, most=MAX_CONDITIONS)


def store_descriptors(questions: Iterable[Asked], version: DatasetVersion) -> None:
    """Make the descriptors that are not there yet."""
    regions = {each.digest: each.region for question in questions for each in question.bins if each.digest is not None}
    there = set(Descriptor.objects.filter(digest__in=list(regions)).values_list("digest", flat=True))
    new = {digest: region for digest, region in regions.items() if digest not in there}
    if new:
        bulk.insert_descriptors(new, version.pk)


def query_row(
    asked: Asked, *, analyst: User, contract: Contract, version: DatasetVersion, key: str, position: int, body_digest: str
) -> Query:
    """The question's row, not saved."""
    ask = asked.ask
    return Query(
        contract=contract, version=version, analyst=analyst, key=key, position=position, body_digest=body_digest,
        aggregate=asked.aggregate, question=ask.question.to_json(), sql=asked.sql, accuracy=accuracy.target_json(ask.target),
        under_scarcity=ask.under_scarcity.value, label=ask.label,
    )  # fmt: skip


def bin_rows(query: Query, asked: Asked) -> list[QueryBin]:
    """The rows of its bins, not saved."""
    return [
        QueryBin(query=query, position=position, descriptor_id=each.digest, label=list(each.label), rho_min=each.rho_min)
        for position, each in enumerate(asked.bins)
    ]


def submitted(query: Query, asked: Asked) -> audit.Event:
    """The event that tells of a question: everything that its decision will depend on, and nothing of the data."""
    data: dict[str, Any] = {
        "analyst": query.analyst.username, "version": str(query.version.uid), "aggregate": query.aggregate,
        "bins": [each.digest for each in asked.bins], "rho_min": [each.rho_min for each in asked.bins],
        "accuracy": query.accuracy, "under_scarcity": query.under_scarcity, "question": query.question,
    }  # fmt: skip
    return audit.Event("query.submitted", query.analyst.username, data, query=query.uid)
