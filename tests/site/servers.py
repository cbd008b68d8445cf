"""A PostgreSQL that is not ours: made by hand in a temporary folder, with roles as README.md tells an operator to make them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rdp_site import places

ROLES = """
CREATE ROLE counts_owner LOGIN CREATEDB PASSWORD 'owner-secret';
CREATE ROLE counts LOGIN PASSWORD 'app-secret';
CREATE DATABASE counts OWNER counts_owner;
"""
SYSTEM = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class External:
    """Where it is; `url` is the application role's, `owner_url` the owner's."""

    folder: Path
    port: int

    def address(self, user: str, password: str, database: str = "counts") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    @property
    def url(self) -> str:
        return self.address("counts", "app-secret")

    @property
    def owner_url(self) -> str:
        return self.address("counts_owner", "owner-secret")

    @property
    def variables(self) -> dict[str, str]:
        return {"DATABASE_URL": self.url, "DATABASE_OWNER_URL": self.owner_url}


def programs(kind: str, home: Path) -> Path:
    """Programs of the system's newest PostgreSQL from 15 on, or of the older one (16) that our package brings along."""
    if kind == "packaged":
        return places.programs(home, "pginstall")
    found = sorted(int(path.name) for path in SYSTEM.glob("*") if path.name.isdigit() and int(path.name) >= 15)
    if not found:
        pytest.skip(f"no PostgreSQL from 15 on in {SYSTEM}")
    return SYSTEM / str(found[-1]) / "bin"


@contextmanager
def external(kind: str, *options: str) -> Iterator[External]:
    """Run such a server for the time of the block, under an account of its own when we are root."""
    with tempfile.TemporaryDirectory(prefix="rdp-external-") as name:
        Path(name).chmod(0o711)
        folder = Path(name) / "server"
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        tools = programs(kind, folder)
        server = External(folder, places.free_port())
        password = folder / "password"
        password.write_text("root-secret")
        password.chmod(0o644)
        _run(folder, tools / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "scram-sha-256", "--pwfile", password)
        flags = " ".join(
            ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", f"port={server.port}", *options]
        )
        _run(folder, tools / "pg_ctl", "start", "-w", "-D", folder / "data", "-l", folder / "log", "-o", flags)
        try:
            for statement in ROLES.strip().split("\n"):
                _run(folder, tools / "psql", server.address("postgres", "root-secret", "postgres"), "-qc", statement)
            yield server
        finally:
            _run(folder, tools / "pg_ctl", "stop", "-D", folder / "data", "-m", "immediate")


def _run(folder: Path, *words: object) -> None:
    with tempfile.TemporaryFile("w+") as output:  # not a pipe: the server would hold it open
        account = places.account_of(folder)
        done = subprocess.run([str(word) for word in words], cwd=folder, stdout=output, stderr=output, check=False, **account)
        output.seek(0)
        assert done.returncode == 0, output.read()
