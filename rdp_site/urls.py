"""Every address of the site; each part owns its own."""

from importlib.util import find_spec

from django.urls import URLPattern, URLResolver, include, path

PARTS = {"": ("accounts.urls", "curator.web.urls"), "api/": ("curator.api.urls",)}

urlpatterns: list[URLPattern | URLResolver] = [
    path(prefix, include(module)) for prefix, modules in PARTS.items() for module in modules if find_spec(module)
]

handler404 = "curator.web.errors.not_found"
