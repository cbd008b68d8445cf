"""`manage.py restore FOLDER`: a backup into an empty installation, then the rights and newer migrations; verify afterwards."""

from pathlib import Path
from typing import Any

from django.contrib.sessions.models import Session
from django.core.management.base import BaseCommand, CommandError, CommandParser

from rdp_site.backup import CannotBackUp, restore
from rdp_site.grants import UnlistedTable
from rdp_site.installation import CannotInstall


class Command(BaseCommand):
    """Refuses to overwrite anything."""

    requires_system_checks: list[str] | tuple[str, ...] = ()  # there is nothing to check before it
    help = "Restore a backup into an installation without tables (with an embedded database: into a fresh RDP_VAR)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where from."""
        parser.add_argument("folder", type=Path, help="what manage.py backup has written")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore it, or say why not."""
        try:
            manifest = restore(options["folder"].absolute())
        except (CannotBackUp, CannotInstall, OSError, UnlistedTable) as error:
            raise CommandError(str(error)) from error
        Session.objects.all().delete()  # who has signed out since then is not signed in again
        self.stdout.write(
            f"Restored what was backed up at {manifest['made_at']}. Now run manage.py verify. Accounts, roles, passwords and "
            "keys are as they were then: before you open the site, switch off again who was switched off, and revoke what was "
            "revoked."
        )
