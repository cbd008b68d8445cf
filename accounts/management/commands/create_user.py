"""`manage.py create_user NAME --role analyst`: make a person, or switch a deactivated one on again."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Role
from accounts.services import create_user
from curator.mechanism.errors import Refused


class Command(BaseCommand):
    """Prints the password it drew, once; with --password-stdin it takes one from standard input and prints none."""

    help = "Make a person with roles, or switch a deactivated person of that name on again (their spending stays theirs)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("username")
        parser.add_argument("--role", action="append", required=True, choices=Role.values, help="may be given several times")
        parser.add_argument("--email", default="")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the person, or say why not."""
        password = sys.stdin.readline().rstrip("\n") if options["password_stdin"] else None
        try:
            made = create_user(username=options["username"], roles=options["role"], password=password, email=options["email"])
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal
        done = "switched on again" if made.reactivated else "created"
        self.stdout.write(f"{made.user.username}: {done}, {', '.join(made.user.roles)}")
        if made.password is not None:
            self.stdout.write(f"password: {made.password}")
