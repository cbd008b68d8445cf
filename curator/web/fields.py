"""Form fields for amounts and other exact numbers: text in (a decimal comma is a point), whole units or decimals out."""

import re
from decimal import Decimal
from typing import Any

from django import forms

from curator.mechanism import rho
from curator.mechanism.errors import BadInput, Refused
from curator.mechanism.rho import Units

_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def with_point(text: str) -> str:
    """A number that somebody typed, its one decimal comma as a point: 0,01 is 0.01. Anything else stays as it is.

    1,000 is a thousand to some and one to others: BadInput bad_number says what to type instead.
    """
    tidy = text.strip()
    if _GROUPED.fullmatch(tidy):
        whole, point = tidy.replace(",", ""), tidy.replace(",", ".")
        raise BadInput("bad_number", f"{tidy} may be {whole} or {point}: type the one you mean.")
    return tidy.replace(",", ".") if _COMMA.fullmatch(tidy) else text


class RhoField(forms.CharField):
    """An amount of rho as people write it, cleaned to whole units; None where it may be left empty and is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}), max_length=60, **kwargs)

    def clean(self, value: Any) -> Units | None:
        """Units; refused for what is no finite amount of zero or more."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return rho.parse(with_point(text), field=str(self.label))
        except Refused as refused:
            raise forms.ValidationError(_expected(refused), code=refused.code) from refused


class ExactField(forms.CharField):
    """A decimal number as written, cleaned to a Decimal; None where it may be left empty and is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}), max_length=60, **kwargs)

    def clean(self, value: Any) -> Decimal | None:
        """A finite decimal; its limits are the service's to say."""
        text = super().clean(value)
        if not text:
            return None
        try:
            return rho.number(with_point(text), field=str(self.label))
        except Refused as refused:
            raise forms.ValidationError(_expected(refused), code=refused.code) from refused


def _expected(refused: Refused) -> str:
    said = refused.detail.removeprefix(f"{refused.field}: ").removesuffix(".")
    return f"{said[:1].upper()}{said[1:]}."
