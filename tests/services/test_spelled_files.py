"""Letters and names that have several spellings: what a file writes one way and a question another is one and the same."""

from typing import Any

import pytest

from curator.mechanism.errors import BadInput
from curator.models import Answer, Contract, Decision, Query, Upload
from curator.services import datasets, execution, queries, uploads
from curator.services.datasets import PrivacyUnit
from tests.cast import Cast, make_contract
from tests.uploads import sent, served

pytestmark = pytest.mark.usefixtures("db")

COMPOSED, APART = "Orl\u00e9ans", "Orle\u0301ans"
FILES = {
    "UTF-8, letters apart": f"ville 🙂,x\n{APART},\n{COMPOSED},\nRome,\n".encode(),
    "UTF-16 with its mark": f"ville 🙂,x\n{APART},\n{COMPOSED},\nRome,\n".encode("utf-16"),
    "UTF-16, the other end first": f"\ufeffville 🙂,x\n{COMPOSED},\n{APART},\nRome,\n".encode("utf-16-be"),
    "UTF-8 with its mark": f"\ufeffville 🙂,x\n {APART}\u00a0,\n{COMPOSED},\nRome,\n".encode(),
}
TOWN = "ville 🙂"


def opened(people: Cast, content: bytes, name: str, *values: str) -> Contract:
    """A contract over a file of one column that came in through the pages' service."""
    upload = sent(people.carol, content)
    column = {"name": name, "kind": "category", "values": list(values), "out_of_domain": "other"}
    uploads.declare_all(curator=people.carol, upload=upload, columns=[column])
    uploads.hand_over(curator=people.carol, upload=upload, unit=PrivacyUnit(), ring=False)
    return make_contract(people, served(upload).version, rho_total="1000")


def ask(people: Cast, contract: Contract, body: dict[str, Any]) -> Query:
    key = str(Query.objects.count())
    return queries.submit(analyst=people.alice, contract=contract, body={"accuracy": {"rho": "100"}, **body}, key=key)[0]


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_one_letter_in_two_forms_is_one_letter_in_files_and_questions(people: Cast, content: bytes) -> None:
    contract = opened(people, content, TOWN, APART, "Rome")
    assert contract.version.schema["columns"][0]["values"] == [COMPOSED, "Rome"]
    bodies: list[dict[str, Any]] = [
        {"where": {"column": TOWN, "equals": APART}}, {"where": {"column": TOWN, "in": [COMPOSED]}},
        {"sql": f"SELECT COUNT(*) FROM people WHERE \"{TOWN}\" = '{APART}'"}, {"group_by": [{"column": TOWN}]},
    ]  # fmt: skip
    asked = [ask(people, contract, body) for body in bodies]
    execution.run(contract.pk)
    assert [Decision.objects.get(query=query).load > 0 for query in asked] == [True, False, False, True]
    values = Answer.objects.filter(query=asked[-1]).order_by("position").values_list("value", flat=True)
    assert list(values)[:2] == [2, 1]  # at a rho of 100 noise is nought all but never


def test_a_file_in_latin_1_means_the_same_and_its_curator_is_told(people: Cast) -> None:
    contract = opened(people, f"ville;x\n{COMPOSED};\nRome;\n".encode("latin-1"), "ville", APART, "Rome")
    query = ask(people, contract, {"where": {"column": "ville", "equals": COMPOSED}})
    execution.run(contract.pk)
    assert Answer.objects.get(query=query).value == 1
    report = datasets.parse_report(Upload.objects.get())
    assert report is not None
    assert report["foreign_bytes"] == 1


@pytest.mark.parametrize(("header", "name"), [
    ("cafe\u0301", "caf\u00e9"), ("\u212bngstr\u00f6m", "\u00c5ngstr\u00f6m"), ("\ufb01n", "\ufb01n"), (" 年齢\u3000", "年齢"),
    ('"a ""b"" c"', 'a "b" c'), ("🙂", "🙂"), ("\u0130d", "\u0130d"),
])  # fmt: skip
def test_a_name_is_asked_for_as_people_type_it(people: Cast, header: str, name: str) -> None:
    contract = opened(people, f"{header},x\nu,\nv,\n".encode(), name, "u", "v")
    quoted = header if header.startswith('"') else f'"{header}"'
    asked = [
        ask(people, contract, {"where": {"column": name, "equals": "u"}}),
        ask(people, contract, {"sql": f"SELECT COUNT(*) FROM people WHERE {quoted} = 'u'"}),
    ]
    execution.run(contract.pk)
    assert [Decision.objects.get(query=query).load > 0 for query in asked] == [True, False]


def test_letters_that_only_look_alike_are_others_and_the_near_one_is_named(people: Cast) -> None:
    contract = opened(people, b"Rome,x\nu,\n", "Rome", "u", "v")
    for name in ("Rоme", "rome", "Rome\u0301"):  # a Cyrillic letter, a small one, an accent
        with pytest.raises(BadInput) as caught:
            ask(people, contract, {"where": {"column": name, "equals": "u"}})
        assert caught.value.code == "unknown_column"
        assert "Rome" in caught.value.detail
