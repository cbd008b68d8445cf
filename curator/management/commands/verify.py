"""`manage.py verify`: recompute the record from its rows; exit 1 at the first contradiction, which is named."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from curator.mechanism import receipts
from curator.mechanism.errors import BadInput
from curator.mechanism.receipts import Receipt
from curator.models import Contract
from curator.services.receipts import path_of, strangers
from curator.services.verification import verify


class Command(BaseCommand):
    """Prints what was looked at and, if there is one, the first difference. Needs no data file and changes nothing."""

    help = (
        "Verify chains, ledger, supports, releases, answers, and every decision from the public record; exit 1 on a difference."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--contract", action="append", metavar="UID", help="only this contract (may be given several times)")
        parser.add_argument(
            "--anchor",
            action="append",
            metavar="FILE",
            help="heads noted elsewhere (may be given several times); receipts that are on this machine always count",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify, print, and fail if something differs."""
        chosen = _chosen(options["contract"])
        kept = _receipts(chosen)  # read before the record: a receipt follows the commit that it tells of
        report = verify(chosen, receipts=_anchors([*(options["anchor"] or []), *kept]))
        looked_at = ", ".join(f"{count} {table}" for table, count in sorted(report.checked.items())) or "nothing"
        if not report.ok:
            raise CommandError(f"The record contradicts itself.\n{report.first_difference}\nLooked at before: {looked_at}.")
        told = f"compared with the receipts of {len(kept)} contracts" if kept else "no receipts are kept on this machine"
        self.stdout.write(f"The record is consistent: {looked_at}; {told}.")
        if unknown := strangers():
            self.stdout.write(
                f"Receipts of {len(unknown)} contracts that this record does not know lie beside ({', '.join(unknown[:5])}): if "
                "they are of this installation, what they spent on the same people was lost with a newer record."
            )


def _chosen(uids: list[str] | None) -> list[Contract] | None:
    if uids is None:
        return None
    try:
        return [Contract.objects.get(uid=uid) for uid in uids]
    except (Contract.DoesNotExist, ValueError) as error:
        raise CommandError("There is no such contract.") from error


def _receipts(chosen: list[Contract] | None) -> list[str]:
    """The files of the worker's receipts for these contracts, where there are any."""
    contracts = Contract.objects.order_by("id") if chosen is None else chosen
    paths = (path_of(contract.uid) for contract in contracts)
    return [str(path) for path in paths if path.exists()]


def _anchors(paths: list[str]) -> list[Receipt]:
    found: list[Receipt] = []
    for path in paths:
        try:
            with Path(path).open("rb") as file:
                found += receipts.read(file)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        except BadInput as error:
            raise CommandError(f"{path}: {error.detail}") from error
    return found
