"""Every address of the site; each part owns its own."""

from django.urls import include, path

urlpatterns = [
    path("", include("accounts.urls")),
    path("", include("curator.web.urls")),
    path("api/", include("curator.api.urls")),
]

handler404 = "curator.web.errors.not_found"
