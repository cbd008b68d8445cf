"""What an analyst sees of a contract: the data dictionary, the meter, their own questions.

Everything comes from the public schema, settings, released outputs and the reader's own rows: no row count, no observed value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounts.models import User
from curator.mechanism.controller import available
from curator.mechanism.rho import Units
from curator.mechanism.schema import Column, Schema
from curator.models import AnalystBudget, Answer, Contract, Query
from curator.selectors import wording
from curator.selectors.paging import Page, cut

KINDS = {"category": "categories", "boolean": "yes or no", "integer": "whole numbers", "decimal": "decimals", "date": "dates"}
OUTSIDE = {"other": "counted as “other”", "clamp": "moved to the nearest bound", "missing": "counted as missing"}
SHOWN_VALUES = 40


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """One column of the public schema in words."""

    name: str
    title: str
    kind: str
    domain: str
    missing: bool
    outside: str


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What may be asked about: public, and independent of the records."""

    table: str
    privacy_unit: str
    columns: tuple[ColumnLine, ...]


@dataclass(frozen=True, slots=True)
class Meter:
    """Budget of a contract as one analyst sees it; `*_share` are thousandths of the bar."""

    contract_uid: UUID
    delta: Decimal
    rho_total: Units
    rho_ans: Units
    spent: Units
    left: Units
    allotment: Units | None
    my_spent: Units
    my_left: Units
    available: Units
    limit: str
    cap: Units | None
    spent_share: int

    @property
    def spent_percent(self) -> int:
        """The bar's length in words."""
        return self.spent_share // 10


@dataclass(frozen=True, slots=True)
class QueryLine:
    """One question in a list."""

    uid: UUID
    title: str
    analyst: str
    state: str
    histogram: bool
    asked: str
    charge: Units | None
    value: int | None
    bound: int | None
    arrived_at: datetime


_schemas: dict[UUID, Schema] = {}


def schema_of(contract: Contract) -> Schema:
    """The public schema of the contract's present version; a version never changes, so it is parsed once per process."""
    version = contract.version
    if version.uid not in _schemas:
        _schemas[version.uid] = Schema.from_json(version.schema)
    return _schemas[version.uid]


def dictionary(contract: Contract) -> Dictionary:
    """The data dictionary of a contract."""
    return Dictionary(
        table=contract.version.table,
        privacy_unit=privacy_unit(contract.version.person_column, contract.k),
        columns=tuple(column_line(column) for column in schema_of(contract).columns),
    )


def privacy_unit(person_column: str, k: int) -> str:
    """Whom the guarantee protects, in words."""
    if not person_column:
        return "one record is one person"
    return f"records belong together by {person_column}, at most {k} of one person are kept; counts are of persons"


def column_line(column: Column) -> ColumnLine:
    """One column in words."""
    words = wording.title(column)
    return ColumnLine(column.name, words, KINDS[column.kind], domain_words(column), column.missing, OUTSIDE[column.out_of_domain])


def domain_words(column: Column) -> str:
    """The declared values of a column, shortened where there are many."""
    if column.kind == "boolean":
        return "true, false"
    if column.kind == "category":
        more = len(column.values) - SHOWN_VALUES
        return ", ".join(column.values[:SHOWN_VALUES]) + (f" and {more} more" if more > 0 else "")
    step = f", in steps of {column.step}" if column.kind == "decimal" else ""
    return f"{column.low} to {column.high}{step}"


def meter(contract: Contract, analyst: User) -> Meter:
    """The budget that stands between an analyst and the next question."""
    budget = AnalystBudget.objects.filter(contract=contract, analyst=analyst).first()
    return meter_of(contract, allotment=budget.allotment if budget else 0, my_spent=budget.spent if budget else 0)


def meter_of(contract: Contract, *, allotment: Units | None, my_spent: Units) -> Meter:
    """The meter of somebody with this allotment and spending."""
    left = max(0, contract.rho_ans - contract.spent_bound)
    limit = available(pool=left, allotment=allotment, spent=my_spent, cap=contract.query_cap, bins=1)[0]
    my_left = left if allotment is None else min(left, max(0, allotment - my_spent))
    whole, used = (contract.rho_ans, contract.spent_bound) if allotment is None else (allotment, my_spent)
    return Meter(
        contract.uid, contract.delta, contract.rho_total, contract.rho_ans, contract.spent_bound, left, allotment, my_spent,
        my_left, limit.units, limit.reason, contract.query_cap, thousandths(used, whole),
    )  # fmt: skip


def thousandths(part: Units, whole: Units) -> int:
    """A part as thousandths of the whole, for the width of a bar; a full bar where the whole is nothing."""
    return 1000 if whole <= 0 else min(1000, round(1000 * part / whole))


def my_queries(contract: Contract, analyst: User, *, before: UUID | None = None, limit: int = 15) -> Page[QueryLine]:
    """An analyst's questions under a contract, newest first; `before` is the uid of the last one seen."""
    return query_page(Query.objects.filter(contract=contract, analyst=analyst), contract, before=before, limit=limit)


def query_page(queries: Any, contract: Contract, *, before: UUID | None, limit: int) -> Page[QueryLine]:
    """One page of question lines, in three queries whatever the length of the history."""
    if before is not None:
        queries = queries.filter(id__lt=queries.filter(uid=before).values("id"))
    rows, more = cut(list(queries.select_related("decision", "analyst").order_by("-id")[: limit + 1]), limit)
    answers = scalar_answers(rows)
    lines = tuple(query_line(row, answers.get(row.pk)) for row in rows)
    return Page(lines, more=str(lines[-1].uid) if more else "", first=before is None)


def scalar_answers(rows: Sequence[Query]) -> dict[int, Answer]:
    """The one answer of each count among `rows`; histograms are left to their own page."""
    counts = [row.pk for row in rows if row.aggregate == Query.Aggregate.COUNT]
    return {answer.query_id: answer for answer in Answer.objects.filter(query_id__in=counts)}


def query_line(row: Query, answer: Answer | None) -> QueryLine:
    """One question in a list."""
    decision = getattr(row, "decision", None)
    return QueryLine(
        uid=row.uid,
        title=query_title(row),
        analyst=row.analyst.get_username(),
        state=row.state,
        histogram=row.aggregate == Query.Aggregate.HISTOGRAM,
        asked=wording.target_words(row.accuracy),
        charge=decision.load if decision else None,
        value=answer.value if answer else None,
        bound=answer.bound if answer else None,
        arrived_at=row.arrived_at,
    )


def query_title(row: Query) -> str:
    """The analyst's own label, or the question in words."""
    return row.label or wording.question_words(row.question)
