"""Settings: read from the environment, hardened by default, and harmless to import."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from rdp_site.environment import ROOT
from tests.fixtures.figures import Figure
from tests.site.commands import environment, manage, python

PRODUCTION = {
    "RDP_HTTPS": "1",
    "ALLOWED_HOSTS": "counts.example.org",
    "CSRF_TRUSTED_ORIGINS": "https://counts.example.org",
    "SECRET_KEY": "a-long-one-made-by-a-machine-not-by-a-person-0123456789-abcdefghijklm",
    "DATABASE_URL": "postgresql://rdp_app:secret@db.example.org/rdp?sslmode=verify-full",
    "DATABASE_OWNER_URL": "postgresql://rdp_owner:secret@db.example.org/rdp?sslmode=verify-full",
    "CELERY_BROKER_URL": "rediss://broker.example.org/0",
}


def settings_of(names: str, var: Path, **variables: str) -> dict[str, object]:
    code = f"import json; from rdp_site import settings as s; print(json.dumps({{n: getattr(s, n) for n in {names.split()!r}}}))"
    return dict(json.loads(python(code, env=environment(var, **variables))))


def test_importing_settings_starts_and_writes_nothing(tmp_path: Path) -> None:
    code = "import psutil, django; django.setup(); print(len(psutil.Process().children()))"
    env = environment(tmp_path / "var", DJANGO_SETTINGS_MODULE="rdp_site.settings")
    assert python(code, env=env).strip() == "0"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("check",), ("help",), ("verify", "--help"), ("setup_database", "--help"), ("--version",)])
def test_commands_that_need_no_database_start_none(words: tuple[str, ...], tmp_path: Path) -> None:
    manage(*words, env=environment(tmp_path / "var"))
    assert list(tmp_path.iterdir()) == []


def test_a_command_before_set_up_says_what_to_do(tmp_path: Path) -> None:
    done = manage("migrate", env=environment(tmp_path / "var"), check=False)
    assert done.returncode == 1
    assert "make setup" in done.stderr
    assert "Traceback" not in done.stderr


def test_defaults_are_the_careful_ones(tmp_path: Path) -> None:
    found = settings_of("DEBUG TESTING ALLOWED_HOSTS AUTH_USER_MODEL CELERY_TASK_ACKS_LATE CELERY_TASK_IGNORE_RESULT", tmp_path)
    assert found == {
        "DEBUG": False,
        "TESTING": False,
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
        "AUTH_USER_MODEL": "accounts.User",
        "CELERY_TASK_ACKS_LATE": True,
        "CELERY_TASK_IGNORE_RESULT": True,
    }


#: Each switch with a value, and the setting in which it is found again.
CASES: list[tuple[str, str, str, object]] = [
    ("DEBUG", "1", "DEBUG", True),
    ("RDP_UPLOAD_MAX_BYTES", "1000", "UPLOAD_MAX_BYTES", 1000),
    ("RDP_ENGINE", "duckdb", "ENGINE", "duckdb"),
    ("RDP_WORKER_PATIENCE", "60", "WORKER_PATIENCE", 60.0),
    ("RDP_ANCHORS", "/srv/anchors.jsonl", "ANCHORS", "/srv/anchors.jsonl"),
    ("RDP_ANCHOR_MAIL", "dora@example.org", "ANCHOR_MAIL", "dora@example.org"),
    ("RDP_ANCHOR_SECONDS", "60", "ANCHOR_SECONDS", 60.0),
    ("RDP_TICK_MS", "100", "TICK_MS", 100),
    ("RDP_TICK_MS", "0", "TICK_MS", 0),
    ("RDP_HTTPS", "1", "SECURE_SSL_REDIRECT", True),
    ("RDP_HTTPS", "1", "SECURE_HSTS_SECONDS", 31_536_000),
    ("RDP_HTTPS", "1", "SESSION_COOKIE_SECURE", True),
    ("RDP_HTTPS", "1", "CSRF_COOKIE_SECURE", True),
    ("RDP_BEHIND_PROXY", "1", "SECURE_PROXY_SSL_HEADER", ["HTTP_X_FORWARDED_PROTO", "https"]),
    ("SECRET_KEY", "given", "SECRET_KEY", "given"),
    ("RDP_CONTENT_HASH_KEY", "given", "CONTENT_HASH_KEY", "given"),
    ("ALLOWED_HOSTS", "a.example,b.example", "ALLOWED_HOSTS", ["a.example", "b.example"]),
    ("CSRF_TRUSTED_ORIGINS", "https://a.example", "CSRF_TRUSTED_ORIGINS", ["https://a.example"]),
    ("EMAIL_URL", "smtp://mail.example:25", "EMAIL_HOST", "mail.example"),
    ("DEFAULT_FROM_EMAIL", "counts@a.example", "DEFAULT_FROM_EMAIL", "counts@a.example"),
    ("CELERY_BROKER_URL", "redis://r.example/0", "CELERY_BROKER_URL", "redis://r.example/0"),
    ("CELERY_BROKER_URL", "redis://r.example/0", "CELERY_BROKER_TRANSPORT_OPTIONS", {}),
    ("RDP_BIND", "0.0.0.0:80", "BIND", "0.0.0.0:80"),
    ("RDP_WORKERS", "7", "WORKERS", 7),
    ("RDP_SWEEP_SECONDS", "0.5", "SWEEP_SECONDS", 0.5),
    ("RDP_TASK_SECONDS", "60", "TASK_SECONDS", 60.0),
    ("RDP_SITE_URL", "https://counts.example/", "SITE_URL", "https://counts.example"),
    ("RDP_MAIL_AFTER", "5", "MAIL_AFTER", 5.0),
    ("RDP_SIGN_IN_RATE", "3/hour", "SIGN_IN_RATE", "3/hour"),
    ("RDP_API_RATE", "3/hour", "API_RATE", "3/hour"),
    ("RDP_API_ANONYMOUS_RATE", "3/hour", "API_ANONYMOUS_RATE", "3/hour"),
    ("RDP_QUOTE_RATE", "3/hour", "QUOTE_RATE", "3/hour"),
    ("RDP_LOG_FORMAT", "json", "LOG_FORMAT", "json"),
    ("RDP_METRICS_TOKEN", "collector", "METRICS_TOKEN", "collector"),
    ("RDP_VAR", "/srv/counts", "VERSIONS_DIR", "/srv/counts/versions"),
    ("RDP_RECEIPTS", "/mnt/receipts", "RECEIPTS_DIR", "/mnt/receipts"),
    ("LOG_LEVEL", "WARNING", "LOGGING['root']['level']", "WARNING"),
]  # fmt: skip
TRIED_BELOW = {"DATABASE_URL", "DATABASE_OWNER_URL"}


@pytest.mark.parametrize(("variable", "value", "setting", "expected"), CASES)
def test_each_switch_does_what_it_says(variable: str, value: str, setting: str, expected: object, tmp_path: Path) -> None:
    code = f"import json; from rdp_site import settings; print(json.dumps(settings.{setting}, default=str))"
    assert json.loads(python(code, env=environment(tmp_path, **{variable: value}))) == expected


@pytest.mark.trust
def test_every_switch_is_documented_and_tried(figure: Figure) -> None:
    """One that is read anywhere and has no case above, or no line in the README, is told."""
    readme = (ROOT / "README.md").read_text()
    assert sorted(name for name in switches() if f"`{name}`" not in readme) == []
    assert switches() == {variable for variable, *_ in CASES} | TRIED_BELOW
    figure(row=24, n=len(switches()), seen="switches that are not documented and tried: 0")


def switches() -> set[str]:
    """Every variable of the environment that the site reads, those of the tests themselves apart."""
    sources = [*(ROOT / "rdp_site").glob("*.py"), *(ROOT / "rdp_site").glob("*/*.py")]
    read = re.compile(r"""(?:env\.\w+\(|environ(?:\.get\(|\[))"([A-Z_]+)\"""")
    found = {name for path in sources for name in read.findall(path.read_text())}
    return (found | TRIED_BELOW) - {"RDP_TESTING", "DJANGO_SETTINGS_MODULE"}


def test_a_url_names_an_external_database_and_its_owner(tmp_path: Path) -> None:
    found = settings_of("DATABASES CELERY_BROKER_TRANSPORT_OPTIONS", tmp_path, **PRODUCTION | {"CELERY_BROKER_URL": ""})
    databases = found["DATABASES"]
    assert isinstance(databases, dict)
    assert {alias: (d["USER"], d["HOST"], d["OPTIONS"]) for alias, d in databases.items()} == {
        "default": ("rdp_app", "db.example.org", {"sslmode": "verify-full"}),
        "owner": ("rdp_owner", "db.example.org", {"sslmode": "verify-full"}),
    }


@pytest.mark.trust
def test_a_hardened_deployment_has_nothing_to_warn_of(tmp_path: Path, figure: Figure) -> None:
    done = manage("check", "--deploy", "--fail-level", "WARNING", env=environment(tmp_path / "var", **PRODUCTION))
    assert "no issues" in done.stdout + done.stderr
    figure(row=24, n=1, seen="0 warnings of check --deploy")


@pytest.mark.trust
def test_a_deployment_that_is_not_hardened_is_warned_of(tmp_path: Path, figure: Figure) -> None:
    soft = {**PRODUCTION, "RDP_HTTPS": "", "DEBUG": "1", "SECRET_KEY": "short"}
    done = manage("check", "--deploy", "--fail-level", "WARNING", env=environment(tmp_path / "var", **soft), check=False)
    warnings = len(set(re.findall(r"security\.W\d+", done.stdout + done.stderr)))
    assert done.returncode == 1 and warnings >= 5
    figure(row=24, n=1, mutant=f"without https, with DEBUG and a short key: {warnings} warnings, caught")


@pytest.mark.trust
def test_every_page_comes_with_its_armour(db: None, client: Client, figure: Figure) -> None:
    pages = ("/no-such-page/", "/sign-in/", "/health/live", "/api/v1/contracts/", "/static/no-such-file")
    for page in pages:
        check_armour(client.get(page).headers)
    figure(row=24, n=len(pages), seen="answers without their security headers: 0")


@pytest.mark.trust
@pytest.mark.parametrize("middleware", [
    "csp.middleware.CSPMiddleware", "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
])  # fmt: skip
def test_armour_that_is_taken_off_is_missed(db: None, settings: Settings, figure: Figure, middleware: str) -> None:
    settings.MIDDLEWARE = [each for each in settings.MIDDLEWARE if each != middleware]
    with pytest.raises((AssertionError, KeyError)):
        check_armour(Client().get("/no-such-page/").headers)
    figure(row=24, n=1, mutant=f"without {middleware.rpartition('.')[2]}: caught")


def check_armour(headers: Mapping[str, str]) -> None:
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert not any(word in headers["Content-Security-Policy"] for word in ("unsafe", "http:", "https:", "*"))
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
