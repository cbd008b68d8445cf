"""Heads noted elsewhere against the chains: only these tell a record that was cut or rewritten as a whole from an honest one."""

from collections import Counter
from collections.abc import Container, Iterable

from django.db.models import Sum

from curator.mechanism import receipts
from curator.mechanism.receipts import Receipt
from curator.models import AuditEvent, AuditHead, LedgerEntry
from curator.services import audit
from curator.services.verification.difference import Difference

CHUNK = 500


def check(noted: Iterable[Receipt], chains: Container[str] | None, checked: Counter[str]) -> None:
    """Compare receipts of these chains (None: of any) with the rows. Difference at the first that does not agree."""
    wanted = [receipt for receipt in noted if chains is None or receipt.chain in chains]
    by_chain: dict[str, list[Receipt]] = {}
    for receipt in wanted:
        by_chain.setdefault(receipt.chain, []).append(receipt)
    for chain, of_chain in by_chain.items():
        for start in range(0, len(of_chain), CHUNK):
            _check(chain, of_chain[start : start + CHUNK])
    if wanted:
        checked["anchors"] += len(wanted)


def _check(chain: str, noted: Iterable[Receipt]) -> None:
    places = {receipt.seq for receipt in noted}
    last = AuditHead.objects.filter(chain=chain).values_list("seq", flat=True).first() or 0
    heads = dict(AuditEvent.objects.filter(chain=chain, seq__in=places).values_list("seq", "head"))
    for receipt in noted:
        why = receipts.contradiction(receipt, last=last, heads=heads, spent=_spent(chain, receipt.seq))
        if why:
            raise Difference(f"audithead {chain}: {why}")


def _spent(chain: str, seq: int) -> int:
    """All that was charged up to an event, by the ledger."""
    if chain == audit.SITE:
        return 0
    entries = LedgerEntry.objects.filter(contract__uid=chain, event_seq__lte=seq)
    total: int | None = entries.aggregate(total=Sum("load"))["total"]
    return total or 0
