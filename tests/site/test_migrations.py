"""The way up: migrations that lock no table for long and do not break the version of the product that still runs."""

import pytest
from django.core.management import call_command
from django_migration_linter import MigrationLinter

from rdp_site.environment import ROOT

FIRST = ["0002_membership"]  # indexes on tables that the very first set-up has made a moment before: nobody waits for them
LONGER = ["0008_uploads"]  # a longer varchar is a change of the catalogue only: no row is written anew


def test_the_models_have_all_their_migrations(db: None) -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_no_migration_locks_or_breaks_what_is_running(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    linter = MigrationLinter(
        str(ROOT), include_apps=["accounts", "curator"], ignore_name=[*FIRST, *LONGER], database="owner", no_cache=True
    )
    linter.lint_all_migrations()
    assert not linter.has_errors, capsys.readouterr().out
    assert linter.nb_total >= 8
