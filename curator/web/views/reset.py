"""A new password by e-mail. What the first page answers never depends on whether anybody has the address."""

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.http import require_http_methods

from accounts import resets
from accounts.forms import ForgottenForm
from accounts.models import User
from curator.mechanism.errors import BadInput
from curator.web.pages import add_refusal
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
        token, new = self.request.session.get(auth.INTERNAL_RESET_SESSION_TOKEN, ""), form.cleaned_data["new_password1"]
        try:
            resets.set_for(form.user, token=token, password=new)
        except BadInput as refused:
            add_refusal(form, refused)
            return self.form_invalid(form)
        del self.request.session[auth.INTERNAL_RESET_SESSION_TOKEN]
        messages.success(self.request, "Your new password is set. Sign in with it.")
        return redirect(self.success_url)

    def get_user(self, uidb64: str) -> User | None:
        """Whom the link is about; nobody where the account was switched off since it was mailed."""
        user = super().get_user(uidb64)
        return user if isinstance(user, User) and user.is_active else None

    def form_invalid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        """Show what was wrong."""
        answer = super().form_invalid(form)
        answer.status_code = 400
        return answer
