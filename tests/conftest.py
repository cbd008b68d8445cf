"""Fixtures shared by all tests. Those that touch PostgreSQL commit for real: every test has a database of its own."""

import logging
import os
import shutil

import django
import hypothesis
import pytest
from django.conf import settings

from tests.places import session_folder

# Before anything reads the settings: tests never see the checkout's own var/.
_TEMPORARY = session_folder()
os.environ["RDP_VAR"] = str(_TEMPORARY / "var")
os.environ["RDP_RECEIPTS"] = str(_TEMPORARY / "receipts")
os.environ["RDP_TESTING"] = "1"
os.environ["DJANGO_SETTINGS_MODULE"] = "rdp_site.settings"
django.setup()
assert settings.TESTING, "the settings were read before the tests could say where their files go: unset DJANGO_SETTINGS_MODULE"

logging.getLogger("rdp_site.requests").setLevel(logging.WARNING)  # or every failure drowns in lines about requests

# How long an example takes says nothing about the code on a machine that is shared.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

pytest_plugins = ["tests.fixtures.figures", "tests.fixtures.database", "tests.fixtures.worker", "tests.fixtures.browser"]


def pytest_configure(config: pytest.Config) -> None:
    """Let processes of pytest-xdist choose a folder, hence a server, of their own: inheriting this name they would read the
    settings of this process before they come to the lines above.
    """
    if getattr(config.option, "numprocesses", None):
        del os.environ["DJANGO_SETTINGS_MODULE"]


def pytest_unconfigure() -> None:
    """Remove what the session has written."""
    shutil.rmtree(_TEMPORARY, ignore_errors=True)
