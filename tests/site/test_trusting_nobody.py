"""Headers that only a proxy may set are nobody's to set: asked of the server as the supervisor and the Procfile start it."""

import http.client
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rdp_site import supervisor
from rdp_site.environment import ROOT
from rdp_site.places import free_port

pytestmark = pytest.mark.usefixtures("db")

# what a proxy would say of the way here, and a program of this machine can send as well
CLAIMS = ({"SCRIPT_NAME": "/x"}, {"Script-Name": "/x"}, {"X-Forwarded-Proto": "https"}, {"X-Forwarded-Ssl": "on"})
PEEK = """
def application(environ, start_response):
    start_response("200 OK", [])
    return [f"{environ['SCRIPT_NAME']} {environ['wsgi.url_scheme']} {environ['PATH_INFO']}".encode()]
"""


def supervised() -> tuple[str, ...]:
    """The options that the supervisor gives."""
    return supervisor.web("127.0.0.1:1").command[4:]


def deployed() -> tuple[str, ...]:
    """Those of the Procfile."""
    line = (ROOT / "rdp_site/deploy/Procfile").read_text().splitlines()[0]
    return tuple(shlex.split(re.sub(r"\$\{[^}]*\}", "127.0.0.1:1", line)))[5:]


@contextmanager
def served(options: tuple[str, ...], app: str, environment: dict[str, str]) -> Iterator[int]:
    """Gunicorn with these options, but at a free port."""
    port = free_port()
    bound = [f"127.0.0.1:{port}" if word == "127.0.0.1:1" else word for word in options]
    words = [*supervisor.web("").command[:3], app, *bound]
    process = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        supervisor.wait_listening(f"127.0.0.1:{port}")
        yield port
    finally:
        process.terminate()
        process.wait(30)


def said(port: int, path: str, headers: dict[str, str]) -> tuple[int, str, str]:
    """Status, place to go to, and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.getheader("Location") or "", answer.read().decode()
    connection.close()
    return found


@pytest.mark.parametrize("options", [supervised(), deployed()], ids=["supervisor", "Procfile"])
def test_nobody_tells_the_server_where_it_is(options: tuple[str, ...], database_env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "peek.py").write_text(PEEK)
    with served((*options, "--pythonpath", str(tmp_path)), "peek:application", database_env) as port:
        for claim in ({}, *CLAIMS):
            assert said(port, "/sign-in/", claim) == (200, "", " http /sign-in/"), claim


def test_the_site_stays_where_it_is(database_env: dict[str, str]) -> None:
    with served(supervised(), "rdp_site.wsgi", database_env) as port:
        plain = said(port, "/", {})[:2]
        assert plain[0] == 302
        for claim in CLAIMS:
            assert said(port, "/", claim)[:2] == plain, claim
