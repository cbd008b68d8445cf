"""The table of promises in README.md: made by `make soak` from what tests have measured, and every test it names is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import trust
from rdp_site.environment import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLE = README.split(trust.BEGIN)[1].split(trust.END)[0]
LINE = {"row": 1, "n": 640, "seen": "100 of 640 granted", "mutant": "", "test": "tests/worker/test_races.py::test_a"}


def rows(text: str) -> list[list[str]]:
    """The cells of each row of a table, its head left out."""
    found = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found[1:]]


def test_there_is_one_row_for_each_promise_in_order() -> None:
    assert [row[:2] for row in rows(TABLE)] == [[str(number), promise] for number, promise in trust.PROMISES.items()]
    assert len(trust.PROMISES) == 24


def test_every_test_named_in_a_row_exists() -> None:
    named = set(re.findall(r"tests/[\w/]+\.py", TABLE))
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_a_row_without_a_figure_says_so() -> None:
    made = rows(trust.table([LINE]))
    assert made[0][2:] == ["100 of 640 granted (n = 640)", "", "`make test ARGS=\"-m '' tests/worker/test_races.py\"`"]
    assert all(row[2:] == ["not measured", "", ""] for row in made[1:])


def test_runs_of_one_test_are_added_up_and_mutants_stand_apart() -> None:
    more = [LINE | {"test": f"tests/a.py::test_b[{n}]", "seen": f"run {n}: 0", "n": 50} for n in range(5)]
    more += [LINE | {"seen": "", "mutant": "without the lock | 6.4 times, caught", "n": 640}]
    seen, mutants, command = rows(trust.table(more))[0][2:]
    assert seen == "run 0: 0; and 4 more like it (n = 250)"
    assert mutants == r"without the lock \| 6.4 times, caught (n = 640)"
    assert command.endswith('tests/a.py tests/worker/test_races.py"`')


def test_the_table_is_written_between_its_marks_and_nowhere_else() -> None:
    text = f"before\n{trust.BEGIN}\nold\n{trust.END}\nafter"
    assert trust.written(text, "new") == f"before\n{trust.BEGIN}\nnew\n{trust.END}\nafter"
    with pytest.raises(ValueError, match="unpack"):
        trust.written("no marks", "new")


def test_what_a_test_measures_arrives_in_the_table(tmp_path: Path) -> None:
    """The fixture and the generator speak of the same lines."""
    figures = tmp_path / "figures"
    assert trust.read(figures) == []
    words = [sys.executable, "-m", "pytest", "-q", "-m", "trust", "tests/mechanism/test_noise.py", "-k", "floats_alone"]
    subprocess.run(words, cwd=ROOT, env=_environment(figures), check=True, capture_output=True)
    assert "overspend, caught (n = 300)" in rows(trust.table(trust.read(figures)))[7][3]


def _environment(figures: Path) -> dict[str, str]:
    import os

    unset = ("RDP_VAR", "RDP_TESTING", "DJANGO_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if name not in unset} | {"RDP_FIGURES": str(figures)}
