"""Signing in and out, and changing one's password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy

from accounts import profile, sign_ins
from accounts.forms import SignInForm
from accounts.hashing import turn
from accounts.models import User
from curator.mechanism.errors import BadInput, TooMany
from curator.refusals import retry_after


class SignIn(auth.LoginView):
    """The sign-in page."""

    template_name = "account/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try, or say when to try again (429)."""
        try:
            form = sign_ins.tried(request, request.POST)
        except TooMany as refused:
            return self._later(refused)
        return self.form_valid(form) if form.is_valid() else self.form_invalid(form)

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
        """Say no; the status says it too."""
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
            form = self.get_form()
            with turn():
                good = form.is_valid()
            return self.form_valid(form) if good else self.form_invalid(form)
        except TooMany as refused:
            context = self.get_context_data(form=self.get_form_class()(request.user), later=refused.detail)
            return self.render_to_response(context, status=429, headers=retry_after(refused))

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Change it and say so."""
        user = form.user
        assert isinstance(user, User)
        try:
            profile.replace_password(user=user, checked=user.password, new=form.cleaned_data["new_password1"])
        except BadInput as refused:
            form.add_error("old_password" if refused.field == "password" else "new_password1", refused.detail)
            return self.form_invalid(form)
        update_session_auth_hash(self.request, user)
        messages.success(self.request, "Your password is changed.")
        return redirect(self.success_url)

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        """Show what was wrong."""
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer
