"""The page of the mechanism names a test for every promise and every statement of the paper: each must exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "curator" / "mechanism" / "README.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)


def test_every_test_that_the_page_names_exists() -> None:
    assert len(NAMED) > 40
    for file, name in NAMED:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"


def test_every_promise_has_a_test_of_its_number() -> None:
    for number in range(1, 11):
        assert any(name.startswith(f"test_promise_{number}_") for _, name in NAMED), number


def test_every_name_in_the_table_of_symbols_exists() -> None:
    symbols = PAGE.partition("## Symbols in the code")[2].partition("## ")[0]
    for module, name in re.findall(r"`((?:comparators\.)?[a-z]\w+)\.(\w+)", symbols):
        if module not in ("Decision",):
            text = ROOT / "curator" / "mechanism" / (module.replace(".", "/") + ".py")
            package = ROOT / "curator" / "mechanism" / module / f"{name}.py"
            assert package.exists() or re.search(rf"\b{name}\b", text.read_text()), f"{module}.{name}"
