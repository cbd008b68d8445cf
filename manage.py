#!/usr/bin/env python
"""Django's command line; a command that needs the embedded database starts it when it is down and stops it afterwards."""

import os
import signal
import sys
from contextlib import AbstractContextManager, nullcontext

WITHOUT_DATABASE = {
    *("", "check", "collectstatic", "diffsettings", "findstatic", "help", "makemigrations", "spectacular", "version"),
    *("laboratory", "generate_workload"),
}
FROM_NOTHING = {"demo", "restore", "run_services", "setup_database"}


def main(argv: list[str]) -> None:
    """Run one management command; SIGTERM ends it as orderly as Ctrl-C does."""
    from rdp_site.postgres import PostgresError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rdp_site.settings")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        with database_for(argv[1] if len(argv) > 1 else "", wants_help="--help" in argv or "-h" in argv):
            # Imported here: the settings read the passwords which the line above may have made.
            from django.core.management import execute_from_command_line

            execute_from_command_line(argv)
    except PostgresError as error:
        raise SystemExit(str(error)) from error


def database_for(command: str, *, wants_help: bool = False) -> AbstractContextManager[object]:
    """The embedded server for the time of a command; nothing where the command or the installation does not need it."""
    from rdp_site import postgres
    from rdp_site.environment import VAR, is_embedded

    if not is_embedded() or wants_help or command in WITHOUT_DATABASE or command.startswith("-"):
        return nullcontext()
    return postgres.in_use(postgres.prepare(VAR) if command in FROM_NOTHING else postgres.existing(VAR))


if __name__ == "__main__":
    main(sys.argv)
