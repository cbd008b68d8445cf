"""The cast and an open contract with data, for every test of a service that does not make its own."""

from pathlib import Path

import pytest
from pytest_django import Settings

from curator.models import Contract, Dataset
from curator.services import datasets
from tests.cast import ROWS, Cast, cast, make_contract


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)


@pytest.fixture
def folders(settings: Settings, tmp_path: Path) -> Path:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.VERSIONS_DIR = tmp_path / "versions"
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    return tmp_path


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return datasets.create_dataset(curator=people.carol, name="People")
