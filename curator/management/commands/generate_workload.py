"""Prints a made-up workload for the laboratory, repeatable from its seed."""

import argparse
import json

from django.core.management.base import BaseCommand, CommandError

from curator.laboratory.generate import Spec, workload
from curator.mechanism.errors import Refused

DEFAULTS = Spec()


class Command(BaseCommand):
    """`manage.py generate_workload --questions 1000 > workload.jsonl`."""

    help = "Print a made-up workload as JSON lines, ready for `manage.py laboratory`. Equal options give equal lines."
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--questions", type=int, default=DEFAULTS.questions)
        parser.add_argument(
            "--overlap", type=float, default=DEFAULTS.overlap, help="share that repeats an earlier question exactly"
        )
        parser.add_argument("--zipf", type=float, default=DEFAULTS.zipf, help="exponent of popularity; 0: all alike")
        parser.add_argument("--analysts", type=int, default=DEFAULTS.analysts)
        parser.add_argument(
            "--within", type=int, nargs="+", default=list(DEFAULTS.within), help="bounds that targets are drawn from"
        )
        parser.add_argument("--confidence", default=DEFAULTS.confidence)
        parser.add_argument("--difficult", action="store_true", help="give each question a weight of difficulty")
        parser.add_argument("--allotment", help="each analyst's, in rho; none without")
        parser.add_argument("--seed", type=int, default=DEFAULTS.seed)

    def handle(self, *args: object, **options: object) -> None:
        names = Spec.__dataclass_fields__.keys()
        try:
            spec = Spec(**{name: options[name] for name in names})  # type: ignore[arg-type]  # argparse typed them
        except Refused as refused:
            raise CommandError(refused.detail) from None
        for line in workload(spec):
            self.stdout.write(json.dumps(line))
