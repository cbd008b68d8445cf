"""Forms of the budget workflow."""

from django import forms

from curator.web.fields import RhoField

WHOLE = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off", "form": "request"})


class RequestForm(forms.Form):
    """An analyst asks for more."""

    amount = RhoField(label="How much more (ρ)", help_text="On top of the allotment you have.")
    reason = forms.CharField(label="What for", max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}))


class NeedForm(forms.Form):
    """How many counts somebody has in mind, and how exact: worked out as an amount."""

    counts = forms.IntegerField(label="Counts", min_value=1, max_value=1_000_000, initial=20, widget=WHOLE)
    within = forms.IntegerField(label="each within ±", min_value=1, max_value=10**9, initial=25, widget=WHOLE)


class DecisionForm(forms.Form):
    """A curator decides."""

    granted = RhoField(label="Grant (ρ)", required=False)
    note = forms.CharField(max_length=2_000, required=False)
