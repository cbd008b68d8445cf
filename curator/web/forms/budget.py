"""Forms of the budget workflow."""

from django import forms

from curator.web.fields import RhoField


class RequestForm(forms.Form):
    """An analyst asks for more."""

    amount = RhoField(label="How much more (ρ)", help_text="On top of the allotment you have.")
    reason = forms.CharField(label="What for", max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}))


class DecisionForm(forms.Form):
    """A curator decides."""

    granted = RhoField(label="Grant (ρ)", required=False)
    note = forms.CharField(max_length=2_000, required=False)
