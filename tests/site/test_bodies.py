"""A body that is too large is refused before it is read, by the server that runs in production."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.http import QueryDict
from django.http.multipartparser import MultiPartParser
from django.test import Client
from django.utils.datastructures import MultiValueDict
from pytest_django import Settings

from accounts.models import User
from curator.models import Dataset, Upload
from rdp_site import bodies
from rdp_site.environment import ROOT
from rdp_site.places import free_port
from tests.cast import Cast, cast
from tests.fixtures.figures import Figure
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")

GIGABYTES_2 = 2 << 30
MOST_SENT = 64 << 20  # of the body, until the refusal arrives: what sockets hold
MOST_PEAK = 100  # megabytes


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


@contextmanager
def served(environment: dict[str, str]) -> Iterator[tuple[int, psutil.Process]]:
    """Gunicorn with one worker on this test's database."""
    port = free_port()
    words = [sys.executable, "-m", "gunicorn", "rdp_site.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "2"]
    process = subprocess.Popen([*words, "--no-control-socket"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        while not _alive(port):
            assert process.poll() is None
        yield port, psutil.Process(process.pid).children()[0]
    finally:
        process.terminate()
        process.wait(30)


def _alive(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=30):
            return True
    except OSError:
        return False


def session_of(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session.session_key or ""


def pour(port: int, path: str, cookie: str) -> tuple[str, int, float]:
    """Send two gigabytes; gives the first line of the answer, how much went out, and the seconds until it came."""
    begun, sent = time.monotonic(), 0
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: sessionid={cookie}\r\nContent-Length: {GIGABYTES_2}\r\n"
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
        connection.setblocking(False)
        while sent < GIGABYTES_2:
            try:
                sent += connection.send(bytes(1 << 20))
            except BlockingIOError:
                pass
            except OSError:  # closed at the other end: the answer waits
                break
            if (answer := _arrived(connection)) is not None:
                return answer, sent, time.monotonic() - begun
        connection.setblocking(True)
        return connection.recv(4096).decode().partition("\r\n")[0], sent, time.monotonic() - begun


def _arrived(connection: socket.socket) -> str | None:
    try:
        return connection.recv(4096).decode().partition("\r\n")[0]
    except BlockingIOError:
        return None


@pytest.mark.trust
def test_promise_22_two_gigabytes_are_refused_unread(
    people: Cast, database_env: dict[str, str], figure: Figure, tmp_path: Path
) -> None:
    cookie = session_of(people.carol)
    with served(database_env | {"TMPDIR": str(tmp_path)}) as (port, server):
        before = server.memory_info().rss
        seconds = []
        paths = ["/datasets/new/", "/contracts/new/", "/sign-in/", "/api/v1/datasets/"]
        for path, key in [*((path, cookie) for path in paths), ("/datasets/new/", "")]:
            line, sent, took = pour(port, path, key)
            assert line.split()[1] == "413", (path, line)
            assert sent < MOST_SENT, path
            seconds.append(took)
        grown = (server.memory_info().rss - before) >> 20
        assert grown < MOST_PEAK
        assert not list(tmp_path.iterdir())
    assert not Upload.objects.exists()
    figure(row=22, n=len(seconds), seen=f"2 GB body refused in at most {max(seconds):.2f} s, server grown by {grown} MB")


def test_each_address_takes_what_it_needs(people: Cast, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 20 << 20
    carol = browser_of(people.carol)
    for client, path, length, status in (
        (carol, "/datasets/new/", 22 << 20, 413), (carol, "/contracts/new/", bodies.FORM + 1, 413),
        (Client(), "/datasets/new/", bodies.FORM + 1, 413), (carol, "/contracts/new/", bodies.FORM, 400),
        (Client(), "/api/v1/tokens/", bodies.FORM + 1, 413),
    ):  # fmt: skip
        answer = client.post(path, b"", content_type="application/x-www-form-urlencoded", CONTENT_LENGTH=str(length))
        assert answer.status_code == status, path
    assert answer.json()["code"] == "body_too_large"
    assert not Dataset.objects.exists()


@pytest.mark.trust
def test_without_a_look_at_the_length_large_bodies_would_be_read(
    people: Cast, settings: Settings, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    """The form's own limit comes after every byte was read and written to disk."""
    monkeypatch.setattr(bodies, "most_bytes", lambda *_: sys.maxsize)
    large = b"a" * (bodies.FORM + 1)
    parsed: list[int] = []

    def parse(self: MultiPartParser) -> tuple[QueryDict, MultiValueDict[str, object]]:
        parsed.append(self._content_length)  # type: ignore[attr-defined]  # Django's own
        return QueryDict(), MultiValueDict()

    monkeypatch.setattr(MultiPartParser, "parse", parse)
    browser_of(people.carol).post("/contracts/new/", large, content_type="multipart/form-data; boundary=b")
    assert parsed == [len(large)]
    figure(row=22, n=1, mutant="without the look at the length: a body of 8 MB reaches the parser, caught")


@pytest.mark.parametrize("length", ["9" * 20, "9" * 400, "0" * 30 + "1"])
def test_a_length_of_too_many_digits_is_too_large(length: str) -> None:
    for path in ("/sign-in/", "/api/v1/tokens/"):
        answer = Client().post(path, b"", content_type="application/x-www-form-urlencoded", CONTENT_LENGTH=length)
        assert answer.status_code == 413, path


def test_a_programs_key_is_looked_at_before_its_body(people: Cast) -> None:
    dataset = Dataset.objects.create(name="people", owner=people.carol)
    answer = Client().post(
        f"/api/v1/datasets/{dataset.uid}/uploads/", b"", content_type="multipart/form-data; boundary=b",
        CONTENT_LENGTH=str(100 << 20), headers={"Authorization": "Bearer nothing"},
    )  # fmt: skip
    assert answer.status_code == 401
