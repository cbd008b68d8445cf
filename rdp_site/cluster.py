"""One embedded PostgreSQL server: its places, passwords, options, and how it is started, recognised and stopped.

What would surprise: alive means that a connection succeeds and leads to this data directory. A process id alone proves nothing,
because ids are recycled.
"""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil
import psycopg

from rdp_site import places
from rdp_site.environment import private_folder, read_secret
from rdp_site.places import PostgresError

DATABASE, SUPERUSER, OWNER, APPLICATION = "rdp", "rdp_superuser", "rdp_owner", "rdp_app"
PORT = 5432  # names the socket's file; nothing listens on TCP unless the socket's path would be too long
LONGEST_SOCKET_PATH = 100  # the system's limit is 103 to 107 bytes
LARGEST_LOG = 10_000_000
PATIENCE = 60.0  # seconds; crash recovery on a slow disk takes its time
OPTIONS = {
    "fsync": "on",  # these three: an acknowledged charge survives a kill
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "unix_socket_permissions": "0700",
    "log_min_error_statement": "panic",  # no statement, hence no value of one, reaches the log
    "log_error_verbosity": "terse",  # nor the row that a constraint refused: its noise was drawn and never released
    "log_parameter_max_length_on_error": "0",
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """One embedded server: `home` holds data and socket, `var` secrets, logs and locks."""

    var: Path
    home: Path
    tcp_port: int = 0  # used only where the socket's path is too long

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "data"

    @property
    def uses_tcp(self) -> bool:
        """Say whether it listens on 127.0.0.1 instead of a socket."""
        return len(os.fsencode(self.home / "socket" / f".s.PGSQL.{PORT}")) > LONGEST_SOCKET_PATH

    @property
    def host(self) -> str:
        """What a client passes as `host`: the socket's folder, or 127.0.0.1."""
        return "127.0.0.1" if self.uses_tcp else str(self.home / "socket")

    @property
    def port(self) -> int:
        """What a client passes as `port`."""
        return self.tcp_port if self.uses_tcp else PORT

    @property
    def place_file(self) -> Path:
        """Where set-up writes down the place; it exists once the cluster is complete."""
        return self.var / "postgres.json"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.var / "log" / "postgres.log"

    def password(self, role: str) -> str:
        """The stored password of one of the three roles."""
        stored = read_secret("postgres_" + role.removeprefix("rdp_"), folder=self.var / "secrets")
        if stored is None:
            raise PostgresError(f"The password of {role} is missing from {self.var / 'secrets'}; restore it from a backup.")
        return stored

    def connect(self, role: str, dbname: str = DATABASE) -> psycopg.Connection[Any]:
        """Open an autocommit connection; only a server that knows the password (SCRAM proves both sides) is accepted."""
        return psycopg.connect(
            host=self.host, port=self.port, dbname=dbname, user=role, password=self.password(role),
            require_auth="scram-sha-256", connect_timeout=5, autocommit=True,
        )  # fmt: skip

    def is_initialised(self) -> bool:
        """Say whether set-up has made this cluster."""
        return self.place_file.exists()

    def is_alive(self) -> bool:
        """Say whether a connection succeeds and leads to this very data directory."""
        try:
            with self.connect(SUPERUSER, "postgres") as connection:
                row = connection.execute("SHOW data_directory").fetchone()
        except psycopg.OperationalError:
            return False
        return row is not None and Path(row[0]) == self.data

    def start(self) -> None:
        """Start the server unless it is alive; returns when a connection succeeds."""
        places.check_owner(self.home)
        deadline = time.monotonic() + PATIENCE
        while not self.is_alive():
            self._await_or_forget_predecessor(deadline)
            if self._launch(deadline):
                return

    def stop(self) -> None:
        """Disconnect everybody and stop the server, if it is alive; returns when it is gone."""
        if self.is_alive():
            run([places.programs(self.home) / "pg_ctl", "stop", "-D", self.data, "-m", "fast", "-t", int(PATIENCE)], self.home)

    def _launch(self, deadline: float) -> bool:
        private_folder(self.log.parent)
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as file:
            begin = file.tell()
            process = _spawn(self._command(), self.home, file)
        while process.poll() is None:
            if self.is_alive():
                return True
            if time.monotonic() > deadline:
                process.terminate()
                raise PostgresError(f"PostgreSQL did not accept a connection within {PATIENCE:.0f} s; see {self.log}.")
            time.sleep(0.03)
        return self._explain(self.log.read_bytes()[begin:].decode(errors="replace"), deadline)

    def _explain(self, said: str, deadline: float) -> bool:
        """False where another try makes sense: the last children of a killed server are still leaving."""
        if "still in use" in said and time.monotonic() < deadline:
            time.sleep(0.2)
            return False
        raise PostgresError(f"PostgreSQL did not start:\n{said[-2000:]}")

    def _command(self) -> list[object]:
        listen = {
            "listen_addresses": "127.0.0.1" if self.uses_tcp else "",
            "unix_socket_directories": "" if self.uses_tcp else str(self.home / "socket"),
            "port": str(self.port),
        }
        settings = [word for name, value in (OPTIONS | listen).items() for word in ("-c", f"{name}={value}")]
        return [places.programs(self.home) / "postgres", "-D", self.data, *settings]

    def _await_or_forget_predecessor(self, deadline: float) -> None:
        """Wait for a server that is starting or stopping; remove the notes of one that is gone, though its id lives on."""
        for note in (self.data / "postmaster.pid", self.home / "socket" / f".s.PGSQL.{PORT}.lock"):
            while note.exists() and time.monotonic() < deadline:
                if not _is_server(_first_number(note), self.data):
                    note.unlink(missing_ok=True)
                elif self.is_alive():
                    return
                else:
                    time.sleep(0.1)


def run(command: list[object], home: Path) -> None:
    """Run one of PostgreSQL's programs under the server's account; what it complains of is in the PostgresError."""
    words = [str(word) for word in command]
    account = places.account_of(home)
    done = subprocess.run(words, cwd=home, env=_environment(), capture_output=True, text=True, check=False, **account)
    if done.returncode:
        raise PostgresError(f"{Path(words[0]).name} failed: {done.stderr.strip()[-2000:]}")


def _spawn(command: list[object], home: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own: Ctrl-C reaches the supervisor first, which stops things in order."""
    return subprocess.Popen(
        [str(word) for word in command], cwd=home, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=log, stderr=log, start_new_session=True, **places.account_of(home),
    )  # fmt: skip


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}  # nothing of ours: no URL, no secret


def _is_server(pid: int, data: Path) -> bool:
    try:
        return str(data) in psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # not ours to look at, so not ours to declare dead


def _first_number(note: Path) -> int:
    try:
        return int(note.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return 0
