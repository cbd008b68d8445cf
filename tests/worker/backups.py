"""A copy of a test's database by PostgreSQL's own programs, and the way back to it: an older record in the newer one's place."""

from pathlib import Path

from django.db import connections

from rdp_site import backup, grants
from rdp_site.installation import install
from tests.databases import TestDatabases, _run, close_everything, point_at


def dump(path: Path) -> Path:
    """pg_dump of this test's database, as `manage.py backup` takes it."""
    backup._postgres("pg_dump", ["--format=custom", "--exclude-schema=pgmq", f"--file={path}"])
    return path


def restore(path: Path, databases: TestDatabases) -> None:
    """Throw the database away and bring the copy back under the same name."""
    name = connections.settings["default"]["NAME"]
    databases.drop(name)
    with databases.owner() as owner:
        _run(owner, "CREATE DATABASE {}", name)
        grants.apply_to_database(owner, name, connections.settings["default"]["USER"])
    point_at(name)
    words = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", str(path)]
    backup._postgres("pg_restore", words)
    install(verbosity=0)
    close_everything()
