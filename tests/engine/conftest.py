"""A folder of versions for each test, and a key."""

from pathlib import Path

import pytest
from pytest_django import Settings

from curator.engine import counts


@pytest.fixture(autouse=True)
def versions(settings: Settings, tmp_path: Path) -> Path:
    """Where versions of this test are frozen; nothing opened before is remembered."""
    settings.VERSIONS_DIR = tmp_path / "versions"
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    counts._opened.clear()
    return tmp_path / "versions"
