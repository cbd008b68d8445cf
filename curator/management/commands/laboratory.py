"""Replays a workload file through every allocator and prints what each spends and meets. Reads no data, spends nothing."""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import TextIO

from django.core.management.base import BaseCommand, CommandError

from curator.laboratory import document, lines, tables
from curator.laboratory.scenario import Scenario
from curator.mechanism import rho
from curator.mechanism.comparators.events import Event
from curator.mechanism.comparators.replay import replay
from curator.mechanism.errors import Refused


class Command(BaseCommand):
    """`manage.py laboratory FILE --rho-total R`; exit 1 and the line number where the file does not parse."""

    help = (
        "Replay a workload (JSON lines, see curator/laboratory/lines.py) through every allocator. Needs no data, spends nothing."
    )
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="JSON lines; - reads standard input")
        parser.add_argument(
            "--rho-total", required=True, type=_checked(rho.parse, "--rho-total"), help="the contract's total, such as 1.5"
        )
        parser.add_argument("--xi", default=Decimal("0.05"), type=_share, help="share for diagnostics, 0 to 1 (default 0.05)")
        parser.add_argument("--kappa", default=Decimal("0.02"), type=_price, help="price of scarcity, 0 or more (default 0.02)")
        parser.add_argument("--k", default=1, type=_records, help="most records one person may have (default 1)")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")

    def handle(self, *args: object, **options: object) -> None:
        events = _read(str(options["file"]))
        scenario = Scenario(rho_total=options["rho_total"], xi=options["xi"], kappa=options["kappa"], k=options["k"])  # type: ignore[arg-type]  # argparse checked them
        report = replay(scenario.apply(events))
        text = json.dumps(document.document(report), indent=2, ensure_ascii=False) if options["json"] else tables.render(report)
        self.stdout.write(text)


def _read(file: str) -> list[Event]:
    try:
        with _opened(file) as stream:
            return lines.read(stream)
    except OSError as wrong:
        raise CommandError(f"{file}: {wrong.strerror}") from None
    except UnicodeDecodeError as wrong:
        raise CommandError(f"{file}: not UTF-8 text (byte {wrong.start})") from None
    except Refused as refused:
        raise CommandError(f"{file}: {refused.detail}") from None


def _opened(file: str) -> AbstractContextManager[TextIO]:
    return nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8")


def _checked(parse: Callable[..., int], field: str) -> Callable[[str], int]:
    def checked(text: str) -> int:
        try:
            return parse(text, field=field)
        except Refused as refused:
            raise argparse.ArgumentTypeError(refused.detail) from None

    return checked


def _decimal(text: str) -> Decimal:
    try:
        return rho.number(text, field="value")
    except Refused:
        raise argparse.ArgumentTypeError(f"expected a decimal number, not {text!r}") from None


def _share(text: str) -> Decimal:
    share = _decimal(text)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError("expected a share of at least 0 and below 1")
    return share


def _price(text: str) -> Decimal:
    price = _decimal(text)
    if price < 0:
        raise argparse.ArgumentTypeError("expected 0 or more")
    return price


def _records(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected a whole number of at least 1")
    return int(text)
