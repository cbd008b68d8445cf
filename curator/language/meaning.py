"""From a question to regions: conditions under three-valued logic, groups as disjoint bins.

A condition is walked with its polarity down to the leaves (negation normal form), and a negated leaf takes the codes for which
the leaf is *false*, not the set complement: so what is unknown for a missing value stays unselected on both sides, as in SQL.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

from curator.language.bins import Slice, notes, slices
from curator.language.conditions import AllOf, Always, AnyOf, Condition, Leaf, Not
from curator.language.leaves import matching
from curator.language.question import MAX_BINS, Question
from curator.mechanism import intervals as iv
from curator.mechanism.columns import Column
from curator.mechanism.errors import BadInput
from curator.mechanism.region import Region, Work
from curator.mechanism.schema import Schema
from curator.mechanism.values import echo

MAX_BIN_STEPS = 500_000  # 10,000 bins of a condition of a few columns; bounds also what the bins' regions take to store


@dataclass(frozen=True, slots=True)
class Bin:
    """One number of an answer: one label per grouped column (none for a count) and whom it counts."""

    label: tuple[str, ...]
    region: Region


def region_of(question: Question, schema: Schema) -> Region:
    """The cells that the question's condition selects; refuses (region_too_large) what is too intricate."""
    return Region.full(schema) if question.where is None else _region(question.where, schema, Work(), positive=True)


def _region(condition: Condition, schema: Schema, work: Work, *, positive: bool) -> Region:
    match condition:
        case Leaf():
            return _leaf_region(condition, schema, positive=positive)
        case Not(part):
            return _region(part, schema, work, positive=not positive)
        case Always(value):
            return Region.full(schema) if value is positive else Region.empty(schema)
        case AllOf(parts) | AnyOf(parts):
            regions = [_region(part, schema, work, positive=positive) for part in parts]
            together = Region.all_of if isinstance(condition, AllOf) is positive else Region.any_of
            return together(schema, regions, work)


def _leaf_region(leaf: Leaf, schema: Schema, *, positive: bool) -> Region:
    yes, no = matching(leaf, schema.column(leaf.column))
    return Region.of(schema, leaf.column, yes if positive else no)


def bins_of(question: Question, schema: Schema) -> tuple[Bin, ...]:
    """The bins of a question: one with label () for a count; else every combination of groups, cut down to the condition.

    Refuses overlapping, empty or too many bins. Bins that the analyst did not name (other, missing) are left out where the
    condition already rules them out; named ones stay, with the empty region.
    """
    where = region_of(question, schema)
    if not question.group_by:
        return (Bin((), where),)
    result, work = [Bin((), where)], Work(MAX_BIN_STEPS)
    groups = _groups(question, schema)
    for group, parts in zip(question.group_by, groups, strict=True):
        leaves = [(part, Region.of(schema, group.column, part.codes)) for part in parts]
        result = [
            Bin((*wider.label, part.label), Region.all_of(schema, [wider.region, leaf], work))
            for wider in result
            for part, leaf in leaves
        ]
    named = [not any(part.rest for part in combination) for combination in product(*groups)]
    return tuple(part for part, kept in zip(result, named, strict=True) if kept or not part.region.is_empty)


def _groups(question: Question, schema: Schema) -> list[tuple[Slice, ...]]:
    groups = []
    for place, group in enumerate(question.group_by):
        column, field = schema.column(group.column), f"group_by[{place}]"
        groups.append(slices(column, group, field=field))
        _check_partition(column, groups[-1], field)
    if (count := prod(map(len, groups))) > MAX_BINS:
        factors = " times ".join(f"{len(parts):,}" for parts in groups)
        detail = f"A question has at most {MAX_BINS:,} bins, this one {count:,} ({factors}, with those for other and missing)."
        raise BadInput("too_many_bins", detail, field="group_by", maximum=MAX_BINS)
    return groups


def _check_partition(column: Column, parts: tuple[Slice, ...], field: str) -> None:
    """Parallel composition stands on disjoint bins, so it is checked and not only believed: every code in exactly one group."""
    runs = [run for part in parts for run in part.codes]
    if sum(high - low + 1 for low, high in runs) != column.size or iv.count(iv.tidy(runs)) != column.size:
        raise BadInput("bins_overlap", f"The bins of {echo(column.name)} overlap.", field=field)


def notes_of(question: Question, schema: Schema) -> tuple[str, ...]:
    """Sentences about groups that nobody named: gaps between edges, values outside the domain, missing values."""
    sentences: list[str] = []
    for group, parts in zip(question.group_by, _groups(question, schema), strict=True):
        sentences += notes(schema.column(group.column), parts)
    return tuple(sentences)
