"""How amounts look in JSON: exact decimal strings of rho, with epsilon beside a total."""

from decimal import Decimal
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from curator.mechanism import accounting, rho
from curator.mechanism.rho import Units


@extend_schema_field({"type": "string", "format": "decimal", "example": "0.00480182", "description": "rho, exact"})
class RhoField(serializers.Field):  # type: ignore[type-arg]  # generic in the stubs only
    """Units of rho as an exact decimal string."""

    def to_representation(self, value: Units) -> str:
        """12 decimals at most, no trailing zeros."""
        return rho.text(value)

    def to_internal_value(self, data: Any) -> Units:
        """Parse an amount; Refused with bad_number."""
        return rho.parse(data, field=self.field_name or "rho")


@extend_schema_field(OpenApiTypes.STR)
class TextField(serializers.Field):  # type: ignore[type-arg]  # generic in the stubs only
    """Anything whose `str` is its JSON form: a uid, a decimal, a date."""

    def to_representation(self, value: object) -> str:
        """Plain text; a decimal without exponent."""
        return f"{value:f}" if isinstance(value, Decimal) else str(value)


def epsilon(units: Units, delta: Decimal) -> str:
    """The epsilon of a total at `delta`, rounded up, as text."""
    return f"{accounting.epsilon(units, delta):f}"


Fields = dict[str, "serializers.Field[Any, Any, Any, Any]"]
