"""`manage.py load_dataset`: freeze a file as a version of a dataset, without the web."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from curator.mechanism.errors import Refused
from curator.models import DatasetVersion
from curator.services import datasets, ingestion


class Command(BaseCommand):
    """Prints the version's id and what became of cells that did not fit; exit code 1 with the reason otherwise."""

    help = "Freeze a CSV, TSV or Parquet file as the next version of a dataset."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--schema", type=Path, required=True, metavar="FILE", help="the public schema, as JSON")
        parser.add_argument("--name", required=True, help="of the dataset; made if this curator has none of that name")
        parser.add_argument("--curator", required=True, metavar="USER", help="who looks after it")
        parser.add_argument("--table", default="people", help="what questions call it (default: people)")
        unit = parser.add_mutually_exclusive_group(required=True)
        unit.add_argument("--one-record-per-person", action="store_true", help="each record is one person")
        unit.add_argument("--person-column", metavar="COLUMN", help="the column that says whose record it is (with --k)")
        parser.add_argument("--k", metavar="N", help="the most records one person may have; more are left out")

    def handle(self, *args: object, **options: Any) -> None:
        curator = User.objects.filter(username=options["curator"]).first()
        if curator is None:
            raise CommandError(f"There is no user called {options['curator']!r}.")
        try:
            version = self._load(curator, options)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise CommandError(f"{options['schema']}: expected UTF-8 text.") from None
        except Refused as refusal:
            place = f"{refusal.field}: " if refusal.field else ""
            raise CommandError(f"{refusal.code}: {place}{refusal.detail}") from None
        self._tell(version)

    def _load(self, curator: User, options: dict[str, Any]) -> DatasetVersion:
        column = options["person_column"]
        unit = datasets.privacy_unit("person" if column else "record", person_column=column or "", k=options["k"])
        schema_text = options["schema"].read_text(encoding="utf-8-sig")
        return ingestion.load(
            options["file"], curator=curator, name=options["name"], schema_text=schema_text, unit=unit, table=options["table"]
        )

    def _tell(self, version: DatasetVersion) -> None:
        self.stdout.write(f"Frozen: version {version.number} of {version.dataset.name}, {version.uid}")
        report = datasets.parse_report(version.upload) or {}
        for figure in ("rows", "without_person", "repeats", "beyond_k", "foreign_bytes"):
            if report.get(figure):
                self.stdout.write(f"  {figure.replace('_', ' ')}: {report[figure]:,}")
        cells = report.get("cells")
        for column, verdicts in (cells if isinstance(cells, dict) else {}).items():
            self.stdout.write(f"  {column}: " + ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items()))
        if version.upload.detail:
            self.stdout.write(self.style.WARNING(version.upload.detail))
