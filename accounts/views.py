"""Signing in and out, and changing one's password."""

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.http import HttpResponse
from django.urls import reverse_lazy

from accounts import sign_ins
from accounts.forms import SignInForm
from accounts.models import User


class SignIn(auth.LoginView):
    """The sign-in page. Attempts are throttled by django-axes before the password is hashed."""

    template_name = "account/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Let them in and record it."""
        answer = super().form_valid(form)
        user = form.get_user()
        assert isinstance(user, User)
        sign_ins.signed_in(user)
        return answer

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Say no and record it; the status says it too."""
        sign_ins.failed(str(form.data.get("username", ""))[:150])
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer


class Password(auth.PasswordChangeView):
    """Change one's own password."""

    template_name = "account/password.html"
    success_url = reverse_lazy("home")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Change it and say so."""
        answer = super().form_valid(form)
        user = form.user
        assert isinstance(user, User)
        sign_ins.password_changed(user)
        messages.success(self.request, "Your password is changed.")
        return answer

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        """Show what was wrong."""
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer
