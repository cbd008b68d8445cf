"""What the cells of a column look like, before anybody has declared what it is: counted for the curator's report.

The shapes are a reading aid (how many cells are no whole number?), never a declaration: which kind it has, the curator says.
"""

import re
from collections import Counter

import numpy as np
import pyarrow as pa

from curator.mechanism.dates import ISO, forms_of
from curator.mechanism.values import normalise, read_any_number

SHAPES = ("blank", "whole", "decimal", "date", "dated", "truth", "grouped", "text")
_TRUTH = frozenset(("true", "false", "yes", "no", "y", "n"))
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
#: 1,234,567 and 1.234,56 and 1 234: digits in groups, which no rule of ours reads, because 1.234 may be either
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:([.,'\u2019\u00a0\u202f ])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]+)?")
_GROUPED_WHOLE = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[.,][0-9]{3})+")


def plain_number(text: str, *, decimal_comma: bool, whole: bool = False) -> str | None:
    """A text with its decimal comma as a point, where commas are decimal; None where it is digits in groups.

    In a file with decimal commas 1.234 and 1,234 in a column of whole numbers (`whole`) are groups: nobody writes whole numbers
    with three decimals, and to read either as 1 would be silently wrong.
    """
    if not decimal_comma:
        return text
    tidy = normalise(text)
    if whole and _GROUPED_WHOLE.fullmatch(tidy):
        return None
    return tidy.replace(",", ".") if _COMMA.fullmatch(tidy) else text


def shape(text: str, *, decimal_comma: bool = False) -> str:
    """The shape of one text."""
    tidy = normalise(text)
    return _counted(tidy, decimal_comma=decimal_comma) or _other(tidy, forms_of(tidy))


def _counted(tidy: str, *, decimal_comma: bool) -> str:
    """The shape of what is blank or a number; "" of anything else."""
    if not tidy:
        return "blank"
    number = read_any_number(plain_number(tidy, decimal_comma=decimal_comma) or "")
    if number is not None:
        return "whole" if number.denominator == 1 else "decimal"
    return ""


def _other(tidy: str, forms: tuple[str, ...]) -> str:
    if forms:
        return "date" if ISO in forms else "dated"
    if tidy.casefold() in _TRUTH:
        return "truth"
    return "grouped" if _GROUPED.fullmatch(tidy) else "text"


def count_shapes(texts: pa.DictionaryArray, tally: Counter[str], dates: Counter[str], *, decimal_comma: bool) -> None:
    """Add one batch to a tally of shapes, and to one of the forms in which cells are dates (`mechanism.dates`; ISO is a shape).

    A cell counts under each form that reads it, 03/04/2024 under two. Each distinct text is looked at once.
    """
    written = [normalise(text or "") for text in [*texts.dictionary.to_pylist(), None]]
    places = texts.indices.fill_null(len(written) - 1).to_numpy(zero_copy_only=False)
    for text, times in zip(written, np.bincount(places, minlength=len(written)).tolist(), strict=True):
        if times:
            forms = forms_of(text)
            tally[_counted(text, decimal_comma=decimal_comma) or _other(text, forms)] += times
            for form in forms:
                dates[form] += times
