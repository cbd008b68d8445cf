"""The embedded PostgreSQL: private, recognised by a connection, shared by its users, back after a kill."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from rdp_site import cluster as clusters
from rdp_site import places, postgres
from rdp_site.environment import ROOT
from rdp_site.postgres import Cluster

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="about root")


def open_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder with a short name that every account may walk through."""
    folder = tempfile.TemporaryDirectory(prefix="rdp-")
    Path(folder.name).chmod(0o711)
    return folder


@pytest.fixture
def home() -> Iterator[Path]:
    with open_folder() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A cluster made once; most tests work on a copy of it."""
    with open_folder() as folder:
        yield postgres.prepare(Path(folder) / "var").var


@pytest.fixture
def cluster(made: Path, home: Path) -> Cluster:
    subprocess.run(["cp", "-a", str(made), str(home / "var")], check=True)
    return postgres.existing(home / "var")


def is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended, though nobody may have taken note yet."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def server(cluster: Cluster) -> psutil.Process:
    return psutil.Process(int((cluster.data / "postmaster.pid").read_text().split()[0]))


def test_it_is_a_real_postgresql_18_with_three_roles_kept_apart(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        with cluster.connect(postgres.OWNER) as owner:
            assert owner.info.server_version // 10000 == 18
        with cluster.connect(postgres.SUPERUSER, "postgres") as superuser:
            roles = superuser.execute(
                "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolcanlogin ORDER BY 1"
            ).fetchall()
            safe = [superuser.execute(f"SHOW {name}").fetchone() for name in ("fsync", "full_page_writes", "synchronous_commit")]
    assert roles == [
        ("rdp_app", False, False, False),
        ("rdp_owner", False, False, False),
        ("rdp_superuser", True, True, True),
    ]
    assert safe == [("on",)] * 3
    assert len({cluster.password(role) for role in ("rdp_app", "rdp_owner", "rdp_superuser")}) == 3


def test_what_it_writes_is_private(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        assert {mode(path) for path in (cluster.var / "secrets").iterdir()} == {0o600}
        for folder in (cluster.var / "secrets", cluster.home, cluster.home / "socket", cluster.data, cluster.var / "log"):
            assert mode(folder) == 0o700, folder
        assert mode(cluster.var) & 0o066 == 0, "others may walk through at most"
        rules = (cluster.data / "pg_hba.conf").read_text().split("\n")
        methods = {line.split()[-1] for line in rules if line and not line.startswith("#")}
        assert methods == {"scram-sha-256"}


def test_it_listens_on_nothing_but_its_socket(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        listening = [c for c in server(cluster).net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert listening == []


def test_a_wrong_password_is_refused(cluster: Cluster) -> None:
    with postgres.in_use(cluster), pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(host=cluster.host, port=cluster.port, dbname="rdp", user="rdp_app", password="guess")


@as_root
def test_for_root_it_runs_under_an_unprivileged_account(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        uids = server(cluster).uids()
    assert 0 not in uids
    assert cluster.home.stat().st_uid == uids.effective


@as_root
def test_a_place_out_of_the_accounts_reach_is_not_opened_but_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "FALLBACK", home / "elsewhere")
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    cluster = postgres.prepare(closed / "var")
    with postgres.in_use(cluster):
        assert cluster.home.parent == home / "elsewhere"
    assert postgres.load(closed / "var") == cluster
    assert mode(closed) == 0o700
    assert sorted(path.name for path in (closed / "var" / "secrets").iterdir())[1] == "postgres_app"


@as_root
def test_no_place_at_all_is_an_error_that_says_what_to_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "FALLBACK", Path("/proc/nowhere"))
    (home / "closed").mkdir(mode=0o700)
    with pytest.raises(postgres.PostgresError, match=r"RDP_VAR.*DATABASE_URL"):
        postgres.prepare(home / "closed" / "var")


@as_root
def test_programs_out_of_reach_are_copied(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = places.programs(home).parent
    hidden = home / "hidden"
    hidden.mkdir(mode=0o700)
    package = hidden / "site-packages" / installed.parent.name
    package.mkdir(parents=True)
    (package / installed.name).symlink_to(installed)
    libraries = installed.parent.with_name(f"{installed.parent.name}.libs")
    if libraries.exists():
        package.with_name(libraries.name).symlink_to(libraries)

    class Spec:
        origin = str(package / "__init__.py")

    monkeypatch.setattr(places, "find_spec", lambda name: Spec)
    cluster = postgres.prepare(home / "var")
    with postgres.in_use(cluster):
        assert server(cluster).exe().startswith(str(home / "var" / "postgres-programs-"))
    assert mode(hidden) == 0o700


def test_where_the_sockets_path_would_be_too_long_it_listens_on_this_machine_only(home: Path) -> None:
    deep = home / ("x" * 80)
    deep.mkdir(mode=0o711)
    deep.chmod(0o711)
    cluster = postgres.prepare(deep / "var")
    with postgres.in_use(cluster):
        listening = {c.laddr.ip for c in server(cluster).net_connections("inet") if c.status == psutil.CONN_LISTEN}
        with cluster.connect(postgres.APPLICATION) as connection:
            assert connection.info.host == "127.0.0.1"
    assert listening == {"127.0.0.1"}


def test_a_process_id_that_passed_to_somebody_else_is_left_alone(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        note = (cluster.data / "postmaster.pid").read_text().split("\n")
        server(cluster).kill()
        bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        try:
            note[0] = str(bystander.pid)
            (cluster.data / "postmaster.pid").write_text("\n".join(note))
            assert not cluster.is_alive()
            postgres.revive(cluster)
            assert cluster.is_alive()
            assert bystander.poll() is None
        finally:
            bystander.communicate(b"\n")


def test_the_last_to_leave_stops_it(cluster: Cluster) -> None:
    with postgres.in_use(cluster):
        process = server(cluster)
        with postgres.in_use(cluster):
            pass
        assert cluster.is_alive(), "somebody still uses it"
    assert is_gone(process)


def test_many_starters_at_once_make_one_server(cluster: Cluster) -> None:
    code = (
        "import sys; from pathlib import Path; from rdp_site import postgres\n"
        "with postgres.in_use(postgres.existing(Path(sys.argv[1]))) as c:\n"
        "    print((c.data / 'postmaster.pid').read_text().split()[0], flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(cluster.var)]
    children = [subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    pids = {child.stdout.readline() for child in children if child.stdout}
    assert len(pids) == 1
    process = psutil.Process(int(pids.pop()))
    for child in children:
        child.communicate()
    assert is_gone(process)


def test_making_it_twice_changes_nothing(cluster: Cluster) -> None:
    before = {path.name: path.read_text() for path in (cluster.var / "secrets").iterdir()}
    assert postgres.prepare(cluster.var) == cluster
    assert {path.name: path.read_text() for path in (cluster.var / "secrets").iterdir()} == before


def test_a_checkout_may_be_moved(home: Path) -> None:
    postgres.prepare(home / "var")
    (home / "var").rename(home / "moved")
    with postgres.in_use(postgres.existing(home / "moved")) as moved:
        assert moved.is_alive()


@as_root
def test_another_account_is_told_whose_database_it_is(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(postgres.PostgresError, match="belongs to account"), postgres.in_use(cluster):
        pass
    with pytest.raises(postgres.PostgresError, match="belongs to account"):
        postgres.prepare(cluster.var)


def test_a_half_made_cluster_is_made_again(home: Path) -> None:
    cluster = postgres.prepare(home / "var")
    cluster.place_file.unlink()
    (cluster.home / "data.new").mkdir()
    assert postgres.prepare(home / "var").home == cluster.home


def test_what_was_acknowledged_survives_a_kill(cluster: Cluster) -> None:
    acknowledged = 0
    with postgres.in_use(cluster):
        with cluster.connect(postgres.OWNER) as owner:
            owner.execute("CREATE TABLE t (n integer)")
        enough = threading.Event()

        def write() -> None:
            nonlocal acknowledged
            try:
                with cluster.connect(postgres.OWNER) as connection:
                    while True:
                        connection.execute("INSERT INTO t VALUES (%s)", [acknowledged])
                        acknowledged += 1
                        if acknowledged == 50:
                            enough.set()
            except psycopg.OperationalError:
                return

        writer = threading.Thread(target=write)
        writer.start()
        assert enough.wait(30)
        server(cluster).send_signal(signal.SIGKILL)
        writer.join()
        assert postgres.revive(cluster)
        with cluster.connect(postgres.OWNER) as owner:
            row = owner.execute("SELECT count(*) FROM t").fetchone()
    assert row is not None
    assert row[0] >= acknowledged >= 50


def test_a_server_that_cannot_start_says_why(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(clusters.OPTIONS, "shared_buffers", "a lot")
    with pytest.raises(postgres.PostgresError, match="shared_buffers"), postgres.in_use(cluster):
        pass


def test_no_statement_reaches_the_log(cluster: Cluster) -> None:
    with postgres.in_use(cluster), cluster.connect(postgres.OWNER) as owner:
        with pytest.raises(psycopg.errors.UndefinedTable):
            owner.execute("SELECT 123454321 FROM nothing")
        with pytest.raises(psycopg.errors.DivisionByZero):
            owner.execute("SELECT %s / 0", [987656789])
    said = cluster.log.read_text()
    assert "division by zero" in said
    assert "123454321" not in said
    assert "987656789" not in said
