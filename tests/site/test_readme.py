"""What README.md names is there: paths, settings, error codes, commands."""

import re

import pytest
from django.core.management import get_commands

from rdp_site.environment import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("accounts", "curator", "rdp_site")
    for path in sorted((ROOT / folder).rglob("*.py"))
)


def section(title: str, start: str) -> list[str]:
    """The names in backticks in the first column of the table under `title` whose head begins with `start`."""
    part = README.split(f"## {title}")[1].split("\n## ")[0]
    rows = part.split(f"| {start} |")[1].splitlines()[2:]
    table = [row for row in rows if row.startswith("|")]
    return [name for row in table for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_every_link_leads_to_a_file_of_the_project(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", section("Operating it", "setting"))
def test_every_setting_is_read_from_the_environment(name: str) -> None:
    assert f'"{name}"' in SOURCES


@pytest.mark.parametrize("code", section("The API", "code"))
def test_every_error_code_is_one_that_the_product_gives(code: str) -> None:
    assert f'"{code}"' in SOURCES


@pytest.mark.parametrize("command", sorted(set(re.findall(r"manage\.py (\w+)", README))))
def test_every_command_exists(command: str) -> None:
    assert command in get_commands()


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`?make (\w+)", README)) - {"are"} <= targets


def test_every_switch_of_the_environment_stands_in_the_readme() -> None:
    read = set(re.findall(r'(?:env\.\w+\(|environ\.get\()"([A-Z_]+)"', SOURCES))
    assert read - {"RDP_TESTING"} - set(section("Operating it", "setting")) == set()
