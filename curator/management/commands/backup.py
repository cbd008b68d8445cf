"""`manage.py backup FOLDER`: database and frozen versions together, into a new private folder; the site may be running."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from rdp_site.backup import CannotBackUp, back_up


class Command(BaseCommand):
    """Writes a folder that `manage.py restore` reads."""

    help = "Back up the database and the frozen dataset versions into a new folder (it will hold the records: keep it private)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to."""
        parser.add_argument("folder", type=Path, help="a folder that does not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it, or say why not."""
        try:
            manifest = back_up(options["folder"].absolute())
        except (CannotBackUp, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Backed up {len(manifest['heads'])} chains into {options['folder']}.")
