"""`manage.py grants`: the rights of the application role as SQL, for the owner of a database of one's own to read and to run."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connections

from rdp_site import grants


class Command(BaseCommand):
    """Prints what set-up does by itself; connects to nothing."""

    help = "Print the rights of the application role as SQL: what set-up gives, and takes, after every migration."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        default = connections.settings["default"]
        parser.add_argument("--role", default=default["USER"], help="the application role (default: that of DATABASE_URL)")
        parser.add_argument("--database", default=default["NAME"], help="the database (default: that of DATABASE_URL)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one statement per line."""
        role = options["role"]
        for statement in (*grants.database_statements(options["database"], role), *grants.statements(role)):
            self.stdout.write(f"{statement.as_string(None)};")
