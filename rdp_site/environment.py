"""Where things are, and the secrets kept there.

Reads only: secrets are made by `ensure_secret`, which set-up and the supervisor call, never by importing the settings.
"""

import os
import secrets
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("RDP_VAR") or ROOT / "var").absolute()
SECRETS = VAR / "secrets"
SECRET_NAMES = ("secret_key", "content_hash_key", "postgres_superuser", "postgres_owner", "postgres_app")


def default_receipts() -> Path:
    """Where receipts are kept unless RDP_RECEIPTS says so: with this account's state, beside no database."""
    state = os.path.expanduser("~/.local/state")  # noqa: PTH111  # where there is no home it stays as it is, and does not fail
    return Path(state).absolute() / "residual" / "receipts"


def is_embedded() -> bool:
    """Say whether the product brings its own PostgreSQL (no `DATABASE_URL`)."""
    return not os.environ.get("DATABASE_URL")


def read_secret(name: str, *, folder: Path = SECRETS) -> str | None:
    """Return a stored secret, or None where set-up has not made it yet."""
    try:
        return (folder / name).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def ensure_secret(name: str, *, folder: Path = SECRETS) -> str:
    """Return a stored secret, making it (256 random bits and more, mode 0600) the first time.

    It is written beside its place and linked into it, so that of two makers one wins and both return the same text.
    """
    private_folder(folder)
    fresh = folder / f"{name}.{os.getpid()}.{secrets.token_hex(4)}"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(48) + "\n")
    try:
        os.link(fresh, folder / name)
    except FileExistsError:
        pass  # somebody made it before us
    finally:
        fresh.unlink()
    return (folder / name).read_text(encoding="ascii").strip()


def ensure_secrets(var: Path = VAR) -> None:
    """Make every secret that is still missing under `var`."""
    make_var(var)
    for name in SECRET_NAMES:
        ensure_secret(name, folder=var / "secrets")


def make_var(var: Path = VAR) -> None:
    """Make the folder of everything that is not code.

    For root it can be walked through (0711, not listed), because the embedded server then runs under another account.
    """
    if not var.exists():
        var.mkdir(parents=True)
        var.chmod(0o711 if os.geteuid() == 0 else 0o700)


def private_folder(path: Path) -> Path:
    """Make a folder that only this account can enter."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
