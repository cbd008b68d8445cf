"""Signing in and out, and changing one's password."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy

from accounts import profile, sign_ins, throttles
from accounts.forms import SignInForm
from accounts.hashing import turn
from accounts.models import User
from curator.mechanism.errors import TooMany
from curator.refusals import retry_after
from rdp_site.addresses import client_network


class SignIn(auth.LoginView):
    """The sign-in page. Before any password is hashed: so many tries from one network, so few hashes at a time.

    Guesses at one name are stopped by django-axes, by name and address together: whoever is guessed at signs in from elsewhere.
    """

    template_name = "account/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try, or say when to try again (429)."""
        try:
            throttles.check("sign-in", client_network(request), settings.SIGN_IN_RATE)
            with turn():
                return super().post(request, *args, **kwargs)
        except TooMany as refused:
            return self._later(refused)

    def _later(self, refused: TooMany) -> HttpResponse:
        """The page again, without a look at what was typed."""
        context = self.get_context_data(form=self.get_form_class()(self.request), later=refused.detail)
        return self.render_to_response(context, status=429, headers=retry_after(refused))

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

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try, or say when to try again (429): whoever finds a session left open does not go on guessing."""
        assert isinstance(request.user, User)
        try:
            profile.count_guess(request.user)
        except TooMany as refused:
            context = self.get_context_data(form=self.get_form_class()(request.user), later=refused.detail)
            return self.render_to_response(context, status=429, headers=retry_after(refused))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Change it and say so."""
        user = form.user
        assert isinstance(user, User)
        with transaction.atomic():  # the password and its event, or neither
            answer = super().form_valid(form)
            sign_ins.password_changed(user)
        messages.success(self.request, "Your password is changed.")
        return answer

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        """Show what was wrong."""
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer
