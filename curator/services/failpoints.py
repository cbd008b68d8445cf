"""Places where a test may stop the process or cut its database off, to see that nothing is half done.

Nothing happens unless the settings say that tests run *and* the environment names the place: a stray variable on a real
machine is harmless. "after_draw" kills by SIGKILL; "after_draw:pause" stops until SIGCONT; "after_draw:sever" has the database
end its own session.
"""

import os
import signal

from django.conf import settings
from django.db import connection

VARIABLE = "RDP_FAILPOINT"


def reach(name: str) -> None:
    """Do here what a test asked for; otherwise nothing."""
    place, _, how = os.environ.get(VARIABLE, "").partition(":")
    if place == name and getattr(settings, "TESTING", False):
        happen(how)


def happen(how: str) -> None:
    """Die, pause, or lose the database."""
    if how == "sever":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    else:
        os.kill(os.getpid(), signal.SIGSTOP if how == "pause" else signal.SIGKILL)
