"""The whole product as `make setup` and `make run` start it: up by one command, down by one signal."""

import http.client
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdp_site import postgres
from rdp_site.environment import ROOT
from rdp_site.places import free_port
from rdp_site.supervisor import wait_listening
from tests.site.commands import environment, manage


@pytest.fixture
def var() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rdp-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "var"


def test_one_command_brings_it_up_and_one_signal_down(var: Path) -> None:
    bind = f"127.0.0.1:{free_port()}"
    env = environment(var, RDP_BIND=bind, RDP_SWEEP_SECONDS="0.2", RDP_WORKERS="1")
    manage("setup_database", "--verbosity", "0", env=env)
    assert not postgres.existing(var).is_alive(), "set-up leaves nothing running"
    words = [sys.executable, "manage.py", "run_services"]
    product = subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert product.stdout is not None
    said: list[str] = []
    for line in product.stdout:
        said.append(line)
        if "curator.sweep" in line and "succeeded" in line:
            break  # the clock rang, the doorbell travelled, the worker heard it
    assert product.poll() is None, "".join(said)
    wait_listening(bind)
    connection = http.client.HTTPConnection(bind)
    connection.request("GET", "/sign-in/")
    answer = connection.getresponse()
    assert answer.status == 200, answer.read().decode()
    assert "frame-ancestors 'none'" in str(answer.headers["Content-Security-Policy"])
    manage("check", "--database", "default", env=env)  # another command uses the same server and leaves it up
    assert postgres.existing(var).is_alive()
    product.send_signal(signal.SIGTERM)
    rest, _ = product.communicate(timeout=120)
    assert product.returncode == 128 + signal.SIGTERM, "".join(said) + rest
    assert not postgres.existing(var).is_alive()
