"""Charts as JSON for the static script that draws them; names are those of the stylesheet's colours."""

from collections.abc import Mapping, Sequence
from typing import Any

from curator.mechanism.rho import UNITS_PER_RHO, Units
from curator.selectors.answers import SHOWN_BINS, QueryPage
from curator.selectors.comparison import RULES, Comparison
from curator.selectors.control import Person
from curator.selectors.control_room import Burned
from curator.selectors.formatting import amount

DRAWN = ("budget_partition", "state_agnostic", "accuracy_aware", "reuse_only", "residual")


def histogram_chart(query: QueryPage) -> dict[str, Any] | None:
    """Bars with whiskers; the second grouped column, where there is one, is told in the bar's label."""
    known = [bin_ for bin_ in query.bins[:SHOWN_BINS] if bin_.value is not None]
    if not known:
        return None
    series = {
        "name": "residual",
        "title": "Count",
        "x": [" · ".join(bin_.label) for bin_ in known],
        "y": [bin_.value for bin_ in known],
        "error": [bin_.bound or 0 for bin_ in known],
    }
    return {"bars": [series], "y_title": "people", "y_format": ",d"}


def spend_chart(found: Comparison) -> dict[str, Any]:
    """Cumulative spend of each rule, in rho."""
    return {"lines": [_line(found, name, spent=True) for name in DRAWN], "x_title": _questions(found), "y_title": "ρ spent"}


def met_chart(found: Comparison) -> dict[str, Any]:
    """Questions that reached their accuracy, by rule."""
    return {
        "lines": [_line(found, name, spent=False) for name in DRAWN],
        "x_title": _questions(found),
        "y_title": "thresholds met",
        "y_format": ",d",
    }


def _questions(found: Comparison) -> str:
    """What is counted along the axis: one person's questions stand at their places among everybody's."""
    return "question, among those of everybody" if found.analyst else "question"


def _line(found: Comparison, name: str, *, spent: bool) -> dict[str, Any]:
    curve = found.curves[name]
    numbers = [_rho(units) for units in curve.spent] if spent else list(curve.met)
    places = [place + 1 for place in curve.positions]
    told = {"told": [told_amount(units) for units in (0, *curve.spent)]} if spent else {}
    return {"name": name, "title": RULES[name][0], "x": [0, *places], "y": [0, *numbers], **told}


def experiment_charts(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The four charts of an experiment, from the points that its result keeps."""
    return {
        "spend": {"lines": _told(_lines(found["spend"])), "x_title": "question", "y_title": "ρ spent"},
        "met": {"lines": _lines(found["met"]), "x_title": "question", "y_title": "thresholds met", "y_format": ",d"},
        "ratio": {"lines": _lines(found["ratio"]), "x_title": "question", "y_title": "spend / least possible"},
        "shortfall": {"points": _told(_lines(found["shortfall"])), "x_title": "weight of difficulty", "y_title": "ρ missing"},
    }


def _lines(points: Mapping[str, Mapping[str, list[float]]]) -> list[dict[str, Any]]:
    return [{"name": name, "title": RULES[name][0], **points[name]} for name in DRAWN if points.get(name, {}).get("x")]


def _told(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with each amount in words: results keep rho as numbers to draw."""
    return [line | {"told": [told_amount(round(height * UNITS_PER_RHO)) for height in line["y"]]} for line in lines]


def burn_chart(burned: Sequence[Burned], rho_ans: Units) -> dict[str, Any] | None:
    """What is left of the account of answers after each charge, in rho."""
    if not burned:
        return None
    left = {"name": "residual", "title": "Left", "x": [0, *(point.charges for point in burned)]}
    amounts = [_rho(rho_ans), *(_rho(point.left) for point in burned)]
    told = [told_amount(units) for units in (rho_ans, *(point.left for point in burned))]
    return {"lines": [left | {"y": amounts, "told": told}], "x_title": "charge", "y_title": "ρ left"}


def analysts_chart(people: Sequence[Person]) -> dict[str, Any] | None:
    """What each analyst has spent, in rho."""
    if not any(person.spent for person in people):
        return None
    names, spent = [person.username for person in people], [_rho(person.spent) for person in people]
    told = [told_amount(person.spent) for person in people]
    return {"bars": [{"name": "residual", "title": "Spent", "x": names, "y": spent, "told": told}], "y_title": "ρ spent"}


def told_amount(units: Units) -> str:
    """An amount as it is told where somebody points at it: like all others on the page."""
    return f"{amount(units)} ρ"


def _rho(units: Units) -> float:
    return float(f"{units / UNITS_PER_RHO:.6g}")
