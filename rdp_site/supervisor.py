"""The processes that make the product run, started, watched and stopped by one supervisor.

It ends only processes that it started: by process id and time of birth, because an id alone may have passed to somebody else.
What a killed supervisor has left behind is ended by the next one. Each service leads a session of its own, so that Ctrl-C reaches
the supervisor alone and things stop in order.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
import psycopg

from rdp_site import heartbeat
from rdp_site.environment import ROOT, VAR, make_var
from rdp_site.places import PostgresError

GRACE = 30.0  # seconds a service has to finish what it is doing
STEADY = 10.0  # seconds after which a service counts as having started well
LONGEST_PAUSE = 30.0
TICK = 0.5


class SupervisorError(Exception):
    """The services cannot be started; the text says why."""


@dataclass(frozen=True, slots=True)
class Service:
    """One process to keep running."""

    name: str
    command: tuple[str, ...]
    heartbeat: Path | None = None  # a file that it touches while it works
    patience: float = 0.0  # seconds of silence after which it is taken for stuck
    idle_patience: float = 0.0  # the same while none of its processes says that it is at a task


@dataclass(slots=True)
class _Running:
    service: Service
    process: subprocess.Popen[bytes]
    born: float  # monotonic
    children: frozenset[int] = frozenset()  # its own processes when last looked at
    failures: int = 0
    restart_at: float | None = None


def web(bind: str) -> Service:
    """The pages and the JSON API."""
    options = ("--config", "python:rdp_site.serving", "--bind", bind)
    return Service("web", (sys.executable, "-m", "gunicorn", "rdp_site.wsgi", *options))


def worker(processes: int, *, patience: float = 180.0, sweep: float = 5.0) -> Service:
    """Celery workers: each contract is served by one at a time, several contracts side by side.

    A sweep comes every `sweep` seconds to any process that is free: who misses several, with nothing to do, is stuck.
    """
    options = ("--without-gossip", "--without-mingle", "--without-heartbeat", f"--concurrency={processes}", "--loglevel=INFO")
    command = (sys.executable, "-m", "celery", "-A", "rdp_site", "worker", *options)
    return Service("worker", command, heartbeat.FILE, patience, min(patience, 4 * sweep + STEADY))


def beat() -> Service:
    """The clock of the periodic sweep; exactly one per installation."""
    return Service("beat", (sys.executable, "-m", "celery", "-A", "rdp_site", "beat", "--pidfile=", "--loglevel=WARNING"))


@dataclass(slots=True)
class Supervisor:
    """Keeps services (and, through `revive`, the embedded database) running; used by `running`."""

    services: Sequence[Service]
    revive: Callable[[], object] = lambda: None
    say: Callable[[str], object] = print
    notes: Path = VAR / "services.json"
    log: Path | None = None  # where the services' output goes; None: to the terminal
    _running: list[_Running] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _watcher: threading.Thread | None = None

    def start(self) -> None:
        """Start every service and a thread that watches them."""
        end_leftovers(self.notes)
        self._running = [_Running(service, self._spawn(service), time.monotonic()) for service in self.services]
        self._note()
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Ask every service to finish, the last one started first; whoever overstays is killed."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.join()
        for running in reversed(self._running):
            running.process.terminate()
        deadline = time.monotonic() + GRACE
        for running in reversed(self._running):
            _finish(running.process, deadline)
        self.notes.unlink(missing_ok=True)

    def pids(self) -> dict[str, int]:
        """Process ids by the name of the service."""
        return {running.service.name: running.process.pid for running in self._running}

    def wait_restarted(self, name: str, pid: int, *, patience: float = 60.0) -> None:
        """Return when another process than `pid` serves as `name`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.pids()[name] != pid, patience):
                raise SupervisorError(f"{name} was not started again within {patience:.0f} s.")

    def _watch(self) -> None:
        while not self._stopping.wait(TICK):
            try:
                self.revive()
            except (PostgresError, psycopg.Error, OSError) as error:  # watching the others goes on
                self.say(f"database: {error}")
            for running in self._running:
                self._look_after(running)

    def _look_after(self, running: _Running) -> None:
        now = time.monotonic()
        if running.process.poll() is None:
            if now - running.born > STEADY:
                running.failures = 0
            self._end_if_crippled(running)
            self._end_if_stuck(running, now - running.born)
        elif running.restart_at is None:
            pause = min(2.0**running.failures - 1, LONGEST_PAUSE)
            self.say(f"{running.service.name} ended ({running.process.returncode}); starting it again in {pause:.0f} s")
            running.failures += 1
            running.restart_at = now + pause
        elif now >= running.restart_at:
            with self._changed:
                running.process, running.born, running.restart_at = self._spawn(running.service), now, None
                running.children = frozenset()
                self._note()
                self._changed.notify_all()

    def _end_if_crippled(self, running: _Running) -> None:
        """Kill a service one of whose processes died with no task: it may have held the lock with which they all take tasks.

        Nothing would move until the service is found to be silent; who died at a task held no such lock, and is replaced.
        """
        if running.service.heartbeat is None:
            return
        gone, running.children = running.children - (now := _children(running.process.pid)), now
        idle = [pid for pid in gone if not heartbeat.was_at_work(running.service.heartbeat, pid)]
        for pid in gone:
            heartbeat.forget(running.service.heartbeat, pid)
        if idle:
            self.say(f"a process of {running.service.name} died; ending them all")
            os.killpg(running.process.pid, signal.SIGKILL)

    def _end_if_stuck(self, running: _Running, age: float) -> None:
        """Kill a service, with all its processes, that has been silent for too long; like any that ended it is started again."""
        service = running.service
        if service.heartbeat is None or age < service.idle_patience:
            return
        silent = heartbeat.silence(service.heartbeat)
        is_starting = silent is None or silent >= age  # on a busy machine that alone takes its time
        silent = age if silent is None else min(age, silent)
        is_busy = is_starting or heartbeat.is_at_work(service.heartbeat)
        if silent > (service.patience if is_busy else service.idle_patience):
            self.say(f"{service.name} has been silent for {silent:.0f} s; ending it")
            os.killpg(running.process.pid, signal.SIGKILL)  # it leads a session of its own

    def _spawn(self, service: Service) -> subprocess.Popen[bytes]:
        if service.heartbeat is not None:
            heartbeat.forget_all(service.heartbeat)
        with nullcontext() if self.log is None else _private_log(self.log) as output:
            return subprocess.Popen(
                service.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    def _note(self) -> None:
        rows = [[running.process.pid, _birth(running.process.pid)] for running in self._running]
        self.notes.write_text(json.dumps(rows), encoding="utf-8")


@contextmanager
def running(
    services: Sequence[Service],
    *,
    revive: Callable[[], object] = lambda: None,
    say: Callable[[str], object] = print,
    var: Path = VAR,
    log: Path | None = None,
) -> Iterator[Supervisor]:
    """Run services for the time of the block, their output in `log` if named; one supervisor per `var`, or SupervisorError."""
    make_var(var)
    with (var / "services.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SupervisorError(f"The services of {var} are running already.") from error
        supervisor = Supervisor(services, revive, say, var / "services.json", log)
        supervisor.start()
        try:
            yield supervisor
        finally:
            supervisor.stop()


def wait_for_signal() -> None:
    """Return never; Ctrl-C and SIGTERM arrive as exceptions (manage.py turns the latter into SystemExit)."""
    threading.Event().wait()


def wait_listening(bind: str, *, patience: float = 60.0) -> None:
    """Return when somebody accepts connections at "host:port"."""
    host, _, port = bind.rpartition(":")
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SupervisorError(f"Nobody listens at {bind} after {patience:.0f} s.")


def end_leftovers(notes: Path) -> None:
    """End the services that a killed supervisor noted, if these very processes still run."""
    try:
        rows = json.loads(notes.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    for pid, born in rows:
        if born is not None and _birth(pid) == born:
            process = psutil.Process(pid)
            process.terminate()
            _, alive = psutil.wait_procs([process], timeout=GRACE)
            for stubborn in alive:
                stubborn.kill()
    notes.unlink(missing_ok=True)


def _children(pid: int) -> frozenset[int]:
    try:
        return frozenset(child.pid for child in psutil.Process(pid).children())
    except psutil.NoSuchProcess:
        return frozenset()


def _private_log(path: Path) -> IO[bytes]:
    """The log, for its owner alone: with mail going to the console it holds links to new passwords."""
    file = open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")  # noqa: PTH123, SIM115  # with a mode; the caller closes it
    os.fchmod(file.fileno(), 0o600)
    return file


def _finish(process: subprocess.Popen[bytes], deadline: float) -> None:
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):  # out of time, or out of patience: a second Ctrl-C
        process.kill()
        process.wait()


def _birth(pid: int) -> float | None:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return None
