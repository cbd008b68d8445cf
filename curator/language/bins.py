"""The bins of a grouping: for each grouped column, disjoint sets of codes with a label; their products are a question's bins.

By meaning, as SQL groups: every declared value or bin is there, possible or not; the `missing` element is a group of its own,
last; what is left over (a gap between edges, values beyond them, the `other` element) is one group called "other", said in
`notes`. Both are left out where nothing can fall into them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil

from curator.language.question import MAX_BINS, Edge, GroupBy
from curator.mechanism import intervals as iv
from curator.mechanism.columns import Column
from curator.mechanism.errors import BadInput
from curator.mechanism.intervals import Intervals
from curator.mechanism.values import Literal, echo


@dataclass(frozen=True, slots=True)
class Slice:
    """Codes of one column under one label; `rest` marks the groups `other` and `missing`, which the analyst did not name."""

    label: str
    codes: Intervals
    rest: bool = False


def slices(column: Column, group: GroupBy, *, field: str) -> tuple[Slice, ...]:
    """The disjoint groups of one column, which together hold all its codes; refuses bins that do not fit the column."""
    named = _named(column, group, field)
    covered = iv.tidy(run for part in named for run in part.codes)
    known = ((0, column.size - 1 - column.missing),)
    left = iv.intersection(iv.complement(covered, column.size), known)
    result = list(named)
    if left:
        result.append(Slice(_free_label("other", column, named), left, rest=True))
    if column.missing_code is not None:
        result.append(Slice(column.label(column.missing_code), ((column.missing_code, column.missing_code),), rest=True))
    return tuple(result)


def _free_label(label: str, column: Column, named: Sequence[Slice]) -> str:
    return f"({label})" if label in column.values or any(part.label == label for part in named) else label


def _named(column: Column, group: GroupBy, field: str) -> list[Slice]:
    if group.bins is not None:
        return _equal(column, group.bins, f"{field}.bins")
    if group.edges is not None:
        return _between_edges(column, group.edges, f"{field}.edges")
    if column.value_count > MAX_BINS:
        detail = f"{echo(column.name)} has {column.value_count:,} values, a question at most {MAX_BINS:,} bins: group it in bins."
        raise BadInput("too_many_bins", detail, field=f"{field}.column", maximum=MAX_BINS)
    return [_run(column, code, code) for code in range(column.value_count)]


def _run(column: Column, low: int, high: int) -> Slice:
    label = column.label(low) if low == high else f"{column.label(low)} to {column.label(high)}"
    return Slice(label, ((low, high),))


def _equal(column: Column, bins: int, field: str) -> list[Slice]:
    """Exactly `bins` runs of codes whose lengths differ by at most one; the last ends with the highest value."""
    count = column.value_count
    if bins > count:
        most = min(count, MAX_BINS)
        detail = f"{echo(column.name)} has {count:,} values, {_span(column)}: at most {most:,} bins."
        raise BadInput("too_many_bins", detail, field=field, maximum=most)
    if bins > MAX_BINS:
        detail = f"A question has at most {MAX_BINS:,} bins, not {bins:,}."
        raise BadInput("too_many_bins", detail, field=field, maximum=MAX_BINS)
    starts = [place * count // bins for place in range(bins + 1)]
    return [_run(column, low, high - 1) for low, high in pairwise(starts)]


def _between_edges(column: Column, edges: Sequence[Edge], field: str) -> list[Slice]:
    """Half-open bins [from, to); the last one includes its upper edge."""
    pairs = _pairs(edges, field)
    places = [(column.position(low), column.position(high)) for low, high in pairs]
    _check_order(column, pairs, places, field)
    result = []
    for number, (low, high) in enumerate(places):
        last = min(int(high // 1) if number == len(places) - 1 else ceil(high) - 1, column.value_count - 1)
        if last < ceil(low):
            detail = f"No value of {echo(column.name)} lies in the bin {_pair(pairs[number])}."
            raise BadInput("no_bins", detail, field=field)
        result.append(_run(column, ceil(low), last))
    return result


def _pairs(edges: Sequence[Edge], field: str) -> list[tuple[Literal, Literal]]:
    pairs = [edge for edge in edges if isinstance(edge, tuple)]
    points = [edge for edge in edges if not isinstance(edge, tuple)]
    if pairs and points:
        raise BadInput("bad_group", "Edges are either cut points or pairs from–to, not both.", field=field)
    if not pairs and len(points) < 2:
        raise BadInput("no_bins", "Bins need at least two edges.", field=field)
    if len(edges) > MAX_BINS + 1:
        raise BadInput("too_many_bins", f"A question has at most {MAX_BINS:,} bins.", field=field, maximum=MAX_BINS)
    return pairs or list(pairwise(points))


def _span(column: Column) -> str:
    return f"{column.label(0)} to {column.label(column.value_count - 1)}"


def _pair(pair: tuple[Literal, Literal]) -> str:
    return f"from {pair[0]} to {pair[1]}"


Pairs = Sequence[tuple[Literal, Literal]]
Places = Sequence[tuple[Fraction, Fraction]]


def _check_order(column: Column, pairs: Pairs, places: Places, field: str) -> None:
    for (low, high), (start, end) in zip(pairs, places, strict=True):
        if start >= end:
            raise BadInput("bad_group", f"Edges rise: {echo(low)} is not below {echo(high)}.", field=field)
        if start < 0 or end > column.value_count:
            detail = f"The bin {_pair((low, high))} lies outside {echo(column.name)}: {_span(column)}."
            raise BadInput("out_of_domain", detail, field=field)
    for place in range(1, len(places)):
        if places[place][0] < places[place - 1][0]:
            raise BadInput("bad_group", f"Bins come in rising order, {echo(pairs[place][0])} follows a higher one.", field=field)
        if places[place][0] < places[place - 1][1]:
            raise BadInput("bins_overlap", f"The bins {_pair(pairs[place - 1])} and {_pair(pairs[place])} overlap.", field=field)


def notes(column: Column, parts: Sequence[Slice]) -> list[str]:
    """What an analyst should know about the groups that nobody named."""
    result = []
    for part in parts:
        inside = iv.intersection(part.codes, ((0, column.value_count - 1),))
        if part.rest and inside:
            gaps = ", ".join(_run(column, low, high).label for low, high in inside[:5]) + (", …" if len(inside) > 5 else "")
            result.append(f"{column.name}: values in no bin ({gaps}) are counted as {echo(part.label)}.")
        elif part.rest:
            missing = part.codes == ((column.missing_code, column.missing_code),)
            meaning = "missing values" if missing else "values outside the domain"
            result.append(f"{column.name}: {meaning} are counted as {echo(part.label)}.")
    return result
