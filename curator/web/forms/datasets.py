"""Uploading a file: what it is, whom it protects, and which columns it has."""

from django import forms

from curator.services.datasets import PrivacyUnit, privacy_unit

UNITS = [
    ("record", "Each record is one person."),
    ("person", "A person may have several records: a column says whose they are."),
]


class UploadForm(forms.Form):
    """A new version of a dataset."""

    table = forms.CharField(label="Table name", max_length=63, initial="people", help_text="What a question's FROM says.")
    file = forms.FileField(label="File", help_text="CSV, TSV or Parquet, with a header.")
    unit = forms.ChoiceField(label="Whom does it protect?", choices=UNITS, widget=forms.RadioSelect)
    person_column = forms.CharField(label="Column that names the person", max_length=200, required=False)
    k = forms.CharField(
        label="Most records of one person", max_length=6, required=False, widget=forms.TextInput(attrs={"inputmode": "numeric"})
    )
    schema = forms.CharField(
        label="Columns, as JSON",
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
        help_text="Public: everybody in a contract over this data sees it.",
        max_length=2_000_000,
    )

    @property
    def about(self) -> list[forms.BoundField]:
        """What is asked before the file."""
        return [self[name] for name in ("name", "description", "source", "table") if name in self.fields]

    def privacy_unit(self) -> PrivacyUnit:
        """The unit as stated. Refused where it is not stated whole."""
        data = self.cleaned_data
        return privacy_unit(data["unit"], person_column=data["person_column"], k=data["k"])


class DatasetForm(UploadForm):
    """A new dataset with its first version."""

    name = forms.CharField(label="Name", max_length=120)
    description = forms.CharField(label="Description", max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 2}))
    source = forms.CharField(label="Source", max_length=2_000, required=False)
