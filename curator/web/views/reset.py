"""A new password by e-mail. What the first page answers never depends on whether anybody has the address."""

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import SetPasswordForm
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.views.decorators.http import require_http_methods

from accounts import resets
from accounts.forms import ForgottenForm
from accounts.models import User
from rdp_site.addresses import client_network


@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for the link."""
    form = ForgottenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        resets.ask(form.cleaned_data["email"], address=client_network(request))
        return render(request, "account/forgotten_sent.html")
    return render(request, "account/forgotten.html", {"form": form}, status=400 if form.is_bound else 200)


class NewPassword(auth.PasswordResetConfirmView):
    """The page behind the link (Django's own tokens: one hour, once, and not after the password has changed)."""

    template_name = "account/password_new.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Set it, record it, and let them sign in with it."""
        with transaction.atomic():  # the password and its event, or neither
            answer = super().form_valid(form)
            resets.finished(form.user)
        messages.success(self.request, "Your new password is set. Sign in with it.")
        return answer

    def form_invalid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Show what was wrong."""
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer
