"""The walk-through of README: back up a running installation, lose everything, restore, verify, go on."""

import json
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from rdp_site.places import free_port
from tests.site.commands import environment, manage

OLD = "SELECT COUNT(*) FROM people WHERE participates = TRUE"
AGAIN = """
from accounts.models import User
from curator.models import Answer, Contract
from curator.services import execution, queries
contract = Contract.objects.get(name="SIPP 1991")
spent = contract.spent_bound
for name, sql in (("old", "{old}"), ("new", "SELECT COUNT(*) FROM people WHERE age >= 47")):
    body = {{"sql": sql, "accuracy": {{"within": 100, "confidence": 0.95}}}}
    [query] = queries.submit(analyst=User.objects.get(username="alice"), contract=contract, body=body, key=name)
    execution.run(contract.pk)
    query.refresh_from_db()
    contract.refresh_from_db()
    print(name, query.state, contract.spent_bound > spent)
"""

SIGNED_IN = "from django.contrib.sessions.backends.db import SessionStore as S; S().create()"
SESSIONS = "from django.contrib.sessions.models import Session as S; print(S.objects.count())"


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rdp-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def test_a_lost_installation_comes_back_with_its_data_and_its_record(place: Path) -> None:
    before = environment(place / "before", RDP_BIND=f"127.0.0.1:{free_port()}")
    manage("demo", "--once", env=before)
    manage("shell", "-c", SIGNED_IN, env=before)
    manage("backup", str(place / "kept"), env=before)
    assert stat.S_IMODE((place / "kept").stat().st_mode) == 0o700
    assert len(list((place / "kept" / "versions").glob("*.parquet"))) == 1
    secret = (place / "before" / "secrets" / "content_hash_key").read_text()
    shutil.rmtree(place / "before")

    after = environment(place / "after")
    done = manage("restore", str(place / "kept"), env=after)
    assert "Now run manage.py verify" in done.stdout
    assert "switch off again" in done.stdout
    told = manage("verify", env=after).stdout
    assert "consistent" in told and "does not know" not in told
    (Path(after["RDP_RECEIPTS"]) / f"{UUID(int=7)}.jsonl").touch()
    assert f"1 contracts that this record does not know lie beside ({UUID(int=7)})" in manage("verify", env=after).stdout
    assert manage("shell", "--verbosity", "0", "-c", SESSIONS, env=after).stdout.strip() == "0", "nobody is signed in again"
    assert (place / "after" / "secrets" / "content_hash_key").read_text() == secret
    assert list((place / "after" / "versions").glob("*.parquet"))
    said = manage("shell", "--verbosity", "0", "-c", AGAIN.format(old=OLD), env=after).stdout
    assert said.splitlines() == ["old answered False", "new answered True"], (
        "what was paid for is still known, and counting goes on"
    )
    manage("setup_database", "--verbosity", "0", env=after)  # the way up: newer migrations over restored rows, rights again

    again = manage("restore", str(place / "kept"), env=after, check=False)
    assert again.returncode == 1
    assert "into an empty one" in again.stderr


def test_what_is_no_backup_or_would_be_overwritten_is_refused(place: Path) -> None:
    env = environment(place / "var")
    manage("setup_database", "--verbosity", "0", env=env)
    (place / "something").mkdir()
    (place / "something" / "mine.txt").write_text("kept")
    taken = manage("backup", str(place / "something"), env=env, check=False)
    assert taken.returncode == 1
    assert "exists already" in taken.stderr
    assert (place / "something" / "mine.txt").read_text() == "kept"
    (place / "var" / "versions" / "gone.parquet").symlink_to(place / "nowhere")
    lost = manage("backup", str(place / "new"), env=env, check=False)
    assert (lost.returncode, "Traceback" in lost.stderr) == (1, False)
    assert sorted(path.name for path in place.iterdir()) == ["something", "var"], "nothing of a backup that failed is left"
    none = manage("restore", str(place / "something"), env=environment(place / "other"), check=False)
    assert none.returncode == 1
    assert "is no backup" in none.stderr
    (place / "something" / "backup.json").write_text(json.dumps({"format": 99}))
    newer = manage("restore", str(place / "something"), env=environment(place / "other"), check=False)
    assert "another format" in newer.stderr
