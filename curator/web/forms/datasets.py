"""Uploading a file: what it is, whom it protects, and which columns it has."""

from collections.abc import Sequence
from typing import Any

from django import forms

from curator.models import Contract, DatasetVersion
from curator.selectors.fitting import Misfit
from curator.services.datasets import PrivacyUnit, privacy_unit

UNITS = [
    ("record", "Each record is one person."),
    ("person", "A person may have several records: a column says whose they are."),
]


class UploadForm(forms.Form):
    """A new version of a dataset."""

    table = forms.CharField(
        label="Table name", max_length=63, initial="people", help_text="What a question's FROM says.", required=False
    )
    file = forms.FileField(label="File", help_text="CSV, TSV or Parquet, with a header.")
    unit = forms.ChoiceField(label="Whom does it protect?", choices=UNITS, widget=forms.RadioSelect, required=False)
    person_column = forms.CharField(label="Column that names the person", max_length=200, required=False)
    k = forms.CharField(
        label="Most records of one person", max_length=6, required=False, widget=forms.TextInput(attrs={"inputmode": "numeric"})
    )
    schema = forms.CharField(
        label="Columns, as JSON",
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
        help_text="Public: everybody in a contract over this data sees it.",
        max_length=2_000_000,
        required=False,
    )

    @property
    def about(self) -> list[forms.BoundField]:
        """What is asked before the file."""
        return [self[name] for name in ("name", "description", "source") if name in self.fields]

    @property
    def declared(self) -> bool:
        """Whether the columns come with the file, so that nothing is left to declare."""
        return bool(self.cleaned_data["schema"])

    @property
    def declares(self) -> bool:
        """Whether that part of the form must be seen."""
        return self.is_bound and any(
            name in self.errors or self.data.get(name) for name in ("schema", "unit", "person_column", "k")
        )

    def clean(self) -> dict[str, Any]:
        """With columns declared beforehand the privacy unit is needed too: it has no default."""
        data = super().clean() or {}
        if data.get("schema"):
            for name in ("unit", "table"):
                if not data.get(name) and name not in self.errors:
                    self.add_error(name, "This field is required.")
        return data

    def privacy_unit(self) -> PrivacyUnit:
        """The unit as stated. Refused where it is not stated whole."""
        data = self.cleaned_data
        return privacy_unit(data["unit"], person_column=data["person_column"], k=data["k"])


class DatasetForm(UploadForm):
    """A new dataset with its first version."""

    name = forms.CharField(label="Name", max_length=120)
    description = forms.CharField(label="Description", max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 2}))
    source = forms.CharField(label="Source", max_length=2_000, required=False)


class FileForm(forms.Form):
    """A mended file in place of one that was refused."""

    file = forms.FileField(label="File", help_text="CSV, TSV or Parquet, with a header.")


class ReadingForm(forms.Form):
    """How text is read, where the header misleads."""

    delimiter = forms.ChoiceField(label="Delimiter", choices=[(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")])
    decimal_comma = forms.TypedChoiceField(
        label="Decimal sign", choices=[("False", "point"), ("True", "comma or point")], coerce=lambda text: text == "True"
    )


class CheckForm(forms.Form):
    """Whether to be shown the texts that do not fit, as somebody who knows what it means."""

    acknowledged = forms.BooleanField(
        label="List the texts that do not fit: I know that they are values of records, and that my asking goes onto the record.",
        required=False,
    )


class SuggestForm(forms.Form):
    """Which columns to look at, and that one knows what it means."""

    columns = forms.MultipleChoiceField(label="Columns", widget=forms.CheckboxSelectMultiple)
    acknowledged = forms.BooleanField(
        label="I know that a domain taken from the records can give them away, and that my asking goes onto the record.",
        required=True,
    )

    def __init__(self, *args: Any, names: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["columns"] = forms.MultipleChoiceField(
            label="Columns", widget=forms.CheckboxSelectMultiple, choices=[(name, name) for name in names]
        )


class FreezeForm(forms.Form):
    """Whom a declared file protects, and what its table is called."""

    unit = forms.ChoiceField(label="Whom does it protect?", choices=UNITS, widget=forms.RadioSelect)
    person_column = forms.ChoiceField(label="Column that names the person", required=False)
    k = forms.CharField(
        label="Most records of one person", max_length=6, required=False, widget=forms.TextInput(attrs={"inputmode": "numeric"})
    )
    table = forms.CharField(label="Table name", max_length=63, help_text="What a question's FROM says.")

    def __init__(self, *args: Any, names: Sequence[str], misfits: Sequence[Misfit] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["misfits"] = forms.MultipleChoiceField(
            widget=forms.CheckboxSelectMultiple, required=False, choices=[(one.name, one.words) for one in misfits]
        )
        choices = [("", "none"), *((name, name) for name in names)]
        self.fields["person_column"] = forms.ChoiceField(
            label="Column that names the person", choices=choices, required=False, help_text="One that is not declared."
        )
        for name in ("person_column", "k"):
            self.fields[name].either = True  # type: ignore[attr-defined]  # a template's: needed with the second choice above

    def privacy_unit(self) -> PrivacyUnit:
        """The unit as stated. Refused where it is not stated whole."""
        data = self.cleaned_data
        return privacy_unit(data["unit"], person_column=data["person_column"], k=data["k"])


class UseForm(forms.Form):
    """Which contract is to be about a version, and why."""

    contract = forms.ChoiceField(label="Contract")
    reason = forms.CharField(label="Reason", max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, contracts: Sequence[Contract], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["contract"] = forms.ChoiceField(label="Contract", choices=[(str(row.uid), row.name) for row in contracts])


class OverlapForm(forms.Form):
    """What a version shares with another."""

    other = forms.ChoiceField(label="The other version")
    same_people = forms.ChoiceField(
        label="Are they about the same people?", widget=forms.RadioSelect,
        choices=[("yes", "Yes, or some of them"), ("no", "No: nobody is in both")],
    )  # fmt: skip
    reason = forms.CharField(label="How do you know?", max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, others: Sequence[DatasetVersion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(row.uid), f"{row.dataset.name}, version {row.number}") for row in others]
        self.fields["other"] = forms.ChoiceField(label="The other version", choices=choices)
