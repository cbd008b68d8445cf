"""Sets of codes of one column as sorted, disjoint, maximal closed intervals; never as lists of codes."""

from collections.abc import Iterable

Intervals = tuple[tuple[int, int], ...]


def tidy(pairs: Iterable[tuple[int, int]]) -> Intervals:
    """Any closed intervals (in any order, overlapping, touching; those with low > high are empty) in their one canonical form."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(pair for pair in pairs if pair[0] <= pair[1]):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def complement(intervals: Intervals, size: int) -> Intervals:
    """The codes of 0 … size-1 outside canonical intervals."""
    gaps, start = [], 0
    for low, high in intervals:
        gaps.append((start, low - 1))
        start = high + 1
    return tidy([*gaps, (start, size - 1)])


def intersection(left: Intervals, right: Intervals) -> Intervals:
    """The codes in both; linear in the two lengths."""
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        result.append((max(left[i][0], right[j][0]), min(left[i][1], right[j][1])))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tidy(result)


def count(intervals: Intervals) -> int:
    """How many codes canonical intervals hold."""
    return sum(high - low + 1 for low, high in intervals)
