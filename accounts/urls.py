"""Addresses that need no sign-in, and those of one's own password."""

from django.contrib.auth.views import LogoutView
from django.urls import path
from django.views.decorators.cache import never_cache

from accounts.views import Password, SignIn
from curator.web.errors import open_route
from curator.web.views import invitation, reset

urlpatterns = [
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("password/", never_cache(Password.as_view()), name="password"),
    open_route("password/forgotten/", reset.forgotten, "password-forgotten"),
    open_route("password/new/<uidb64>/<token>/", reset.NewPassword.as_view(), "password-new"),
    open_route("invitation/", invitation.kept_invitation, "invitation-kept"),
    open_route("invitation/<str:secret>/", invitation.invitation, "invitation"),
]
