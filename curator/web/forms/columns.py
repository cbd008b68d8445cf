"""One column of a file as its curator declares it: a kind, its domain, and what becomes of cells that do not fit.

The form knows how a column is typed; what a column may be is the schema's to say (`mechanism.columns`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from curator.mechanism.columns import FALSE_TEXTS, TRUE_TEXTS
from curator.mechanism.dates import FORMS, ISO
from curator.mechanism.errors import Refused
from curator.web.fields import with_point

KINDS = [
    ("", "Leave it out"), ("category", "Categories"), ("boolean", "Yes or no"), ("integer", "Whole numbers"),
    ("decimal", "Decimals"), ("date", "Dates"),
]  # fmt: skip
DATE_FORMS = [(form, f"{form} (ISO)" if form == ISO else form) for form in FORMS]
RULES = [("clamp", "move to the nearest bound"), ("other", "keep apart as “other”"), ("missing", "count as missing")]
MAX_VALUES_FILE = 2_000_000  # bytes
#: Which boxes speak of which kind.
PARTS: Mapping[str, Sequence[str]] = {
    "category": ("values", "spellings"), "boolean": ("true_texts", "false_texts"), "integer": ("low", "high"),
    "decimal": ("low", "high", "step"), "date": ("low", "high", "date_format"),
}  # fmt: skip


class Lines(forms.CharField):
    """Texts, one on a line; blank lines are nothing."""

    def __init__(self, *, rows: int, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(widget=widget, required=False, max_length=2_000_000, **kwargs)

    def clean(self, value: Any) -> Any:
        """A list of texts."""
        return [line.strip() for line in (super().clean(value) or "").splitlines() if line.strip()]


class ColumnForm(forms.Form):
    """One column; `column()` is what the schema reads."""

    kind = forms.ChoiceField(label="What does it hold?", choices=KINDS, required=False, widget=forms.RadioSelect)
    title = forms.CharField(label="Title", max_length=200, required=False, help_text="What people call it. Public.")
    values = Lines(label="Values", rows=7, help_text="One on a line, in their order. From the code book, not from the file.")
    values_file = forms.FileField(label="or a file of them", required=False, help_text="Plain text, one value on a line.")
    spellings = Lines(
        label="Other spellings in the file (in the file = declared value)", rows=3,
        help_text="One on a line: female = F, where the file says female for the value F.",
    )  # fmt: skip
    date_format = forms.ChoiceField(
        label="Dates in the file are written", choices=DATE_FORMS, required=False, initial=ISO,
        help_text="What cannot be read so becomes what is said below. The bounds are YYYY-MM-DD all the same.",
    )  # fmt: skip
    low = forms.CharField(label="Lowest", max_length=60, required=False)
    high = forms.CharField(label="Highest", max_length=60, required=False)
    step = forms.CharField(label="Step", max_length=60, required=False, help_text="Between two values, as in 0.01.")
    true_texts = Lines(label="Means yes", rows=3, help_text="One on a line; case does not matter.")
    false_texts = Lines(label="Means no", rows=3)
    missing = forms.BooleanField(label="Blank cells are possible and kept apart as “missing”", required=False)
    missing_texts = Lines(label="Texts that mean missing", rows=3, help_text="One on a line, as in NA or -9. Blank always does.")
    out_of_domain = forms.ChoiceField(label="Cells outside the domain", choices=RULES, required=False)
    not_listed = forms.ChoiceField(label="Cells with none of the values", choices=RULES[1:], required=False)

    def __init__(self, *args: Any, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        for (
            field
        ) in self.fields.values():  # which boxes are needed hangs on the kind: to call each of them optional would mislead
            field.either = True  # type: ignore[attr-defined]  # a template's word

    @property
    def kinds(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The boxes by whom they are for."""
        return [
            ("for-category", [self["values"], self["values_file"], self["spellings"]]),
            ("for-boolean", [self["true_texts"], self["false_texts"]]),
            ("for-ordered", [self["low"], self["high"]]),
            ("for-decimal", [self["step"]]),
            ("for-date", [self["date_format"]]),
        ]

    def clean_values_file(self) -> list[str]:
        """The lines of the small file."""
        file = self.cleaned_data.get("values_file")
        if not isinstance(file, UploadedFile):
            return []
        if (file.size or 0) > MAX_VALUES_FILE:
            raise forms.ValidationError(f"At most {MAX_VALUES_FILE:,} bytes.")
        try:
            text = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError("Expected plain text in UTF-8, one value on a line.") from None
        return [line.strip() for line in text.splitlines() if line.strip()]

    def clean_spellings(self) -> dict[str, list[str]]:
        """Spellings by value."""
        found: dict[str, list[str]] = {}
        for line in self.cleaned_data["spellings"]:
            text, sign, value = (part.strip() for part in line.rpartition("="))
            if not sign or not text or not value:
                raise forms.ValidationError(f"Expected a text, = and a value on each line: {line[:60]}")
            found.setdefault(value, []).append(text)
        return found

    def clean(self) -> dict[str, Any]:
        """Bounds and step of numbers may have a decimal comma."""
        data = super().clean() or {}
        for name in ("low", "high", "step") if data.get("kind") in ("integer", "decimal") else ():
            try:
                data[name] = with_point(data.get(name, ""))
            except Refused as refused:
                self.add_error(name, refused.detail)
        return data

    def column(self) -> dict[str, object]:
        """The column as a schema has it; boxes for other kinds count for nothing."""
        data = self.cleaned_data
        entry: dict[str, object] = {name: data[name] for name in PARTS.get(data["kind"], ()) if data.get(name)}
        if data["kind"] == "category" and data.get("values_file"):
            entry["values"] = data["values_file"]
        texts = ["", *data["missing_texts"]]
        return {
            "name": self._name, "kind": data["kind"], "title": data["title"], **entry, "missing": data["missing"],
            "missing_texts": list(dict.fromkeys(texts)), "out_of_domain": self._rule(),
        }  # fmt: skip

    def box_of(self, field: str | None) -> str | None:
        """The box that a refusal about a part of the column belongs to."""
        return "not_listed" if field == "out_of_domain" and self.cleaned_data["kind"] in ("category", "boolean") else field

    def _rule(self) -> str:
        """Each of the two boxes has the rules that fit its kinds."""
        listed = self.cleaned_data["kind"] in ("category", "boolean")
        rule: str = self.cleaned_data["not_listed" if listed else "out_of_domain"]
        return rule


def initial_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A column of a schema as the form shows it."""
    spellings = [f"{text} = {value}" for value, texts in entry.get("spellings", {}).items() for text in texts]
    lines = {
        "values": entry.get("values", ()), "spellings": spellings,
        "missing_texts": [text for text in entry.get("missing_texts", ()) if text],
        "true_texts": entry.get("true_texts", TRUE_TEXTS), "false_texts": entry.get("false_texts", FALSE_TEXTS),
    }  # fmt: skip
    plain = {name: entry.get(name, "") for name in ("kind", "title", "low", "high", "step", "missing", "out_of_domain")}
    plain |= {"not_listed": plain["out_of_domain"], "date_format": entry.get("date_format", ISO)}
    return {**plain, **{name: "\n".join(texts) for name, texts in lines.items()}}
