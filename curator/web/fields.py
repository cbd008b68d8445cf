"""Form fields for amounts and other exact numbers: text in, whole units or decimals out, no float between."""

from decimal import Decimal
from typing import Any

from django import forms

from curator.mechanism import rho
from curator.mechanism.errors import Refused
from curator.mechanism.rho import Units


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
            return rho.parse(text, field=str(self.label))
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
            return rho.number(text, field=str(self.label))
        except Refused as refused:
            raise forms.ValidationError(_expected(refused), code=refused.code) from refused


def _expected(refused: Refused) -> str:
    said = refused.detail.partition(": ")[2] or refused.detail
    return f"{said[:1].upper()}{said[1:]}."
