"""`manage.py setup_database`: bring the database to the present; safe to repeat."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from rdp_site.environment import ensure_secrets, private_folder
from rdp_site.grants import UnlistedTable
from rdp_site.installation import CannotInstall, indiscretions, install


class Command(BaseCommand):
    """Migrate as the owner, install the queue as the application role, apply the table of rights."""

    requires_system_checks: list[str] | tuple[str, ...] = ()  # a broken page is no reason to leave a database half-way
    help = "Migrate the database as its owner and give the application role its rights (repeatable)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the installation; a database that is not as needed is an error of one sentence."""
        ensure_secrets()
        private_folder(settings.VERSIONS_DIR)
        private_folder(settings.UPLOADS_DIR)
        try:
            install(verbosity=options["verbosity"])
        except (CannotInstall, UnlistedTable) as error:
            raise CommandError(str(error)) from error
        self._warn(indiscretions())

    def _warn(self, wrong: dict[str, str]) -> None:
        """Say what lets values into the server's log, with the statements by which its administrator ends that."""
        if not wrong:
            return
        role = connections["default"].settings_dict["USER"]
        remedy = "\n".join(f"  ALTER ROLE \"{role}\" SET {name} = '{value}';" for name, value in wrong.items())
        self.stderr.write(
            "Warning: PostgreSQL may write statements, or rows that it refused, into its log; values drawn and never released "
            f"could be among them. As its administrator:\n{remedy}"
        )
