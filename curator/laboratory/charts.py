"""A replay as series of points for charts: plain lists, thinned to what a chart can show, amounts in rho as floats.

For eyes only: exact amounts are in the document form. The ratio to the optimum is taken at every question against the least spend
that meets everything asked so far; it stops where the pool can no longer pay that, and where a histogram was asked.
"""

from collections.abc import Sequence

from curator.mechanism.comparators.replay import Replay
from curator.mechanism.comparators.series import Curve, Shortfall
from curator.mechanism.rho import UNITS_PER_RHO, Units

POINTS = 400

Points = dict[str, list[float]]
Charts = dict[str, dict[str, Points]]


def charts(replay: Replay, *, analyst: str | None = None, points: int = POINTS) -> Charts:
    """Chart name → allocator → points: "spend" and "met" by question, "ratio" to the optimum, "shortfall" by weight.

    Questions are numbered from 1. Of one analyst's questions where `analyst` is given; the ratio is of the whole stream then too.
    """
    report = replay.report()
    curves = {name: curve.thinned(points) for name, curve in replay.curves(analyst).items()}
    whole = curves if analyst is None else {name: curve.thinned(points) for name, curve in replay.curves().items()}
    missed = {name: _missed(account.missed, analyst, points) for name, account in report.accounts.items()}
    return {
        "spend": {name: {"x": _numbers(curve), "y": [_rho(spent) for spent in curve.spent]} for name, curve in curves.items()},
        "met": {name: {"x": _numbers(curve), "y": [float(met) for met in curve.met]} for name, curve in curves.items()},
        "ratio": {name: _ratio(curve, replay.least_spends, replay.pool) for name, curve in whole.items()},
        "shortfall": missed,
    }


def _numbers(curve: Curve) -> list[float]:
    return [position + 1.0 for position in curve.positions]


def _rho(units: Units) -> float:
    return units / UNITS_PER_RHO


def _ratio(curve: Curve, least: Sequence[Units], pool: Units) -> Points:
    """Spend over the least that meets everything so far, while that is known, above zero and within the pool."""
    known = [(at, spent) for at, spent in zip(curve.positions, curve.spent, strict=True) if at < len(least)]
    payable = [(at, spent / least[at]) for at, spent in known if 0 < least[at] <= pool]
    return {"x": [at + 1.0 for at, _ in payable], "y": [ratio for _, ratio in payable]}


def _missed(missed: Sequence[Shortfall], analyst: str | None, points: int) -> Points:
    """Weight and missing support of evenly chosen missed bins, the most difficult last."""
    chosen = sorted((each for each in missed if analyst in (None, each.analyst)), key=lambda each: each.weight)
    step = -(-len(chosen) // points) or 1
    return {"x": [float(each.weight) for each in chosen[::step]], "y": [_rho(each.missing) for each in chosen[::step]]}
