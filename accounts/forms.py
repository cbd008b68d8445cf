"""Forms of one's own account."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm


class SignInForm(AuthenticationForm):
    """User name and password; the refusal is the same for a name that nobody has."""

    error_messages = {
        "invalid_login": "User name and password do not fit together. Mind upper and lower case in the password.",
        "inactive": "User name and password do not fit together. Mind upper and lower case in the password.",
    }
    username = forms.CharField(
        label="User name", max_length=150, widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "username"})
    )
