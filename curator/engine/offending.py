"""Which texts of a column do not fit what is declared of it: a few of them, for its curator's eyes, once they acknowledged it.

They are values of records. They go into a file beside the upload, which is deleted with it, and nowhere else.
"""

from collections import Counter
from dataclasses import dataclass, field

from curator.mechanism.values import harmless

SHOWN = 20  # texts of a column that are told
HELD = 200  # different texts of a column that are counted apart; cells with yet others are only added up
BAD = ("unreadable", "outside")  # verdicts (see `coding.verdict`) of cells that do not fit


@dataclass(slots=True)
class Offenders:
    """Texts as they can be shown (cut, control characters written out), with how many cells have each."""

    texts: Counter[str] = field(default_factory=Counter)
    beyond: int = 0

    def take(self, text: str, verdict: str, times: int) -> None:
        """Count a text that `times` cells have, if its verdict is a bad one."""
        if verdict not in BAD:
            return
        shown = harmless(text)
        if shown in self.texts or len(self.texts) < HELD:
            self.texts[shown] += times
        else:
            self.beyond += times

    def to_json(self) -> dict[str, object]:
        """The most frequent texts, `[text, cells]` each, and how many cells have other bad ones."""
        told = sorted(self.texts.items(), key=lambda one: (-one[1], one[0]))[:SHOWN]
        return {"texts": [list(one) for one in told], "others": self.texts.total() + self.beyond - sum(n for _, n in told)}
