"""The cast, for every test of a page that does not make its own, with Carol's browser and a contract that leaves Bob little."""

import pytest
from django.test import Client

from curator.models import Contract
from tests.cast import Cast, cast, make_contract
from tests.web.scene import browser_of


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def carol(people: Cast) -> Client:
    return browser_of(people.carol)


@pytest.fixture
def contract(people: Cast) -> Contract:
    return make_contract(people, allotments={"alice": "0.5", "bob": "0.05"})
