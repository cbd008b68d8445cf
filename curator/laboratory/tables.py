"""A replay's report as plain text: one table of allocators, one line of figures for each analyst, and the ratios in words."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from curator.mechanism.comparators.replay import Account, Report
from curator.mechanism.comparators.series import Tally
from curator.mechanism.comparators.table import BUDGET_PARTITION, OFFLINE_OPTIMUM, RESIDUAL
from curator.mechanism.rho import UNITS_PER_RHO, Units

HEAD = ("allocator", "spent", "met", "partial", "declined", "saved", "of optimum")


def render(report: Report) -> str:
    """The whole report, amounts in rho with six decimals (rounded; the JSON form is exact)."""
    rows = [_row(account) for account in report.accounts.values()] + [_optimum(report)]
    parts = [_table([HEAD, *rows]), "", _table([_analyst_head(), *_analysts(report)]), "", *_notes(report)]
    return "\n".join(parts)


def amount(units: Units) -> str:
    """Rho with six decimals."""
    return f"{Decimal(units) / UNITS_PER_RHO:z.6f}"


def _row(account: Account) -> Sequence[str]:
    saved = "" if account.saved is None else amount(account.saved)
    return (account.name, *_figures(account.total), saved, _ratio(account.ratio_to_optimum))


def _figures(tally: Tally) -> Sequence[str]:
    return (amount(tally.spent), str(tally.met), str(tally.partial), str(tally.declined))


def _ratio(ratio: Fraction | None) -> str:
    return "-" if ratio is None else f"{float(ratio):.4f}"


def _optimum(report: Report) -> Sequence[str]:
    found = report.optimum
    if found.met is None or found.spent is None:
        return (OFFLINE_OPTIMUM, "-", "-", "-", "-", "-", "-")
    return (OFFLINE_OPTIMUM, amount(found.spent), str(found.met), "0", str(found.asked - found.met), "", "")


def _analyst_head() -> Sequence[str]:
    return ("analyst", "residual", "met", "partial", "declined", "partition", "met", "partial", "declined", "saved")


def _analysts(report: Report) -> Iterable[Sequence[str]]:
    ours, theirs = report.accounts[RESIDUAL], report.accounts[BUDGET_PARTITION]
    for analyst in sorted(ours.by_analyst):
        saved = amount(ours.saved_by_analyst[analyst])
        yield (analyst, *_figures(ours.by_analyst[analyst]), *_figures(theirs.by_analyst[analyst]), saved)


def _notes(report: Report) -> Iterable[str]:
    ours, theirs = report.accounts[RESIDUAL], report.accounts[BUDGET_PARTITION]
    if theirs.total.spent:
        share = (theirs.total.spent - ours.total.spent) / theirs.total.spent
        yield f"residual {amount(ours.total.spent)} partition {amount(theirs.total.spent)} saved {share:z.1%}"
    yield f"diagnostic account {amount(report.rho_est)}, overhead over the optimum {_ratio(report.overhead)}"
    yield f"break-even: reuse pays for the diagnostic account from a share of {_ratio(report.break_even_share)} on"
    if report.optimum.reason:
        yield f"optimum: not computed; {report.optimum.reason}"


def _table(rows: Iterable[Sequence[str]]) -> str:
    """Columns aligned: names to the left, figures to the right."""
    kept = list(rows)
    widths = [max(len(row[column]) for row in kept) for column in range(len(kept[0]))]
    return "\n".join(_line(row, widths) for row in kept)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join(cells).rstrip()
