"""The page of released answers: what is typed is searched for, kept from page to page, and said where it is wrong."""

import re

import pytest

from tests.web.scene import Scene, browser_of, make_scene
from tests.web.test_asking import html, text

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


def page(scene: Scene, who: str = "alice", **search: str) -> tuple[int, str, str]:
    answer = browser_of(getattr(scene.people, who)).get(f"/contracts/{scene.contract.uid}/released/", search)
    return answer.status_code, html(answer), text(answer)


def test_the_column_and_the_bound_narrow_the_list(scene: Scene) -> None:
    assert "city = &#x27;Oslo&#x27;" in page(scene)[1]
    status, shown, _ = page(scene, column="age")
    assert (status, "city =" in shown, "age" in shown) == (200, False, True)
    assert '<option value="age" selected>' in shown
    status, shown, told = page(scene, within="5", column="city")
    assert (status, "Nothing like it is known to within ±5 people at 95" in told) == (200, True)


def test_a_bound_is_stated_at_the_confidence_looked_at_and_asking_there_is_free(scene: Scene) -> None:
    _, shown, told = page(scene, column="age", confidence="99")
    assert "Free within, 99" in told
    bound = re.search(r"±(\d+)</td>", shown)
    address = re.search(r'href="([^"]+\?release=[^"]+)"', shown)
    assert bound and address
    form = browser_of(scene.people.bob).get(address[1].replace("&amp;", "&"))
    assert re.search(rf'name="amount"[^>]* value="{bound[1]}"', html(form))
    assert re.search(r'name="confidence"[^>]* value="99"', html(form))
    assert "nothing" in text(form)
    assert "Ask, free" in re.sub(r"\s+,", ",", text(form))


@pytest.mark.parametrize(
    ("search", "field"),
    [
        ({"within": "-5"}, "within"), ({"within": "NaN"}, "within"), ({"within": "1e309"}, "within"),
        ({"within": "2.5"}, "within"),
        ({"within": "1000000001"}, "within"), ({"confidence": "120"}, "confidence"), ({"confidence": "x"}, "confidence"),
        ({"confidence": "-inf"}, "confidence"), ({"column": "nothing"}, "column"), ({"column": "AGE"}, "column"),
    ],
)  # fmt: skip
def test_a_search_that_makes_no_sense_is_said_at_its_field(scene: Scene, search: dict[str, str], field: str) -> None:
    status, shown, _ = page(scene, **search)
    assert status == 400
    assert f'id="{field}-problem"' in shown


def test_dora_reads_them_too_but_has_nothing_to_ask(scene: Scene) -> None:
    status, shown, _ = page(scene, who="dora")
    assert status == 200
    assert "?release=" not in shown


@pytest.mark.parametrize("after", ["x", "-1", "9" * 40, "0", "٣"])
def test_a_mark_that_is_none_is_the_beginning(scene: Scene, after: str) -> None:
    assert page(scene, after=after)[0] == 200
