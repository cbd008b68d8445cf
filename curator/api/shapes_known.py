"""The JSON shapes of what an analyst can have for nothing: rehearsals, kept questions, answers already released."""

from typing import Any

from rest_framework import serializers

from curator.api.fields import RhoField, TextField

Shape = serializers.Serializer[Any]


class TriedShape(Shape):
    """One bin on made-up people; every figure is made up but the noise."""

    label = serializers.ListField(child=serializers.CharField())  # type: ignore[assignment]  # a member named label; a serializer's own label is not used
    made_up_count = serializers.IntegerField(source="count")
    value = serializers.IntegerField(allow_null=True, help_text="with noise as of an answer from scratch; may be negative")
    bound = serializers.IntegerField(allow_null=True)
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)


class RehearsalShape(Shape):
    """A question tried on people made up from the public schema: says nothing about anybody."""

    made_up = serializers.SerializerMethodField(help_text="always true")
    people = serializers.IntegerField(help_text="how many people were made up")
    bins = serializers.IntegerField(help_text="of the question; the first ones are in `tried`")
    confidence = TextField()
    tried = TriedShape(many=True)
    draws = serializers.SerializerMethodField(help_text="a count drawn again and again, which a real one never is")

    def get_made_up(self, _: Any) -> bool:
        """So that nobody takes these figures for answers."""
        return True

    def get_draws(self, rehearsal: Any) -> list[int]:
        """The values."""
        return [draw.value for draw in rehearsal.draws]


class ReleasedShape(Shape):
    """Something that is known already: what can be had for nothing, and how accurate that is."""

    descriptor = serializers.CharField(source="digest")
    condition = serializers.CharField(source="text", help_text="as SQL")
    value = serializers.IntegerField()
    free_within = serializers.IntegerField(source="bound", help_text="+- people at the confidence sought")
    rho_hist = RhoField()
    releases = serializers.IntegerField()
    latest = serializers.DateTimeField(source="last_at", allow_null=True)


class SavedShape(Shape):
    """A question kept under a name; `request` is the body that asks it."""

    id = TextField(source="uid")
    name = serializers.CharField()
    words = serializers.CharField()
    asked = serializers.CharField()
    saved_at = serializers.DateTimeField()
    request = serializers.JSONField()
