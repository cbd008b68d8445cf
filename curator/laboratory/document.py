"""A replay's report as one JSON object: what `manage.py laboratory --json` prints and the laboratory page offers for download.

Rho is written as exact decimal text, counts as numbers, ratios and shares as numbers or null. `saved_against_partition` and
`ratio_to_optimum` are of `residual`. The optimum has no analysts: nobody in particular pays for what foresight buys.
"""

from collections.abc import Mapping
from fractions import Fraction

from curator.mechanism import rho
from curator.mechanism.comparators.offline import Optimum
from curator.mechanism.comparators.replay import Account, Report
from curator.mechanism.comparators.series import Tally
from curator.mechanism.comparators.table import OFFLINE_OPTIMUM, RESIDUAL

Json = dict[str, object]


def document(report: Report) -> Json:
    """The report of a replay of all allocators."""
    ours = report.accounts[RESIDUAL]
    allocators = {name: _account(account) for name, account in report.accounts.items()}
    return {
        "allocators": allocators | {OFFLINE_OPTIMUM: _optimum(report.optimum)},
        "saved_against_partition": None if ours.saved is None else rho.text(ours.saved),
        "ratio_to_optimum": _number(ours.ratio_to_optimum),
        "rho_est": rho.text(report.rho_est),
        "break_even_share": _number(report.break_even_share),
    }


def _account(account: Account) -> Json:
    return _tally(account.total) | {"by_analyst": _by_analyst(account.by_analyst)}


def _by_analyst(tallies: Mapping[str, Tally]) -> Json:
    return {analyst: _tally(tallies[analyst]) for analyst in sorted(tallies)}


def _tally(tally: Tally) -> Json:
    return {"spent": rho.text(tally.spent), "met": tally.met, "partial": tally.partial, "declined": tally.declined}


def _optimum(optimum: Optimum) -> Json:
    if optimum.met is None or optimum.spent is None:
        return dict.fromkeys(("spent", "met", "partial", "declined")) | {"by_analyst": {}, "reason": optimum.reason}
    total = Tally(spent=optimum.spent, met=optimum.met, declined=optimum.asked - optimum.met)
    return _tally(total) | {"by_analyst": {}}


def _number(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)
