"""The supervisor: services come back when they end, stop in order, and nobody else's process is ever touched."""

import json
import os
import queue
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rdp_site import heartbeat, supervisor
from rdp_site.environment import ROOT
from rdp_site.places import PostgresError
from rdp_site.supervisor import Service

SLEEPER = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); print('up', flush=True); signal.pause()"


def python(name: str, code: str) -> Service:
    return Service(name, (sys.executable, "-c", code))


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate(b"\n")


def test_services_run_for_the_time_of_the_block(tmp_path: Path) -> None:
    with supervisor.running([python("one", SLEEPER), python("two", SLEEPER)], var=tmp_path) as running:
        processes = [psutil.Process(pid) for pid in running.pids().values()]
        assert list(running.pids()) == ["one", "two"]
    assert not any(process.is_running() for process in processes)
    assert not (tmp_path / "services.json").exists()


def test_the_log_is_for_its_owner_alone(tmp_path: Path) -> None:
    log = tmp_path / "services.log"
    log.touch(mode=0o644)
    with supervisor.running([Service("sleeper", ("sleep", "60"))], var=tmp_path / "var", log=log):
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_service_that_ends_is_started_again(tmp_path: Path) -> None:
    said: queue.Queue[str] = queue.Queue()
    with supervisor.running([python("one", SLEEPER)], var=tmp_path, say=said.put) as running:
        first = running.pids()["one"]
        os.kill(first, signal.SIGKILL)
        assert said.get(timeout=30) == "one ended (-9); starting it again in 0 s"
        running.wait_restarted("one", first)
        assert psutil.Process(running.pids()["one"]).is_running()
        assert json.loads((tmp_path / "services.json").read_text())[0][0] == running.pids()["one"]


def test_the_database_is_looked_after_though_it_fails(tmp_path: Path) -> None:
    said: queue.Queue[str] = queue.Queue()

    def fail() -> None:
        raise PostgresError("no disk")

    with supervisor.running([python("one", SLEEPER)], var=tmp_path, say=said.put, revive=fail):
        assert said.get(timeout=30) == "database: no disk"
        assert said.get(timeout=30) == "database: no disk"


def test_there_is_one_supervisor_per_installation(tmp_path: Path) -> None:
    again = pytest.raises(supervisor.SupervisorError, match="running already")
    with supervisor.running([], var=tmp_path), again, supervisor.running([], var=tmp_path):
        pass
    with supervisor.running([], var=tmp_path):
        pass


def test_what_a_killed_supervisor_left_is_ended_and_nothing_else(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    code = (
        "import sys; from pathlib import Path; from rdp_site import supervisor\n"
        "service = supervisor.Service('one', (sys.executable, '-c', sys.argv[2]))\n"
        "with supervisor.running([service], var=Path(sys.argv[1])) as running:\n"
        "    print(running.pids()['one'], flush=True); supervisor.wait_for_signal()"
    )
    killed = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), SLEEPER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    left = psutil.Process(next(int(line) for line in killed.stdout if line.strip().isdigit()))
    killed.kill()
    killed.wait()
    notes = tmp_path / "services.json"
    rows = [*json.loads(notes.read_text()), [bystander.pid, 1.0]]  # an id that has passed to somebody else
    notes.write_text(json.dumps(rows))
    with supervisor.running([], var=tmp_path):
        assert not left.is_running() or left.status() == psutil.STATUS_ZOMBIE
        assert bystander.poll() is None


def test_who_overstays_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "GRACE", 0.0)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
    with supervisor.running([python("deaf", deaf)], var=tmp_path) as running:
        process = psutil.Process(running.pids()["deaf"])
    assert not process.is_running()


def test_a_service_that_shows_no_sign_of_life_is_ended_and_started_again(tmp_path: Path) -> None:
    said: queue.Queue[str] = queue.Queue()
    stuck = Service("one", python("one", SLEEPER).command, heartbeat=tmp_path / "heartbeat", patience=0.2)
    with supervisor.running([stuck], var=tmp_path, say=said.put) as running:
        first = running.pids()["one"]
        assert "has been silent" in said.get(timeout=30)
        running.wait_restarted("one", first)


def test_a_service_that_shows_signs_of_life_is_left_alone(tmp_path: Path) -> None:
    said: queue.Queue[str] = queue.Queue()
    beating = "import pathlib, sys, time\nwhile True: pathlib.Path(sys.argv[1]).touch(); time.sleep(0.02)"
    lively = Service(
        "one",
        (sys.executable, "-c", beating, str(tmp_path / "heartbeat")),
        tmp_path / "heartbeat",
        patience=5.0,
        idle_patience=5.0,
    )
    looked: queue.Queue[None] = queue.Queue()
    with supervisor.running([lively], var=tmp_path, say=said.put, revive=lambda: looked.put(None)):
        for _ in range(12):  # half a second apart: past its patience
            looked.get(timeout=30)
        assert said.empty()


FAMILY = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
if child := os.fork():
    print(child, file=open(sys.argv[1], "w"), flush=True)
    os.rename(sys.argv[1], sys.argv[1] + ".pid")
    while True:
        os.wait()
        if os.fork() == 0:
            break
signal.pause()
"""


def family(folder: Path) -> Service:
    """A service with a process of its own, whom it replaces when he dies, as a pool does."""
    note = folder / "child"
    return Service("one", (sys.executable, "-c", FAMILY, str(note)), folder / "heartbeat", patience=600.0, idle_patience=600.0)


def child_of(folder: Path, looked: queue.Queue[None]) -> int:
    """Its process, once the supervisor has seen it."""
    while not (folder / "child.pid").exists():
        looked.get(timeout=30)
    for _ in range(2):
        looked.get(timeout=30)
    return int((folder / "child.pid").read_text())


def test_a_pool_that_lost_an_idle_process_is_started_again_at_once(tmp_path: Path) -> None:
    looked: queue.Queue[None] = queue.Queue()
    said: queue.Queue[str] = queue.Queue()
    with supervisor.running([family(tmp_path)], var=tmp_path, say=said.put, revive=lambda: looked.put(None)) as running:
        first = running.pids()["one"]
        os.kill(child_of(tmp_path, looked), signal.SIGKILL)
        assert said.get(timeout=30) == "a process of one died; ending them all"
        running.wait_restarted("one", first)


def test_a_pool_that_lost_a_process_at_its_task_goes_on(tmp_path: Path) -> None:
    looked: queue.Queue[None] = queue.Queue()
    said: queue.Queue[str] = queue.Queue()
    with supervisor.running([family(tmp_path)], var=tmp_path, say=said.put, revive=lambda: looked.put(None)) as running:
        first = running.pids()["one"]
        busy = child_of(tmp_path, looked)
        (tmp_path / f"heartbeat.{busy}").touch()
        os.kill(busy, signal.SIGKILL)
        for _ in range(4):
            looked.get(timeout=30)
        assert said.empty()
        assert running.pids()["one"] == first


def test_silence_at_a_task_is_borne_longer_than_silence_without_one(tmp_path: Path) -> None:
    said: queue.Queue[str] = queue.Queue()
    busy = Service("one", python("one", SLEEPER).command, tmp_path / "heartbeat", patience=60.0, idle_patience=0.2)
    looked: queue.Queue[None] = queue.Queue()
    with supervisor.running([busy], var=tmp_path, say=said.put, revive=lambda: looked.put(None)) as running:
        heartbeat.begin(busy.heartbeat or tmp_path)
        for _ in range(4):
            looked.get(timeout=30)
        assert said.empty()
        first = running.pids()["one"]
        heartbeat.end(busy.heartbeat or tmp_path)
        running.wait_restarted("one", first)


def test_a_note_of_a_process_that_died_is_no_sign_of_work(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    note = tmp_path / f"heartbeat.{gone.pid}"
    note.touch()
    assert not heartbeat.is_at_work(tmp_path / "heartbeat")
    heartbeat.forget_all(tmp_path / "heartbeat")
    assert not note.exists()
