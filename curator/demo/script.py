"""The scripted round: who asks what, how accurately. Repeats, tighter repeats and other spellings are there on purpose.

The last two questions meet scarcity with the same rest left to each asker: the rarer group is the harder question, weighs
more, and gets more.
"""

from dataclasses import dataclass, field
from typing import Any

ALICE, BOB = "alice", "bob"
FROM = "SELECT COUNT(*) FROM people"


@dataclass(frozen=True, slots=True)
class Step:
    """One question of the round."""

    analyst: str
    label: str
    request: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the request: running the demonstration again asks nothing twice."""
        return f"demo {self.analyst} {self.label}"


def _sql(analyst: str, label: str, rest: str, within: int, **more: Any) -> Step:
    accuracy = {"within": within, "confidence": "0.95", **more}
    return Step(analyst, label, {"sql": f"{FROM} {rest}", "accuracy": accuracy, "label": label})


def _tree(analyst: str, label: str, where: dict[str, Any], within: int) -> Step:
    return Step(analyst, label, {"where": where, "accuracy": {"within": within, "confidence": "0.95"}, "label": label})


ROUND = (
    _sql(ALICE, "40 or over and eligible", "WHERE age >= 40 AND eligible = TRUE", 25),
    _tree(
        BOB, "eligible, not below 40",
        {"all": [{"column": "eligible", "in": [True]}, {"not": {"column": "age", "less_than": 40}}]}, 25,
    ),
    _sql(ALICE, "married with a retirement account", "WHERE married = TRUE AND has_ira = TRUE", 25),
    _sql(BOB, "the same, a little tighter", "WHERE has_ira IN (TRUE) AND NOT married <> TRUE AND married = TRUE", 20),
    _sql(ALICE, "income by 25,000 dollars", "GROUP BY BIN(income, 8)", 25),
    _sql(BOB, "income below 25,000: a bin of Alice's", "WHERE income < 25000", 25),
    _sql(BOB, "take part in a plan", "WHERE participates = TRUE", 15),
    _sql(ALICE, "take part, double negation", "WHERE NOT NOT participates = TRUE", 15),
    _sql(ALICE, "in their thirties", "WHERE age BETWEEN 30 AND 39", 15),
    _sql(BOB, "in their thirties, tighter", "WHERE age < 40 AND NOT age < 30", 10),
    _sql(BOB, "owe more than they own", "WHERE net_assets < 0", 15),
    _sql(ALICE, "owe more than they own, other words", "WHERE NOT (net_assets >= 0)", 15),
)  # fmt: skip

SCARCE = (
    _sql(ALICE, "married (a large group)", "WHERE married = TRUE", 13),
    _sql(BOB, "60 or over in families of 6 or more (a rare group)", "WHERE age >= 60 AND family_size >= 6", 13),
)

REST = "0.01"  # rho left to each analyst before the scarce ending
