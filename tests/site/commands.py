"""manage.py in a process of its own, as a person would run it."""

import os
import subprocess
import sys
from pathlib import Path

from rdp_site.environment import ROOT

OURS = (
    "DJANGO_ALLOW_ASYNC_UNSAFE",
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "CELERY_BROKER_URL",
    "RDP_TESTING",
    "SECRET_KEY",
    "DJANGO_SETTINGS_MODULE",
)


def environment(var: Path, **variables: str) -> dict[str, str]:
    """This environment without any of the product's own switches, its files below `var` and receipts beside it."""
    places = {"RDP_VAR": str(var), "RDP_RECEIPTS": str(var.parent / "receipts")}
    return {name: value for name, value in os.environ.items() if name not in OURS} | places | variables


def manage(*words: str, env: dict[str, str], check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run one command; with `check`, one that fails is an error that shows what it said."""
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def python(code: str, *, env: dict[str, str]) -> str:
    """Run a few lines in a fresh interpreter and return what they print."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
