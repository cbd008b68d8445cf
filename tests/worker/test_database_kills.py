"""PostgreSQL itself killed by SIGKILL while charges are made: what was acknowledged stays, and nothing is doubled."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from rdp_site import postgres
from rdp_site.cluster import OPTIONS
from rdp_site.environment import ROOT
from rdp_site.installation import DURABLE
from rdp_site.postgres import Cluster
from tests.fixtures.figures import Figure
from tests.site.commands import environment, manage

FEW, MANY = 3, 20
BETWEEN = 8  # charges acknowledged before each kill
CHARGING = Path(__file__).with_name("charging.py")


@pytest.fixture
def var() -> Iterator[Path]:
    """A fresh installation with its own server."""
    with tempfile.TemporaryDirectory(prefix="rdp-") as folder:
        Path(folder).chmod(0o711)
        manage("setup_database", "--verbosity", "0", env=environment(Path(folder) / "var"))
        yield Path(folder) / "var"


def charge_and_kill(var: Path, times: int) -> tuple[int, int]:
    """Charge without pause while the server is killed so many times; how many charges were acknowledged, how many are gone."""
    cluster = postgres.existing(var)
    with postgres.in_use(cluster):
        command = [sys.executable, str(CHARGING)]
        variables = environment(var, PYTHONPATH=str(ROOT))
        child = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stdin is not None
        acknowledged: list[str] = []
        for _ in range(times):
            acknowledged += _read(child.stdout, BETWEEN)
            psutil.Process(_postmaster(cluster)).send_signal(signal.SIGKILL)
            assert postgres.revive(cluster)
        acknowledged += _read(child.stdout, BETWEEN)
        child.stdin.close()  # it stops asking
        acknowledged += [line for line in child.stdout.read().split() if _is_charge(line)]
        assert child.wait(120) == 0
        with cluster.connect(postgres.OWNER) as owner:
            charged = owner.execute(
                "SELECT query.key FROM curator_ledgerentry AS entry JOIN curator_query AS query ON query.id = entry.query_id"
            ).fetchall()
    kept = [key for (key,) in charged]
    assert len(kept) == len(set(kept)), "a charge was doubled"
    assert "consistent" in manage("verify", env=environment(var)).stdout
    return len(acknowledged), len(set(acknowledged) - set(kept))


def _read(lines: Iterator[str], number: int) -> list[str]:
    found: list[str] = []
    while len(found) < number:
        line = next(lines).strip()
        if _is_charge(line):
            found.append(line)
    return found


def _is_charge(line: str) -> bool:
    return re.fullmatch(r"charge-\d+", line) is not None


def _postmaster(cluster: Cluster) -> int:
    return int((cluster.data / "postmaster.pid").read_text().split()[0])


@pytest.mark.trust
@pytest.mark.timeout(900)
@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_acknowledged_charges_survive_a_killed_database(var: Path, times: int, figure: Figure) -> None:
    acknowledged, lost = charge_and_kill(var, times)
    assert lost == 0 and acknowledged >= BETWEEN * times
    figure(row=12, n=times, seen=f"SIGKILL {times} times under load: {acknowledged} charges acknowledged, lost {lost}, doubled 0")


@pytest.mark.trust
def test_services_start_on_no_server_that_may_forget(var: Path, monkeypatch: pytest.MonkeyPatch, figure: Figure) -> None:
    refused = 0
    for name in DURABLE:
        monkeypatch.setitem(OPTIONS, name, "off")
        with postgres.in_use(postgres.existing(var)) as cluster:
            with cluster.connect(postgres.OWNER) as owner:
                assert owner.execute(f"SHOW {name}").fetchone() == ("off",)
            done = manage("run_services", env=environment(var), check=False)
            assert done.returncode == 1 and f"{name} = off" in done.stderr, done.stderr
            refused += 1
        monkeypatch.setitem(OPTIONS, name, "on")
    figure(row=12, n=refused, seen="start with fsync, full_page_writes or synchronous_commit off: refused each time")


@pytest.mark.slow
@pytest.mark.trust
@pytest.mark.timeout(900)
def test_a_server_that_acknowledges_before_it_writes_loses_charges(
    var: Path, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    """Why it is refused. A killed process loses what its own memory held; only a machine without power would show fsync off."""
    monkeypatch.setitem(OPTIONS, "synchronous_commit", "off")
    monkeypatch.setitem(OPTIONS, "fsync", "off")
    monkeypatch.setitem(OPTIONS, "wal_writer_delay", "10s")
    cluster, lost, acknowledged = postgres.existing(var), 0, 0
    with postgres.in_use(cluster):
        with cluster.connect(postgres.OWNER) as owner:
            owner.execute("SET synchronous_commit = on")  # or the table itself is forgotten
            owner.execute("CREATE TABLE forgetful (n integer)")
        for _ in range(5):
            with suppress(psycopg.OperationalError), cluster.connect(postgres.OWNER) as owner:
                before = _count(owner)
                for number in range(50):
                    owner.execute("INSERT INTO forgetful VALUES (%s)", [number])
                acknowledged += 50
                os.kill(_postmaster(cluster), signal.SIGKILL)
            assert postgres.revive(cluster)
            with cluster.connect(postgres.OWNER) as owner:
                lost += before + 50 - _count(owner)
    assert lost > 0
    figure(row=12, n=acknowledged, mutant=f"the three settings off: {lost} of {acknowledged} acknowledged writes lost, caught")


def _count(owner: psycopg.Connection) -> int:
    row = owner.execute("SELECT count(*) FROM forgetful").fetchone()
    assert row is not None
    return int(row[0])
