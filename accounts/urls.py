"""Addresses of one's own account."""

from django.contrib.auth.views import LogoutView
from django.urls import path
from django.views.decorators.cache import never_cache

from accounts.views import Password, SignIn

urlpatterns = [
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("password/", never_cache(Password.as_view()), name="password"),
]
