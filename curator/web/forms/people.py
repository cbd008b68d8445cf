"""Forms about the people of a contract."""

from django import forms

from accounts.invitations import MOST_DAYS, USUAL_DAYS
from curator.web.fields import RhoField

ROLES = [("analyst", "Analyst: asks"), ("curator", "Curator: runs it"), ("auditor", "Auditor: reads the record")]


class MemberForm(forms.Form):
    """Add somebody to a contract."""

    username = forms.CharField(label="User name", max_length=150)
    role = forms.ChoiceField(
        label="Role",
        choices=ROLES,
    )
    allotment = RhoField(
        label="Allotment (ρ)", required=False, help_text="For analysts. Empty: no limit of their own. 0: free answers only."
    )


class AllotmentForm(forms.Form):
    """Set an analyst's allotment."""

    rho = RhoField(label="Allotment (ρ)", required=False)
    reason = forms.CharField(label="Reason", max_length=2_000)


class InvitationForm(forms.Form):
    """Invite somebody who may have no account yet."""

    email = forms.EmailField(label="Mail address", required=False, help_text="Empty: you pass the link on yourself.")
    role = forms.ChoiceField(label="Role", choices=ROLES)
    allotment = RhoField(
        label="Allotment (ρ)", required=False, help_text="For analysts. Empty: no limit of their own. 0: free answers only."
    )
    days = forms.IntegerField(label="Good for (days)", initial=USUAL_DAYS, min_value=1, max_value=MOST_DAYS)
