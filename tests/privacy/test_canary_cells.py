"""The cells of a file are nobody's to see; its curator sees what was suggested from them, or did not fit what was declared.

Five files with cells that stand nowhere else: described, suggested from, frozen and asked about, refused, declared badly and so
not frozen. Then the search.
"""

import logging
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import chain
from pathlib import Path

import pytest
from django.core.files.base import File

from accounts.models import Role
from curator.models import Dataset, Upload
from curator.services import datasets, denials, uploads
from tests.cast import Cast, make_contract, person
from tests.fixtures.figures import Figure
from tests.fixtures.worker import Worker
from tests.privacy import places
from tests.privacy.sights import make_sights
from tests.privacy.test_canaries import everything, outlets, people, serve
from tests.web.scene import browser_of
from tests.worker.scene import ask, until

__all__ = ["outlets", "people"]
Start = Callable[..., Worker]
REFUSED = "column_does_not_fit"
TOWN = {"name": "town", "kind": "category", "out_of_domain": "other"}
INCOME = {"name": "income", "kind": "integer", "low": 0, "high": 999_999_999}


class Sent:
    """A file of canaries on its way: `cells` stand in it and nowhere else."""

    def __init__(self, people: Cast, name: str, header: str = "who,income,town") -> None:
        towns = [f"zq{secrets.token_hex(6)}" for _ in range(3)]
        rows = [(f"xw{secrets.token_hex(6)}", str(100_000_000 + secrets.randbelow(900_000_000)), towns[i % 3]) for i in range(12)]
        self.cells = set(chain.from_iterable(rows))
        content = "\n".join([header, *map(",".join, rows)]) + "\n"
        dataset = Dataset.objects.create(name=name, owner=people.carol)
        file = File(BytesIO(content.encode()), "people.csv")
        self.upload = uploads.receive(curator=people.carol, dataset=dataset, file=file, filename=f"{name}.csv")
        self.served()

    def served(self) -> Upload:
        """The upload once the worker is done with it."""

        def done() -> bool:
            self.upload.refresh_from_db()
            return self.upload.state not in Upload.BUSY

        until(done)
        return self.upload

    def suggested(self, people: Cast) -> None:
        """Domains of two columns are suggested, as the curator acknowledged."""
        uploads.ask_for_suggestions(curator=people.carol, upload=self.upload, columns=["income", "town"], acknowledged=True)
        self.served()

    def frozen(self, people: Cast) -> None:
        """A version of one column, whose domain the curator typed."""
        uploads.declare(curator=people.carol, upload=self.upload, column=INCOME)
        uploads.hand_over(curator=people.carol, upload=self.upload, unit=datasets.PrivacyUnit("", 1))
        assert self.served().state == "frozen", self.upload.detail

    def misdeclared(self, people: Cast) -> None:
        """Declared so that no cell fits, checked without a word and with one, and refused at freezing by both doors."""
        uploads.declare(curator=people.carol, upload=self.upload, column={**TOWN, "values": ["Elsewhere"]})
        for acknowledged in (False, True):
            uploads.read_again(curator=people.carol, upload=self.upload, acknowledged=acknowledged)
            self.served()
        carol = browser_of(people.carol)
        page = carol.post(f"/uploads/{self.upload.uid}/freeze/", {"unit": "record", "table": "people"})
        body = {"privacy_unit": "record"}
        told = carol.post(f"/api/v1/uploads/{self.upload.uid}/freeze/", body, "application/json")
        assert (page.status_code, told.status_code, told.json()["code"]) == (400, 400, REFUSED)
        denials.tell(datetime.now(UTC) + timedelta(minutes=1))


@pytest.mark.trust
def test_cells_of_a_file_are_for_its_curator_alone_and_only_once_they_are_suggested_from(
    people: Cast, start_worker: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture, figure: Figure
) -> None:
    worker = start_worker(concurrency=1, include="tests.privacy.canary_worker", CANARY_FOLDER=str(tmp_path))
    described, suggested, frozen = (Sent(people, name) for name in ("described", "suggested", "frozen"))
    refused = Sent(people, "refused", header="income,income,town")
    assert (described.upload.state, refused.upload.state) == ("described", "refused")
    suggested.suggested(people)
    frozen.frozen(people)
    caplog.set_level(logging.DEBUG)
    (bad := Sent(people, "misdeclared")).misdeclared(people)
    contract = make_contract(people, frozen.upload.version, rho_total="2")
    serve(ask(people.alice, contract, {"column": "income", "at_least": 500_000_000}, within=5))
    cells = set.union(*(each.cells for each in (described, suggested, frozen, refused, bad)))
    readers = (people.alice, people.carol, people.dora, person("eve", Role.ANALYST, Role.CURATOR, Role.AUDITOR))
    told, raw = everything(worker, make_sights(people, contract), caplog, *readers), list(places.raw_files())
    found = [*places.hits(iter(told), cells), *places.raw_hits(iter(raw), cells)]
    seen = {place for place, _ in found}
    assert seen == {f"carol /uploads/{suggested.upload.uid}/columns/{place}/" for place in (1, 2)} | {
        f"carol /api/v1/uploads/{each.upload.uid}/columns/" for each in (suggested, bad)
    } | {f"carol /uploads/{bad.upload.uid}/columns/2/"}
    assert {cell for _, cell in found} <= suggested.cells | bad.cells
    assert [*places.hits(iter(told), {REFUSED}), *places.raw_hits(iter(raw), {REFUSED})] == []
    where = len(told) + len(raw)
    figure(row=10, n=len(cells) * where, seen=f"{len(cells)} cells of files in {where} places: seen by their curator alone")


@pytest.mark.trust
def test_a_worker_that_quotes_a_cell_is_found_out(people: Cast, start_worker: Start, tmp_path: Path, figure: Figure) -> None:
    (tmp_path / "leak").write_text("cell")
    worker = start_worker(concurrency=1, include="tests.privacy.canary_worker", CANARY_FOLDER=str(tmp_path))
    sent = Sent(people, "described")
    worker.wait_for("odd cells")
    assert {place for place, _ in places.hits(places.logs(worker), sent.cells)} == {"log of the worker"}
    figure(row=10, n=len(sent.cells), mutant="a cell of a file in a log line: caught")
