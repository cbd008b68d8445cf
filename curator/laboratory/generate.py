"""Makes up workloads: how much they overlap, how popular the popular questions are, who asks, and how closely.

Python's seeded `random` is right here and only here: these are invented questions for rehearsals, so they must be repeatable
from a seed, and nothing private comes near them. Noise on answers never comes from this module.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from curator.mechanism.errors import BadInput

MAX_QUESTIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class Spec:
    """A workload to make up.

    `overlap`: share of the questions after the first that repeat an earlier descriptor exactly (floor(overlap * (questions -
    1)) of them, as in the witness of Appendix E.3). `zipf`: a repeat takes the r-th descriptor that was ever asked with a
    chance in proportion to r^-zipf (0: all alike). `within`: the bounds E that targets are drawn from, at `confidence`.
    `difficult`: give each descriptor a weight, log-uniform from 0.1 to 10. `allotment`: each analyst's, as text; None leaves
    the stream without caps.
    """

    questions: int = 1_000
    overlap: float = 0.5
    zipf: float = 1.0
    analysts: int = 4
    within: Sequence[int] = (25, 50, 100, 200)
    confidence: str = "0.95"
    difficult: bool = False
    allotment: str | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        _expect(1 <= self.questions <= MAX_QUESTIONS, "questions", f"from 1 to {MAX_QUESTIONS}")
        _expect(0 <= self.overlap <= 1, "overlap", "a share from 0 to 1")
        _expect(0 <= self.zipf <= 10, "zipf", "an exponent from 0 to 10")
        _expect(1 <= self.analysts <= 10_000, "analysts", "from 1 to 10000")
        _expect(len(self.within) > 0 and min(self.within) >= 1, "within", "one or more whole numbers of at least 1")


def workload(spec: Spec) -> Iterator[dict[str, object]]:
    """The lines of the workload as objects in the laboratory's format; equal specs give equal lines."""
    rng = random.Random(spec.seed)
    names = [f"analyst-{i + 1}" for i in range(spec.analysts)]
    if spec.allotment is not None:
        for name in names:
            yield {"allotment": name, "rho": spec.allotment}
    weights: list[str] = []
    popularity = list(accumulate((r + 1.0) ** -spec.zipf for r in range(spec.questions)))
    for repeated in _repeats(spec, rng):
        if repeated:
            which = bisect(popularity, rng.random() * popularity[len(weights) - 1], 0, len(weights) - 1)
        else:
            which = len(weights)
            weights.append(_weight(rng))
        line: dict[str, object] = {"analyst": rng.choice(names), "query": f"q{which + 1}"}
        line |= {"within": rng.choice(spec.within), "confidence": spec.confidence}
        yield line | ({"weight": weights[which]} if spec.difficult else {})


def _repeats(spec: Spec, rng: random.Random) -> list[bool]:
    """Which positions repeat something: the stated number of them, shuffled, never the first."""
    later = spec.questions - 1
    repeats = int(Decimal(str(spec.overlap)) * later)
    flags = [True] * repeats + [False] * (later - repeats)
    rng.shuffle(flags)
    return [False, *flags]


def _weight(rng: random.Random) -> str:
    return f"{10 ** rng.uniform(-1, 1):.6f}"


def _expect(holds: bool, field: str, expected: str) -> None:
    if not holds:
        raise BadInput("bad_number", f"{field}: expected {expected}", field=field)
