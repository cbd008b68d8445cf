"""How often somebody may do something: one row and one statement per try, shared by all processes and machines.

The generic cell rate algorithm: a row says when the allowance will be full again; each try moves that moment on by one step and
is refused when that would take it beyond one period from now. The database's clock counts, so that machines agree.
"""

import re
from dataclasses import dataclass
from math import ceil

from django.db import connection
from django.db.models.functions import Now

from accounts.models import Throttle
from curator.mechanism.errors import TooMany

PERIODS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
LONGEST_KEY = 120

_TRY = """
INSERT INTO accounts_throttle AS row (key, full_at) VALUES (%(key)s, clock_timestamp() + %(step)s * interval '1 second')
ON CONFLICT (key) DO UPDATE SET full_at = GREATEST(row.full_at, clock_timestamp()) + %(step)s * interval '1 second'
WHERE GREATEST(row.full_at, clock_timestamp()) <= clock_timestamp() + %(slack)s * interval '1 second'
RETURNING full_at
"""
_WAIT = "SELECT extract(epoch FROM full_at - clock_timestamp()) - %(slack)s FROM accounts_throttle WHERE key = %(key)s"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `number` at once, and `number` per `seconds` in the long run."""

    number: int
    seconds: int

    @property
    def step(self) -> float:
        """What one try costs of the period, in seconds."""
        return self.seconds / self.number


def rate(text: str) -> Rate:
    """Read "600/minute" (second, minute, hour, day); ValueError for anything else."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", text)
    if found is None:
        raise ValueError(f"expected a rate such as 600/minute, found {text!r}")
    return Rate(int(found[1]), PERIODS[found[2]])


def check(what: str, who: object, allowed: str) -> None:
    """Count one try of `who` at `what`, or refuse it: TooMany too_many_requests; `wait` is the whole seconds until then."""
    limit = rate(allowed)
    slack = limit.seconds - limit.step  # how far ahead the moment may be for one more try
    operands: dict[str, str | float] = {"key": f"{what}:{who}"[:LONGEST_KEY], "step": limit.step, "slack": slack}
    with connection.cursor() as cursor:
        cursor.execute(_TRY, operands)
        if cursor.fetchone():
            return
        cursor.execute(_WAIT, operands)
        row = cursor.fetchone()
    wait = max(1, ceil(row[0])) if row else 1
    raise TooMany("too_many_requests", f"Too many requests: try again in {wait} seconds.", wait=wait)


def forget_full() -> None:
    """Remove the rows that say nothing any more; the periodic sweep does it."""
    Throttle.objects.filter(full_at__lt=Now()).delete()
