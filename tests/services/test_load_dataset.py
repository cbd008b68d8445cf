"""Carol loads a file by the command line: it is frozen at once, by the rules of the pages."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from curator.engine import counts
from curator.engine.counts import VersionFile
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema
from curator.models import DatasetVersion
from curator.services import datasets, ingestion
from curator.services.datasets import PrivacyUnit
from tests.cast import SCHEMA, Cast
from tests.services.ingesting import FILE, everybody

pytestmark = pytest.mark.usefixtures("db", "folders")

EACH = ["--one-record-per-person"]


def load(folder: Path, *arguments: str, content: str = FILE, schema: Any = SCHEMA, curator: str = "carol") -> None:
    (folder / "p.csv").write_text(content)
    (folder / "s.json").write_text(json.dumps(schema))
    files = [str(folder / "p.csv"), "--schema", str(folder / "s.json")]
    call_command("load_dataset", *files, "--curator", curator, "--name", "Loaded", *arguments)


def test_the_command_freezes_at_once(people: Cast, folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(folders, "--one-record-per-person")
    load(folders, "--one-record-per-person", content=FILE + "xx,F,Rome,true\n")
    assert [version.number for version in DatasetVersion.objects.filter(dataset__name="Loaded").order_by("pk")] == [1, 2]
    told = capsys.readouterr().out
    assert "version 2 of Loaded" in told
    assert "age: 1 unreadable" in told


def test_the_command_holds_people_to_k(people: Cast, folders: Path) -> None:
    load(folders, "--person-column", "who", "--k", "2", content="who," + FILE.replace("\n", "\nann,")[:-4])
    version = DatasetVersion.objects.get()
    assert (version.person_column, version.k, everybody(version)) == ("who", 2, 1)


@pytest.mark.parametrize(("arguments", "changes", "says"), [
    ([], {}, "--one-record-per-person"), (["--person-column", "who"], {}, "bad_privacy_unit: k: "),
    ([*EACH, "--k", "3"], {}, "bad_privacy_unit"), (EACH, {"curator": "nobody"}, "no user"),
    (EACH, {"curator": "alice"}, "not_found"), (EACH, {"schema": {}}, "bad_schema: columns"),
    (EACH, {"content": "age,sex\n"}, 'no column "city"'), (EACH, {"content": ""}, "The file is empty"),
    ([*EACH, "--table", "a b"], {}, "bad_table: table"),
])  # fmt: skip
def test_the_command_says_what_is_wrong(
    people: Cast, folders: Path, arguments: list[str], changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        load(folders, *arguments, **changes)
    assert caught.value.returncode == 1
    assert not DatasetVersion.objects.exists()


def test_the_command_says_which_file_is_missing(people: Cast, folders: Path) -> None:
    (folder := folders / "empty").mkdir()
    with pytest.raises(CommandError, match=r"s\.json: No such file"):
        call_command("load_dataset", "p.csv", "--schema", str(folder / "s.json"), "--curator", "carol", "--name", "x", *EACH)


def test_the_survey_that_comes_along_fits_its_schema(people: Cast, folders: Path) -> None:
    demo = Path(ingestion.__file__).parents[1] / "demo"
    version = ingestion.load(
        demo / "k401ksubs.csv", curator=people.carol, name="Survey", unit=PrivacyUnit(),
        schema_text=(demo / "k401ksubs.schema.json").read_text(),
    )  # fmt: skip
    report = datasets.parse_report(version.upload)
    assert report is not None
    assert (report["rows"], report["cells"]) == (9_275, {"net_assets": {"outside": 1}})
    schema = Schema.from_json(version.schema)
    older = Region.of(schema, "age", [(schema.column("age").encode_literal(40), schema.column("age").value_count - 1)])
    eligible = Region.of(schema, "eligible", [(1, 1)])
    file = VersionFile(str(version.uid), schema, person=False, k=1)
    assert counts.count(file, [older & eligible])[0]._reveal() == _by_hand(demo / "k401ksubs.csv")


def _by_hand(path: Path) -> int:
    lines: Iterable[list[str]] = (line.split(",") for line in path.read_text().splitlines()[1:])
    return sum(line[0] == "1" and int(line[5]) >= 40 for line in lines)
