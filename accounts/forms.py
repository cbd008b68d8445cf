"""Forms of one's own account."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from accounts.models import Role


class SignInForm(AuthenticationForm):
    """User name and password; the refusal is the same for a name that nobody has."""

    error_messages = {
        "invalid_login": "User name and password do not fit together. Mind upper and lower case in the password.",
        "inactive": "User name and password do not fit together. Mind upper and lower case in the password.",
    }
    username = forms.CharField(
        label="User name", max_length=150, widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "username"})
    )


def _password(label: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, strip=False, max_length=1_000, widget=widget, help_text=help_text)


class JoinForm(forms.Form):
    """Somebody new, who comes by an invitation."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="How others here see you; it cannot be changed later. Letters a to z, digits and @ . + - _",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    email = forms.EmailField(label="Mail address", required=False, help_text="For notices, and for a new password.")
    password = _password("Password")
    repeated = _password("The same again")

    def __init__(self, *args: Any, invited: str = "", **kwargs: Any) -> None:
        """`invited`: the address that the invitation went to; nobody is asked for it again."""
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = "At least 8 characters; no common word, not your name, not digits alone."
        if invited:
            del self.fields["email"]

    def clean(self) -> dict[str, Any]:
        """The two passwords are one."""
        data = super().clean() or {}
        if data.get("password") and data.get("repeated") and data["password"] != data["repeated"]:
            self.add_error("repeated", "This is not the same password.")
        return data


class ForgottenForm(forms.Form):
    """Asking for a link to a new password."""

    email = forms.EmailField(label="Mail address", widget=forms.EmailInput(attrs={"autocomplete": "email"}))


class EmailForm(forms.Form):
    """Another mail address for one's account."""

    email = forms.EmailField(
        label="Mail address", required=False, help_text="Empty: no mail at all, and no new password by mail."
    )
    password = forms.CharField(
        label="Your password",
        strip=False,
        max_length=1_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text="Because a new password can be asked for by mail.",
    )


class TokenForm(forms.Form):
    """A key for programs."""

    name = forms.CharField(label="Name", max_length=60, help_text="What it is for: monthly report, notebook.")
    scope = forms.ChoiceField(
        label="It may",
        choices=[("read", "read and ask for quotes"), ("ask", "do all that I may: ask, request, decide")],
    )
    days = forms.IntegerField(label="Days until it ends", initial=90, min_value=1, max_value=366)


class PersonForm(forms.Form):
    """Somebody new, made by a curator."""

    username = forms.CharField(label="User name", max_length=150, help_text="Letters a to z, digits and @ . + - _")
    email = forms.EmailField(label="Mail address", required=False)
    roles = forms.MultipleChoiceField(label="Roles", choices=Role.choices, widget=forms.CheckboxSelectMultiple)
