"""Every address of the site; each part owns its own."""

from django.urls import include, path

from rdp_site import health, metrics

urlpatterns = [
    path("", include("accounts.urls")),
    path("", include("curator.web.urls")),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics.metrics),
    path("api/", include("curator.api.urls")),
]

handler404 = "curator.web.errors.not_found"
