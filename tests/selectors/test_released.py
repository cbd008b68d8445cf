"""What is known already: by column and not by a word that looks like one, by text, and by what is accurate enough for nothing."""

from decimal import Decimal

import pytest

from curator.models import Contract
from curator.selectors.released import Sought, released
from curator.services import execution
from tests.cast import ROWS, Cast, cast, make_contract, make_version
from tests.web.scene import ask, within

pytestmark = pytest.mark.usefixtures("db")

#: Names that contain each other, need quoting, or stand in another's values.
AWKWARD = ("age", "wage", "a b", 'q"q', "x'y", "o'age'o", "100%", "a.b", "capital-gain", "order", "年齢", "AGE")


def texts(contract: Contract, **sought: object) -> set[str]:
    return {line.text for line in released(contract, Sought(**sought)).items}  # type: ignore[arg-type]  # names as the dataclass has them


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@pytest.fixture
def contract(people: Cast) -> Contract:
    """A count of each awkward column, and one of a city that is called like a column."""
    columns = [
        {"name": name, "kind": "category", "values": ["age", "no a b here", "100%"], "out_of_domain": "other"} for name in AWKWARD
    ]
    rows = [dict.fromkeys(AWKWARD, "age") for _ in ROWS]
    contract = make_contract(people, make_version(people.carol, rows=rows, schema={"columns": columns}))
    for place, name in enumerate(AWKWARD):
        ask(people, contract, "alice", within(10 + place, {"column": name, "equals": "no a b here"}), key=name)
    ask(people, contract, "alice", within(50, {"all": [{"column": "wage", "equals": "age"}]}), key="both")
    execution.run(contract.pk)
    return contract


@pytest.mark.parametrize("name", AWKWARD)
def test_a_column_finds_the_answers_about_it_and_no_others(contract: Contract, name: str) -> None:
    found = texts(contract, column=name)
    expected = {line.text for line in released(contract, limit=99).items if line.text.startswith(written(name))}
    assert found == expected
    assert len(found) == (2 if name == "wage" else 1)


def written(name: str) -> str:
    """The beginning of a condition about it."""
    plain = name.isidentifier() and name.isascii() and name != "order"
    return (name if plain else '"' + name.replace('"', '""') + '"') + " "


def test_text_is_found_in_values_in_any_case(contract: Contract) -> None:
    assert len(texts(contract, search="NO A B")) == len(AWKWARD)
    assert texts(contract, search="%%") == texts(contract, search="nowhere") == set()


def test_free_at_this_accuracy_lists_exactly_what_asking_would_cost_nothing(contract: Contract) -> None:
    for bound in (9, 10, 12, 15, 50, 10**9):
        lines = released(contract, Sought(within=bound), limit=99).items
        assert {line.digest for line in lines} == {x.digest for x in released(contract, limit=99).items if x.bound <= bound}
    assert len(released(contract, Sought(within=10)).items) == 1
    surer = released(contract, Sought(within=10, confidence=Decimal("0.99"))).items
    assert surer == ()
    assert released(contract, Sought(within=14, confidence=Decimal("0.99"))).items[0].bound == 14


def test_pages_hold_everything_once_in_order(contract: Contract) -> None:
    seen: list[str] = []
    after = 0
    while True:
        page = released(contract, after=after, limit=4)
        seen += [line.digest for line in page.items]
        if not page.more:
            break
        after = int(page.more)
    assert seen == [line.digest for line in released(contract, limit=99).items]
    assert len(seen) == len(set(seen)) == len(AWKWARD) + 1
