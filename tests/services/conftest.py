"""The cast and an open contract with data, for every test of a service that does not make its own."""

import pytest

from curator.models import Contract
from tests.cast import ROWS, Cast, cast, make_contract


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, rows=ROWS)
