"""The layers, seen from fresh interpreters: what gets loaded shows what can be reached (import-linter reads it from the text)."""

from pathlib import Path

import pytest

from rdp_site.environment import ROOT
from tests.site.commands import environment, python

LIST = "import sys, importlib\nfor name in {names!r}: importlib.import_module(name)\nprint(*sys.modules)"
# Not polars: OpenDP loads it where it is installed.
FORBIDDEN = {"django", "rest_framework", "celery", "kombu", "sqlglot", "ibis", "psycopg", "pandas", "rdp_site", "accounts"}


def modules(folder: str) -> list[str]:
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def loaded(names: list[str], tmp_path: Path, *, first: str = "") -> set[str]:
    return set(
        python(first + LIST.format(names=names), env=environment(tmp_path, DJANGO_SETTINGS_MODULE="rdp_site.settings")).split()
    )


def test_the_mechanism_stands_alone(tmp_path: Path) -> None:
    names = modules("curator/mechanism")
    found = loaded(names, tmp_path)
    assert len(names) >= 20
    assert set(names) <= found
    assert {name.partition(".")[0] for name in found} & FORBIDDEN == set()


@pytest.mark.parametrize("folder", ["curator/web", "curator/api", "curator/selectors", "accounts"])
def test_pages_api_and_reads_never_load_the_engine(folder: str, tmp_path: Path) -> None:
    names = [name for name in modules(folder) if ".migrations" not in name and ".management" not in name]
    found = loaded(names, tmp_path, first="import django; django.setup()\n")
    assert set(names) <= found
    assert [name for name in found if name.startswith("curator.engine")] == []
    assert "ibis" not in found


def test_the_worker_does(tmp_path: Path) -> None:
    assert "curator.engine" in loaded(["curator.tasks"], tmp_path, first="import django; django.setup()\n")
