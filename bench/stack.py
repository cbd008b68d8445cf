"""A product of its own for a measurement: database and services in a folder that is removed afterwards."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the settings are read when it is imported, and not before the environment says where things are
    from rdp_site.supervisor import Supervisor


@contextmanager
def product(*, log: Path, names: Sequence[str] = ("web", "worker", "beat"), **variables: str) -> Iterator["Supervisor"]:
    """Run a fresh product for the time of the block. Django is set up inside: import models only then."""
    folder = Path(tempfile.mkdtemp(prefix="rdp-bench-"))
    folder.chmod(0o711)  # run by root, the embedded server's account has to walk through
    os.environ |= {
        "RDP_VAR": str(folder / "var"), "RDP_RECEIPTS": str(folder / "receipts"), "DJANGO_SETTINGS_MODULE": "rdp_site.settings",
        "LOG_LEVEL": "WARNING", "RDP_QUOTE_RATE": "1200/minute", "RDP_BIND": f"127.0.0.1:{_free_port()}", **variables,
    }  # fmt: skip
    os.environ.pop("DATABASE_URL", None)
    try:
        with _services(log, names) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _services(log: Path, names: Sequence[str]) -> Iterator["Supervisor"]:
    from rdp_site import postgres  # after the environment says where things are
    from rdp_site.environment import VAR

    with postgres.in_use(postgres.prepare(VAR)):
        import django

        django.setup()
        from django.core.management import call_command

        from curator.management.commands import run_services
        from rdp_site import supervisor

        call_command("setup_database", verbosity=0)
        run_services.prepare(list(names))
        with supervisor.running(run_services.services(list(names)), revive=run_services.reviver(), log=log) as running:
            yield running
