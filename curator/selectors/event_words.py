"""What the kinds of events are called on pages; the record itself and its exports keep the kinds."""

from collections.abc import Mapping
from typing import Any

from curator.selectors.traces import MISSED, OUTCOMES, REGIMES

TITLES = {
    "access.denied": "Access denied",
    "allotment.set": "Allotment set",
    "budget.approved": "Budget request approved",
    "budget.rejected": "Budget request rejected",
    "budget.requested": "Budget requested",
    "contract.drafted": "Contract drafted",
    "contract.end_date": "Last day changed",
    "contract.opened": "Contract opened",
    "contract.raise_proposed": "Raise proposed",
    "contract.raise_rejected": "Raise turned down",
    "contract.raised": "Total raised",
    "contract.reconciled": "Reconciled with receipts",
    "contract.state": "State changed",
    "contract.version": "Data version changed",
    "dataset.created": "Dataset made",
    "diagnostic.released": "Difficulty measured",
    "domain.suggested": "Domains suggested from records",
    "email.changed": "Mail address changed",
    "invitation.made": "Invitation made",
    "invitation.revoked": "Invitation taken back",
    "member.added": "Member added",
    "member.removed": "Member removed",
    "misfits.shown": "Texts that do not fit listed",
    "overlap.declared": "Overlap of data declared",
    "password.changed": "Password changed",
    "password.drawn": "Password drawn",
    "password.reset": "Password reset",
    "query.cancelled": "Question taken back",
    "query.decided": "Question decided",
    "query.failed": "Question failed",
    "query.submitted": "Question asked",
    "record.verified": "Record verified",
    "request.refused": "Request refused",
    "role.changed": "Roles changed",
    "sign_in": "Signed in",
    "sign_in.failed": "Sign-in failed",
    "token.issued": "Key made",
    "token.revoked": "Key revoked",
    "upload.declared": "Columns declared for good",
    "upload.discarded": "File discarded",
    "upload.received": "File received",
    "user.created": "Account made",
    "user.deactivated": "Account switched off",
    "user.reactivated": "Account switched on",
    "version.frozen": "Version frozen",
}


def title(kind: str) -> str:
    """The title of a kind of event; a kind that has none yet is its own title."""
    return TITLES.get(kind, kind)


def why(kind: str, data: Mapping[str, Any]) -> str:
    """Which rule of the mechanism made an event, in words; empty where no rule did. Codes without words stay as they are."""
    if kind == "query.decided":
        codes = {"regime": REGIMES, "kind": OUTCOMES, "reason": MISSED}
        return "; ".join(
            words.get(str(data[name]), str(data[name])).rstrip(".") for name, words in codes.items() if data.get(name)
        )
    if kind == "diagnostic.released":
        groups = len(data["bins"])
        return f"{groups} group{'s' if groups > 1 else ''} counted roughly, to weigh how hard they are to know"
    return ""
