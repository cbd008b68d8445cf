"""A private cell that makes its reader fail is told to nobody: a fixed sentence and a code, whatever failed and however hard.

The cell SECRET42 breaks a real worker while a file is described, while domains are suggested, while it is frozen, while it is
counted, and (in the slow form) by ending the process itself; each message quotes it. Then it is looked for everywhere.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from curator import queue
from curator.models import Contract, Query, Upload
from curator.services import mailing, uploads
from curator.services.datasets import PrivacyUnit
from tests.cast import Cast, cast, make_contract
from tests.fixtures.figures import Figure
from tests.fixtures.worker import Worker
from tests.privacy import places
from tests.privacy.sights import make_sights
from tests.web.crawling import crawl
from tests.web.scene import browser_of
from tests.worker.scene import WOMEN, ask, is_final, until

SECRET = "SECRET42"
FILE = f"sex,city\nF,Rome\nM,{SECRET}\nF,Oslo\n".encode()
CITY = {"name": "city", "kind": "category", "values": ["Rome", "Oslo"], "out_of_domain": "other"}
SEX = {"name": "sex", "kind": "category", "values": ["F", "M"], "out_of_domain": "other"}
Start = Callable[..., Worker]


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def ends(upload: Upload, *states: str) -> Upload:
    """Wait until a file is where it should be."""

    def there() -> bool:
        upload.refresh_from_db()
        return upload.state in states

    rung(lambda: queue.ring_upload(upload.pk), there)
    return upload


def rung(ring: Callable[[], None], there: Callable[[], bool]) -> None:
    """Wait for something, ringing now and then as the periodic sweep does: more would drown a worker that was lost."""
    tries = itertools.count()

    def done() -> bool:
        if there():
            return True
        if next(tries) % 100 == 99:
            ring()
        return False

    until(done)


def arrived(carol: Client, name: str, *states: str) -> Upload:
    """A file that Carol sends through the page, as far as the worker gets with it."""
    answer = carol.post("/datasets/new/", {"name": name, "file": SimpleUploadedFile("people.csv", FILE)})
    assert answer.status_code == 303
    return ends(Upload.objects.latest("pk"), *states)


def handed_over(people: Cast, upload: Upload) -> Upload:
    uploads.declare_all(curator=people.carol, upload=upload, columns=[SEX, CITY])
    return uploads.hand_over(curator=people.carol, upload=upload, unit=PrivacyUnit())


def every_failure(people: Cast, fail: Path, *, hard: bool) -> Iterator[Upload]:
    """One file for each place where a cell can break what reads it."""
    carol = browser_of(people.carol)
    fail.write_text("describe")
    yield arrived(carol, "Described", "refused")
    fail.write_text("")
    upload = arrived(carol, "Suggested", "described")
    fail.write_text("suggest")
    assert carol.post(f"/uploads/{upload.uid}/suggest/", {"columns": ["city"], "acknowledged": "on"}).status_code == 303
    yield ends(upload, "refused")
    for way in ("freeze", *(["abort"] if hard else [])):
        fail.write_text("")
        upload = arrived(carol, way, "described")
        fail.write_text(way)
        yield ends(handed_over(people, upload), "refused")


def counted_in_vain(people: Cast, fail: Path) -> tuple[Contract, Query]:
    """The file becomes a version, and its count fails."""
    fail.write_text("")
    version = ends(handed_over(people, arrived(browser_of(people.carol), "Counted", "described")), "frozen").version
    assert version is not None
    contract = make_contract(people, version)
    fail.write_text("count")
    query = ask(people.alice, contract, WOMEN, within=20)

    rung(lambda: queue.ring(contract.pk), lambda: is_final(query))
    return contract, query


def kept() -> Iterator[tuple[str, str]]:
    """What stays of files where they are read: reports for their curator, frozen versions."""
    for folder in (settings.UPLOADS_DIR, settings.VERSIONS_DIR):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                yield f"file {path.name}", path.read_bytes().decode("latin-1")


@pytest.mark.trust
@pytest.mark.parametrize("hard", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_private_cell_that_breaks_its_reader_is_told_to_nobody(
    people: Cast, start_worker: Start, tmp_path: Path, figure: Figure, *, hard: bool
) -> None:
    fail = tmp_path / "fail"
    fail.write_text("")
    worker = start_worker(concurrency=1, include="tests.privacy.secret_worker", SECRET_FOLDER=str(tmp_path))
    failed = list(every_failure(people, fail, hard=hard))
    contract, query = counted_in_vain(people, fail)
    assert {(upload.code, upload.detail[:30]) for upload in failed} == {("could_not_be_read", "The file could not be processe")}
    query.refresh_from_db()
    assert (query.state, query.failure) == ("failed", "failed_twice")
    with override_settings(MAIL_AFTER=0.0):
        mailing.deliver()
    api = [f"/api/v1/uploads/{upload.uid}/" for upload in Upload.objects.all()]
    told = [*places.tables(), *places.logs(worker), *kept(), *places.letters()]
    told += places.pages(make_sights(people, contract), people.alice, people.bob, people.carol, people.dora)
    told += [(each.address, each.text) for who in (people.alice, people.carol, people.dora) for each in crawl(who, *api)]
    raw = list(places.raw_files())
    assert list(itertools.chain(places.hits(iter(told), {SECRET}), places.raw_hits(iter(raw), {SECRET}))) == []
    for sign in ("describe_failed", "freeze_failed", "count_failed"):
        assert sign in worker.log
    assert any("could not be processed" in text for place, text in told if place.startswith(("/uploads/", "/api/v1/uploads/")))
    assert len(mail.outbox) >= 1
    figure(row=10, n=len(told) + len(raw), seen="places: 0 with a private cell that broke a worker in four or five ways")
