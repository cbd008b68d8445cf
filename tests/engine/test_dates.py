"""Dates as files write them: a form that the curator declares, never one that is guessed."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from curator.engine import files
from curator.engine.describing import describe
from curator.mechanism.dates import FORMS, forms_of, read_written
from curator.mechanism.errors import Refused
from curator.mechanism.schema import Schema
from tests.engine.tables import codes, frozen, put, schema

BORN = {"name": "day", "kind": "date", "low": "2020-01-01", "high": "2020-12-31", "out_of_domain": "other"}
WRITTEN = {
    "yyyy-mm-dd": "2020-04-03", "dd.mm.yyyy": "03.04.2020", "dd/mm/yyyy": "03/04/2020", "mm/dd/yyyy": "04/03/2020",
    "yyyy/mm/dd": "2020/04/03", "yyyymmdd": "20200403",
}  # fmt: skip


def declared(**more: Any) -> Schema:
    return schema({**BORN, **more})


def labels(path: Path, found: Schema) -> list[str]:
    version, _ = frozen(path, found)
    return sorted(found.columns[0].label(row[0]) for row in codes(version))


def test_every_form_has_its_example_here() -> None:
    assert tuple(WRITTEN) == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_a_column_is_read_in_the_form_that_is_declared_and_in_no_other(tmp_path: Path, form: str) -> None:
    other = next(text for name, text in WRITTEN.items() if form not in forms_of(text) and name != form)
    path = put(tmp_path, f"day|x\n{WRITTEN[form]}|\n{other}|\n 31.02.2020 |\n|\n")
    assert labels(path, declared(date_format=form)) == ["2020-04-03", "other", "other", "other"]


@pytest.mark.parametrize(("form", "text"), [
    ("dd.mm.yyyy", "3.4.2020"), ("dd/mm/yyyy", "3/4/2020 0:00"), ("mm/dd/yyyy", "4/3/2020 23:59:59"),
    ("yyyy/mm/dd", "2020/4/3T10:00"), ("yyyy-mm-dd", "2020-04-03T10:00:00Z"),
])  # fmt: skip
def test_days_of_one_digit_and_a_time_after_them_are_read(form: str, text: str) -> None:
    assert read_written(text, form) == date(2020, 4, 3)


@pytest.mark.parametrize(
    "text", ["3.4.20", "31.4.2020", "0.4.2020", "3.4.2020 24:00", "03.04.2020x", "٠٣.٠٤.٢٠٢٠", "3/4.2020", ""]
)
def test_what_is_no_date_is_none_in_any_form(text: str) -> None:
    assert forms_of(text) == ()


def test_the_report_counts_cells_by_form_and_one_cell_under_each_that_reads_it(tmp_path: Path) -> None:
    path = put(tmp_path, "day|point|digits\n03/04/2020|1.2.2020|20200131\n25/04/2020|2.2.2020|20200132\n04/25/2020||7\n")
    found = describe(path).description
    assert found.dates == {
        "day": {"dd/mm/yyyy": 2, "mm/dd/yyyy": 2}, "point": {"dd.mm.yyyy": 2}, "digits": {"yyyymmdd": 1},
    }  # fmt: skip
    assert found.shapes["day"] == {"dated": 3}
    assert found.shapes["digits"] == {"whole": 3}


@pytest.mark.parametrize(("cells", "form"), [
    (("03/04/2020", "25/04/2020"), "dd/mm/yyyy"), (("03/04/2020", "04/25/2020"), "mm/dd/yyyy"),
    (("03.04.2020", "1.12.2020"), "dd.mm.yyyy"), (("03/04/2020", "04/05/2020"), None),
])  # fmt: skip
def test_a_form_is_suggested_only_where_no_other_reads_as_many(tmp_path: Path, cells: tuple[str, ...], form: str | None) -> None:
    path = put(tmp_path, "day|x\n" + "".join(f"{cell}|\n" for cell in cells))
    suggested = describe(path, suggest=["day"]).suggestions["day"]
    assert (suggested or {}).get("date_format") == form
    assert (suggested is None) is (form is None)


def test_the_same_file_is_the_same_in_whatever_form_it_is_declared(tmp_path: Path, settings: Settings) -> None:
    settings.CONTENT_HASH_KEY = "a key of the tests, of more than thirty-two characters"
    path = put(tmp_path, "day|x\n03/04/2020|\n05/04/2020|\n")
    first, _ = frozen(path, declared(date_format="dd/mm/yyyy"), uid="a" * 32)
    second, _ = frozen(path, declared(date_format="mm/dd/yyyy"), uid="b" * 32)
    assert files.alike(second.uid, [first.uid]) == [first.uid]


def test_the_form_is_part_of_the_schema_and_iso_leaves_old_schemas_as_they_were() -> None:
    assert (
        Schema.from_json(json.loads(json.dumps(declared(date_format="dd.mm.yyyy").to_json()))).columns[0].date_format
        == "dd.mm.yyyy"
    )
    assert declared(date_format="yyyy-mm-dd").digest == declared().digest != declared(date_format="dd.mm.yyyy").digest
    with pytest.raises(Refused, match="yyyymmdd"):
        declared(date_format="%d.%m.%Y")
    with pytest.raises(Refused, match="no meaning"):
        schema({"name": "age", "kind": "integer", "low": 0, "high": 9, "date_format": "dd.mm.yyyy"})


def test_questions_and_bounds_are_in_iso_whatever_the_file_does() -> None:
    column = declared(date_format="dd.mm.yyyy").columns[0]
    assert column.label(column.encode_literal("2020-04-03")) == "2020-04-03"
    with pytest.raises(Refused, match="2020-01-01"):
        column.encode_literal("03.04.2020")
    with pytest.raises(Refused, match="YYYY-MM-DD"):
        declared(date_format="dd.mm.yyyy", low="01.01.2020")


def test_each_distinct_text_is_tried_as_a_date_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(text: str) -> tuple[str, ...]:
        tried.append(text)
        return forms_of(text)

    monkeypatch.setattr("curator.engine.shapes.forms_of", counted)
    path = tmp_path / "days.csv"
    path.write_text("day\n31.01.1970\n31.01.1970\n1970-01-31\nnever\n")
    assert describe(path).description.shapes["day"] == {"dated": 2, "date": 1, "text": 1}
    assert sorted(tried) == ["1970-01-31", "31.01.1970", "never"]
