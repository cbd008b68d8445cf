"""`manage.py reconcile CONTRACT`: bring a restored record up to its newest receipt, so that its contract may release again."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from curator.mechanism import rho
from curator.mechanism.errors import Refused
from curator.models import Contract
from curator.services.reconciling import Lost, reconcile


class Command(BaseCommand):
    """Charges what is missing as lost; on the machine where the receipts are."""

    help = (
        "Charge a contract for what its newest receipt knows and a restored record does not; then it may release again, unless "
        "it was closed or frozen by then."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("contract", metavar="CONTRACT", help="its uid, as in the address of its pages")
        parser.add_argument("--curator", required=True, help="who reconciles it: a curator of the contract")
        parser.add_argument("--reason", required=True, help="what happened, for the record")
        parser.add_argument(
            "--without-receipts", action="store_true",
            help="the receipts are lost, and the curator states that this record is the newest there is",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile and say what it cost."""
        try:
            lost = reconcile(
                curator=User.objects.get(username=options["curator"]),
                contract=Contract.objects.get(uid=options["contract"]),
                reason=options["reason"],
                without_receipts=options["without_receipts"],
            )
        except (User.DoesNotExist, Contract.DoesNotExist, ValidationError) as error:
            raise CommandError("There is no such contract, or no such curator.") from error
        except Refused as refusal:
            raise CommandError(f"{refusal.detail} ({refusal.code})") from refusal
        self.stdout.write("\n".join(_told(lost)))


def _told(lost: Lost) -> Iterator[str]:
    """What the newest receipt says, what became of it, and what nobody but the curator can know."""
    known = lost.receipt
    if known:
        state = f", the contract was {known.state}" if known.state else ""
        yield f"The newest receipt is of event {known.seq} ({known.at}): {rho.text(known.spent)} rho were spent{state}."
    yield f"Charged as lost: {rho.text(lost.ans)} rho to answers, {rho.text(lost.est)} rho to diagnostics."
    if lost.state:
        yield f"The contract is {lost.state} again."
    if known:
        yield "No receipt tells of changes to members, allotments, the version or the total: look whether they are as they were."
