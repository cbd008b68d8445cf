"""A contract that is held back says so at the top of its control page, readable in any light and at any width."""

import os
from pathlib import Path

import pytest

from curator import queue
from curator.services import execution, receipts
from tests.browser.people import let_in
from tests.browser.test_accessibility import violations
from tests.cast import ROWS, cast, make_contract
from tests.fixtures.browser import Window
from tests.worker.scene import ask

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("db")]


def test_a_held_contract_says_so_to_its_curator(window: Window, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)
    people = cast()
    contract = make_contract(people, rows=ROWS)
    for number in range(2):
        ask(people.alice, contract, rho=f"0.0{number + 1}")
        execution.run(contract.pk)
        receipts.path_of(contract.uid).unlink(missing_ok=True)  # the first run leaves them, the second finds them gone
    for scheme, width in (("light", 1280), ("dark", 375)):
        page = window(width=width, scheme=scheme)
        let_in(page, site, people.carol)
        page.goto(f"/contracts/{contract.uid}/control/")
        assert page.get_by_role("heading", name="Nothing is released at the moment").is_visible()
        assert "receipts_missing" in page.inner_text("main")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("RDP_PICTURES"):
            page.screenshot(path=Path(folder) / f"held-{scheme}.png")
